package overlay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// desk is the tree of a shelf that tests edit by names, with its log and the changes that it
// reported.
type desk struct {
	*testing.T
	*overlay.Tree
	now  time.Time
	log  bytes.Buffer
	told []nodes.Change
}

func newDesk(t *testing.T, limits overlay.Limits) *desk {
	t.Helper()
	d := &desk{T: t, now: shelfTime.Add(time.Hour)}
	s := &shelf{now: func() time.Time { return d.now }, texts: map[nodes.ID]string{one: "1", two: "2"}, times: map[nodes.ID]time.Time{}}
	d.Tree = overlay.New(s, overlay.Options{
		FirstID: firstID, Empty: true, EditOptions: overlay.EditOptions{Now: s.now, Limits: limits, Logger: slog.New(slog.NewTextHandler(&d.log, nil))},
	})
	d.Watch(func(c nodes.Change) { d.told = append(d.told, c) })
	return d
}

func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// id returns the number of a name in the box, or 0.
func (d *desk) id(name string) nodes.ID {
	entry, _ := d.Lookup(d.Context(), box, name)
	return entry.ID
}

func (d *desk) create(name, text string) {
	d.Helper()
	entry, err := d.Create(d.Context(), box, name)
	d.must(err)
	w := d.open(entry.ID)
	d.write(w, text)
	d.must(w.Release())
}

func (d *desk) open(id nodes.ID) nodes.Writer {
	d.Helper()
	w, err := d.OpenWrite(d.Context(), id)
	d.must(err)
	return w
}

func (d *desk) write(w nodes.Writer, text string) {
	d.Helper()
	_, err := w.WriteAt(d.Context(), []byte(text), 0)
	d.must(err)
}

func (d *desk) rename(from, to string) error {
	return d.Rename(d.Context(), box, from, box, to, nodes.RenameReplace)
}

func (d *desk) text(name string) string {
	p := make([]byte, 100)
	n, _ := d.ReadAt(d.Context(), d.id(name), p, 0)
	return string(p[:n])
}

// touched reports whether the box has the time of an edit.
func (d *desk) touched() bool {
	attr, err := d.Attr(d.Context(), box)
	d.must(err)
	return !attr.ModTime.Equal(shelfTime)
}

// filled puts file, other and dir into the box and resets its time.
func filled(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, roomy)
	d.create("file", "a")
	d.create("other", "b")
	_, err := d.Mkdir(t.Context(), box, "dir")
	d.must(err)
	d.must(d.SetModTime(t.Context(), box, shelfTime))
	return d
}

func TestRename(t *testing.T) {
	for _, c := range []struct {
		from, to string
		mode     nodes.RenameMode
		want     error
		// now is the old name of what has the new name afterwards, before that of what has the
		// old name.
		now, before string
	}{
		{"file", "none", nodes.RenameReplace, nil, "file", ""},
		{"file", "other", nodes.RenameReplace, nil, "file", ""},
		{"file", "file", nodes.RenameReplace, nil, "file", "file"},
		{"file", "dir", nodes.RenameReplace, nodes.ErrIsDir, "dir", "file"},
		{"dir", "file", nodes.RenameReplace, nodes.ErrNotDir, "file", "dir"},
		{"dir", "free", nodes.RenameReplace, nil, "dir", ""},
		{"none", "file", nodes.RenameReplace, nodes.ErrNotExist, "file", ""},
		{"none", "none", nodes.RenameReplace, nodes.ErrNotExist, "", ""},
		{"file", "free", nodes.RenameKeep, nil, "file", ""},
		{"file", "file", nodes.RenameKeep, nodes.ErrExist, "file", "file"},
		{"file", "dir", nodes.RenameKeep, nodes.ErrExist, "dir", "file"},
		{"none", "file", nodes.RenameKeep, nodes.ErrNotExist, "file", ""},
		{"file", "dir", nodes.RenameExchange, nil, "file", "dir"},
		{"dir", "file", nodes.RenameExchange, nil, "dir", "file"},
		{"file", "file", nodes.RenameExchange, nil, "file", "file"},
		{"file", "free", nodes.RenameExchange, nodes.ErrNotExist, "", "file"},
		{"none", "file", nodes.RenameExchange, nodes.ErrNotExist, "file", ""},
	} {
		t.Run(fmt.Sprintf("%s %s %d", c.from, c.to, c.mode), func(t *testing.T) {
			c.from, c.to = strings.Replace(c.from, "none", "free2", 1), strings.Replace(c.to, "none", "free2", 1)
			d := filled(t)
			had := map[string]nodes.ID{"": 0, "file": d.id("file"), "dir": d.id("dir")}
			if err := d.Rename(t.Context(), box, c.from, box, c.to, c.mode); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if now, before := d.id(c.to), d.id(c.from); now != had[c.now] || before != had[c.before] {
				t.Errorf("node %d has the new name and %d the old one, want %d and %d", now, before, had[c.now], had[c.before])
			}
			if want := c.want == nil && c.from != c.to; d.touched() != want {
				t.Errorf("the directory has the time of an edit: %v, want %v", !want, want)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct {
		name string
		kind nodes.Kind
		want error
	}{
		{"file", nodes.File, nil},
		{"dir", nodes.Dir, nil},
		{"file", nodes.Dir, nodes.ErrNotDir},
		{"dir", nodes.File, nodes.ErrIsDir},
		{"free", nodes.File, nodes.ErrNotExist},
		{"free", nodes.Dir, nodes.ErrNotExist},
		{"one", nodes.File, nodes.ErrNotPermitted},
	} {
		d := filled(t)
		id := d.id(c.name)
		if err := d.Remove(t.Context(), box, c.name, c.kind); !errors.Is(err, c.want) {
			t.Errorf("remove %s as a %v: %v, want %v", c.name, c.kind, err, c.want)
		}
		if now := d.id(c.name); (c.want == nil) != (now == 0) && id != 0 || d.touched() != (c.want == nil) {
			t.Errorf("remove %s as a %v: it is node %d, the directory touched: %v", c.name, c.kind, now, d.touched())
		}
	}
}

func TestSetModTime(t *testing.T) {
	d := newDesk(t, roomy)
	at := time.Unix(3, 0)
	d.must(d.SetModTime(t.Context(), one, at))
	if attr, err := d.Attr(t.Context(), one); err != nil || !attr.ModTime.Equal(at) {
		t.Errorf("%+v, %v; want the time %v", attr, err, at)
	}
	if err := d.SetModTime(t.Context(), nodes.Root, at); !errors.Is(err, nodes.ErrReadOnly) {
		t.Errorf("of what can't be written to: %v", err)
	}
	if err := d.SetModTime(t.Context(), 99, at); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("of what is not there: %v", err)
	}
}

// A file has the time at which it was written, even if the content in the source stays the same.
// A time that is set before the close takes precedence.
func TestTimeOfWrite(t *testing.T) {
	for _, said := range []time.Time{{}, time.Unix(3, 0)} {
		d := newDesk(t, roomy)
		w := d.open(one)
		d.write(w, "1")
		want := d.now
		if !said.IsZero() {
			d.must(d.SetModTime(t.Context(), one, said))
			want = said
		}
		d.now = d.now.Add(time.Hour)
		d.must(w.Flush(t.Context()))
		d.must(w.Release())
		if attr, err := d.Attr(t.Context(), one); err != nil || !attr.ModTime.Equal(want) {
			t.Errorf("%+v, %v; want the time %v", attr, err, want)
		}
	}
}

// A text that can't be renamed is kept under both names, as two separate texts.
func TestRefuse(t *testing.T) {
	for _, there := range []bool{false, true} {
		d := newDesk(t, roomy)
		if !there {
			d.must(d.rename("one", "aside"))
		}
		d.create("temp", "!bad")
		d.told = nil
		err := d.rename("temp", "one")
		if !errors.Is(err, nodes.ErrInvalid) || d.text("one") != "!bad" || d.text("temp") != "!bad" {
			t.Fatalf("%v; they have %q and %q", err, d.text("one"), d.text("temp"))
		}
		want := []nodes.Change{{ID: d.id("one")}, {Dir: box, Name: "one"}}
		if there {
			want = want[:1]
		}
		if !slices.Equal(d.told, want) {
			t.Errorf("told %v, want %v", d.told, want)
		}
		if list := d.Refused(); len(list) != 2 || list[0].Path != "box/one" || string(list[0].Text) != "!bad" || !errors.Is(list[1].Problem, nodes.ErrInvalid) {
			t.Errorf("refused: %+v", list)
		}
		if x, xerr := d.Xattr(t.Context(), d.id("one"), "user.lorefs.error"); xerr != nil || string(x) != err.Error() {
			t.Errorf("user.lorefs.error is %q, %v", x, xerr)
		}
		w := d.open(d.id("temp"))
		d.write(w, "?")
		d.must(w.Release())
		if d.text("one") != "!bad" {
			t.Error("they are the same text")
		}
		if names, err := d.Xattrs(t.Context(), d.id("temp")); len(names) != 0 || err != nil || len(d.Refused()) != 1 {
			t.Errorf("after it was written anew: %q, %v", names, err)
		}
	}
}

// If the text can't be kept under the new name, the file there stays as it is, and the log says
// so.
func TestRefuseStays(t *testing.T) {
	for _, tt := range []struct{ what, want, text string }{
		{"written", "somebody is writing it", "half"},
		{"full", "texts that are not saved have", "1"},
	} {
		d := newDesk(t, overlay.Limits{Text: 100, Texts: 40})
		d.create("temp", "!bad bad bad bad bad bad")
		if tt.what == "written" {
			d.write(d.open(one), tt.text)
		}
		d.told = nil
		if err := d.rename("temp", "one"); !errors.Is(err, nodes.ErrInvalid) {
			t.Errorf("%s: %v", tt.what, err)
		}
		if !strings.Contains(d.log.String(), tt.want) || len(d.told) > 0 || d.text("one") != tt.text {
			t.Errorf("%s: told %v of %q; the log has %s", tt.what, d.told, d.text("one"), &d.log)
		}
		if list := d.Refused(); len(list) != 1 || list[0].Path != "box/temp" {
			t.Errorf("%s: refused: %+v", tt.what, list)
		}
	}
}

// A text is not refused if the check of it was canceled.
func TestRefuseCanceled(t *testing.T) {
	d := newDesk(t, roomy)
	d.create("temp", "!bad")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Rename(ctx, box, "temp", box, "one", nodes.RenameReplace); err == nil || len(d.Refused()) != 0 || d.text("one") != "1" {
		t.Errorf("%v, refused %v", err, d.Refused())
	}
}

func TestRoom(t *testing.T) {
	d := newDesk(t, overlay.Limits{Text: 100, Texts: 250})
	d.create("a", strings.Repeat("a", 96))
	d.create("b", strings.Repeat("b", 96))
	other, err := d.Create(t.Context(), box, "c")
	d.must(err)
	w := d.open(other.ID)
	for _, tt := range []struct {
		size int
		want error
	}{{101, nodes.ErrTooLarge}, {90, nodes.ErrNoSpace}, {32, nil}} {
		if _, err := w.WriteAt(t.Context(), make([]byte, tt.size), 0); !errors.Is(err, tt.want) {
			t.Errorf("%d bytes: %v, want %v", tt.size, err, tt.want)
		}
	}
	d.must(d.Remove(t.Context(), box, "b", nodes.File)) // from now on it can only be read by handles
	d.write(w, strings.Repeat("c", 90))
	d.must(w.Release())
}
