package bundle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/bundle"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/overlay"
)

var someTime = time.Date(2011, 1, 25, 12, 0, 0, 0, time.UTC)

func newTree(t testing.TB, data []byte) *bundle.Tree {
	t.Helper()
	files, err := toy.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return bundle.New(files, bundle.Options{ModTime: someTime, SourceSize: int64(len(data))})
}

// folder is an Editable, the file that it was opened from, and what it logs.
type folder struct {
	*bundle.Editable
	t       testing.TB
	path    string
	records [][]byte
	counted int64
	full    error
}

func newFolder(t testing.TB, data []byte) *folder {
	t.Helper()
	d := &folder{t: t, path: filepath.Join(t.TempDir(), "toy")}
	d.open(data)
	return d
}

func (d *folder) open(data []byte) {
	d.records = nil
	d.Editable = bundle.NewEditable(newTree(d.t, data), toy, bundle.EditOptions{
		Log: func(record []byte) error {
			if d.full == nil {
				d.records = append(d.records, slices.Clone(record))
			}
			return d.full
		},
		Count: func(edits int64) { d.counted = edits },
		Reopen: func(f *os.File) (bundle.Files, error) {
			data, err := os.ReadFile(f.Name())
			if err != nil {
				return nil, err
			}
			return toy.Open(bytes.NewReader(data), int64(len(data)))
		},
	})
	d.Watch(func(nodes.Change) {})
}

// save saves to a file and returns its bytes. meanwhile is called when it is written.
func (d *folder) save(meanwhile func()) (data []byte, later [][]byte, err error) {
	err = d.Save(d.t.Context(), func(c *bundle.Changed) error {
		f, err := os.Create(d.path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := c.Write(d.t.Context(), f); err != nil {
			return err
		}
		meanwhile()
		if err := c.Compare(d.t.Context(), f); err != nil {
			return err
		}
		return c.Replace(func(since [][]byte, edits int64) (iofs.FileInfo, error) {
			later, d.counted = slices.Clone(since), edits
			if data, err = os.ReadFile(d.path); err != nil {
				return nil, err
			}
			return f.Stat()
		})
	})
	return data, later, err
}

// put writes a file as a program does.
func (d *folder) put(name, text string) error {
	ctx := context.Background()
	e, err := d.Lookup(ctx, nodes.Root, name)
	if errors.Is(err, nodes.ErrNotExist) {
		e, err = d.Create(ctx, nodes.Root, name)
	}
	if err != nil {
		return err
	}
	w, err := d.OpenWrite(ctx, e.ID)
	if err != nil {
		return err
	}
	err = w.Truncate(ctx, 0)
	if err == nil {
		_, err = w.WriteAt(ctx, []byte(text), 0)
	}
	return errors.Join(err, w.Flush(ctx), w.Release())
}

func (d *folder) remove(name string) error {
	return d.Remove(context.Background(), nodes.Root, name, nodes.File)
}

func (d *folder) rename(name, to string, mode nodes.RenameMode) error {
	return d.Rename(context.Background(), nodes.Root, name, nodes.Root, to, mode)
}

func (d *folder) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// list returns the names and contents of a tree, as they are listed.
func list(t testing.TB, tree nodes.Tree) string {
	t.Helper()
	var b strings.Builder
	for e, err := range tree.ReadDir(t.Context(), nodes.Root, 0) {
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, e.Size)
		if n, err := tree.ReadAt(t.Context(), e.ID, text, 0); n != len(text) || err != nil && err != io.EOF { //nolint:errorlint // the tree must return it as it is
			t.Fatalf("%s: %d bytes, %v", e.Name, n, err)
		}
		fmt.Fprintf(&b, "%s=%s ", e.Name, text)
	}
	return strings.TrimSpace(b.String())
}

func (d *folder) want(what, want string) {
	d.t.Helper()
	if got := list(d.t, d); got != want {
		d.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// wantEdits checks the lines of the edits.
func (d *folder) wantEdits(want string) {
	d.t.Helper()
	var lines []byte
	n := int64(0)
	for e, err := range d.Edits(d.t.Context()) {
		d.must(err)
		lines = e.Append(lines)
		n++
	}
	if string(lines) != want || d.Pending() != n || d.counted != n {
		d.t.Errorf("edits are %q, want %q; %d pending, %d counted", lines, want, d.Pending(), d.counted)
	}
}

func TestTree(t *testing.T) {
	many := []string{}
	for i := range 600 {
		many = append(many, fmt.Sprintf("%04d", i), strings.Repeat("x", i))
	}
	for name, data := range map[string][]byte{"empty": nil, "some": toyOf("b", "two", "a", "", "c", "3"), "many": toyOf(many...)} {
		t.Run(name, func(t *testing.T) {
			nodetest.Run(t, newTree(t, data))
			nodetest.Run(t, newFolder(t, data).Editable)
		})
	}
}

func TestMutable(t *testing.T) {
	nodetest.RunMutable(t, func(t *testing.T) nodes.Mutable { return newFolder(t, toyOf("z", "zzz")).Editable }, nodetest.Edits{
		Files: [2]string{"a", "b.png"}, Dirs: [2]string{"d", "e"}, Valid: [2]string{"some text", "other"}, Flat: true,
	})
}

func TestEdits(t *testing.T) {
	d := newFolder(t, toyOf("a", "1", "b", "22", "c", "333"))
	d.must(d.put("b", "other"))
	d.must(d.put("new", "4"))
	d.must(d.remove("a"))
	d.must(d.put(".swp", "scratch"))
	d.want("edited", "b=other c=333 new=4 .swp=scratch")
	d.wantEdits("- a: 1 bytes\n~ b: 5 bytes, was 2\n+ new: 1 bytes\n")
	if loose := d.Loose(); !slices.Equal(loose.Scratch, []string{".swp"}) || len(loose.Strays) > 0 {
		t.Errorf("%v", loose)
	}
	d.must(d.put("b", "22"))
	d.must(d.remove("new"))
	d.must(d.put("a", "1"))
	d.want("as before", "a=1 b=22 c=333 .swp=scratch")
	d.wantEdits("")
}

// TestNames checks that a name which the format refuses is refused, and folders are.
func TestNames(t *testing.T) {
	d := newFolder(t, toyOf("a", "1"))
	if err := d.put("wow!", ""); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("a name that can't be: %v", err)
	}
	if err := d.rename("a", "wow!", nodes.RenameReplace); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("a rename to a name that can't be: %v", err)
	}
	if _, err := d.Mkdir(t.Context(), nodes.Root, "d"); !errors.Is(err, nodes.ErrNotPermitted) {
		t.Errorf("a folder: %v", err)
	}
	d.want("afterwards", "a=1")
	d.wantEdits("")
}

// TestRename checks that a file which replaces another takes its place, as editors save so.
func TestRename(t *testing.T) {
	d := newFolder(t, toyOf("a", "1", "b", "22", "c", "333"))
	d.must(d.put("sedX", "new b"))
	d.must(d.rename("sedX", "b", nodes.RenameReplace))
	d.want("replaced", "a=1 b=new b c=333")
	d.wantEdits("~ b: 5 bytes, was 2\n")
	d.must(d.rename("a", "c", nodes.RenameExchange))
	d.want("exchanged", "a=333 b=new b c=1")
	d.must(d.rename("a", "d", nodes.RenameReplace))
	d.want("renamed", "d=333 b=new b c=1")
	d.wantEdits("- a: 1 bytes\n~ b: 5 bytes, was 2\n~ c: 1 bytes, was 3\n+ d: 3 bytes\n")
	// As vim does: the file is moved away and written anew.
	d.must(d.rename("b", "b~", nodes.RenameReplace))
	d.must(d.put("b", "vim"))
	d.must(d.remove("b~"))
	d.want("written anew", "d=333 b=vim c=1")
}

func TestRevert(t *testing.T) {
	d := newFolder(t, toyOf("a", "1", "b", "22", "c", "333"))
	edit := func() {
		d.must(d.put("b", "other"))
		d.must(d.put("new", "4"))
		d.must(d.remove("a"))
		d.must(d.rename("c", "moved", nodes.RenameReplace))
	}
	edit()
	id, ok := d.Gone(nodes.Root, "a")
	if _, there := d.Gone(nodes.Root, "b"); !ok || there {
		t.Fatalf("what is gone: %v, what is not: %v", ok, there)
	}
	taken, err := d.Revert(t.Context(), id)
	if d.must(err); len(taken) != 1 || taken[0].Kind != bundle.FileRemoved || taken[0].Path != "a" {
		t.Errorf("took back %v", taken)
	}
	d.want("a is back", "a=1 b=other moved=333 new=4")
	for _, name := range []string{"b", "new"} {
		e, err := d.Lookup(t.Context(), nodes.Root, name)
		d.must(err)
		if taken, err := d.Revert(t.Context(), e.ID); err != nil || len(taken) != 1 {
			t.Errorf("%s: took back %v, %v", name, taken, err)
		}
	}
	d.want("b is back", "a=1 b=22 moved=333")
	if _, err = d.Revert(t.Context()); err != nil {
		t.Error(err)
	}
	d.want("all is back", "a=1 b=22 c=333")
	d.wantEdits("")
	// The journal has the same.
	again := newFolder(t, toyOf("a", "1", "b", "22", "c", "333"))
	for _, r := range d.records {
		d.must(again.Replay(t.Context(), r))
	}
	again.want("replayed", "a=1 b=22 c=333")

	// A file that took another's place makes room first.
	d = newFolder(t, toyOf("a", "1", "b", "22"))
	d.must(d.rename("a", "moved", nodes.RenameReplace))
	taken, err = d.Revert(t.Context())
	if d.must(err); len(taken) != 2 || taken[0].Path != "a" || taken[1].Path != "moved" {
		t.Errorf("took back %v", taken)
	}
	d.want("a is in its place", "a=1 b=22")
}

// TestReplayWhatWasAccepted checks that edits made while a save runs are made again after a crash:
// what the old file holds took no memory, and on the new one it does.
func TestReplayWhatWasAccepted(t *testing.T) {
	d := newFolder(t, toyOf("a", "1234", "b", "56"))
	d.must(d.put("a", "new"))
	data, later, err := d.save(func() { d.must(d.put("a", "1234")) })
	if d.must(err); len(later) != 1 {
		t.Fatalf("%d records", len(later))
	}
	e := bundle.NewEditable(newTree(t, data), toy, bundle.EditOptions{EditOptions: overlay.EditOptions{Limits: overlay.Limits{Texts: 3}}})
	d.must(e.Replay(t.Context(), later[0]))
	again := &folder{Editable: e, t: t}
	again.want("replayed", "a=1234 b=56")
	if err := again.put("b", "x"); !errors.Is(err, nodes.ErrNoSpace) {
		t.Errorf("more than there is room for: %v", err)
	}
}

// TestSave checks that edits which are made while a save runs are those of the new file.
func TestSave(t *testing.T) {
	d := newFolder(t, toyOf("a", "1", "b", "22", "c", "333"))
	d.must(d.put("b", "other"))
	d.must(d.remove("c"))
	d.must(d.put("new", "4"))
	data, later, err := d.save(func() {
		d.must(d.put("a", "late"))
		if _, err := d.Revert(t.Context(), d.id("b")); err != nil {
			t.Error(err)
		}
		gone, _ := d.Gone(nodes.Root, "c")
		if _, err := d.Revert(t.Context(), gone); err != nil {
			t.Error(err)
		}
	})
	d.must(err)
	if got, want := list(t, newTree(t, data)), "a=1 b=other new=4"; got != want {
		t.Errorf("saved %q, want %q", got, want)
	}
	want := "a=late b=22 c=333 new=4"
	d.want("afterwards", want)
	d.wantEdits("~ a: 4 bytes, was 1\n~ b: 2 bytes, was 5\n+ c: 3 bytes\n")
	again := newFolder(t, data)
	for _, r := range later {
		d.must(again.Replay(t.Context(), r))
	}
	again.want("replayed on the new file", "a=late b=22 new=4 c=333")
	if data, later, err = d.save(func() {}); err != nil || len(later) > 0 {
		t.Error(later, err)
	}
	d.want("saved again", want)
	d.wantEdits("")
	if got := list(t, newTree(t, data)); got != want {
		t.Errorf("saved %q, want %q", got, want)
	}
	if data, _, err = d.save(func() {}); data != nil || err != nil {
		t.Errorf("nothing is saved as %d bytes, %v", len(data), err)
	}
}

func (d *folder) id(name string) nodes.ID {
	d.t.Helper()
	e, err := d.Lookup(d.t.Context(), nodes.Root, name)
	d.must(err)
	return e.ID
}

// TestFull checks that an edit which can't be logged is none, and that a content which is larger
// than what is allowed is refused.
func TestFull(t *testing.T) {
	d := newFolder(t, toyOf("a", "1"))
	d.full = errors.New("no space")
	for _, edit := range []func() error{
		func() error { return d.remove("a") },
		func() error { return d.rename("a", "b", nodes.RenameReplace) },
	} {
		if err := edit(); !errors.Is(err, d.full) {
			t.Error(err)
		}
	}
	d.want("afterwards", "a=1")
	d.wantEdits("")
	e := bundle.NewEditable(newTree(t, toyOf("a", "1", "b", "2")), toy, bundle.EditOptions{EditOptions: overlay.EditOptions{Limits: overlay.Limits{Text: 100, Texts: 150}}})
	small := &folder{Editable: e, t: t}
	if err := small.put("a", strings.Repeat("x", 101)); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("a large text: %v", err)
	}
	d.must(small.put("a", strings.Repeat("x", 100)))
	if err := small.put("b", strings.Repeat("y", 100)); !errors.Is(err, nodes.ErrNoSpace) {
		t.Errorf("too many texts: %v", err)
	}
}

// TestBadRecords checks that a record which is none is an error.
func TestBadRecords(t *testing.T) {
	for _, record := range []string{
		"", "P", "P\x01", "P\x01a\x05b", "R\x01x", "M\x01x\x01y", "X\x01a\x01x", "B\x01x", "Z\x01a\x01b", "P\x01!\x01b", "M\x01a\x01!", "M\x01a\x01a",
		"R\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
	} {
		d := newFolder(t, toyOf("a", "1"))
		if err := d.Replay(t.Context(), []byte(record)); err == nil {
			t.Errorf("%q is replayed", record)
		}
		d.want("afterwards", "a=1")
	}
}

// FuzzRecord replays any bytes. What is refused changes nothing, and what is not can be saved.
func FuzzRecord(f *testing.F) {
	for _, record := range []string{
		"P\x01n\x01b", "R\x01a", "M\x01a\x01b", "X\x01a\x01b", "R\x01aB\x01a", "R\x01aP\x01b\x01c", "M\x01a", "R\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
	} {
		f.Add([]byte(record))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		d := newFolder(t, toyOf("a", "1", "b", "22"))
		if err := d.Replay(t.Context(), record); err != nil {
			d.want("afterwards", "a=1 b=22")
			return
		}
		want := list(t, d)
		if data, _, err := d.save(func() {}); err != nil || data != nil && list(t, newTree(t, data)) != want {
			t.Fatalf("%q is saved as %q, %v", want, data, err)
		}
	})
}

// TestDamaged checks that a file which does not read back as it was written is not taken.
func TestDamaged(t *testing.T) {
	d := newFolder(t, toyOf("a", "1", "b", "22"))
	d.must(d.put("a", "other"))
	for what, data := range map[string][]byte{
		"a byte":     toyOf("a", "other", "b", "23"),
		"a name":     toyOf("a", "other", "c", "22"),
		"too few":    toyOf("a", "other"),
		"its order":  toyOf("b", "22", "a", "other"),
		"cut in two": toyOf("a", "other", "b", "22")[:20],
	} {
		_, _, err := d.save(func() { d.must(os.WriteFile(d.path, data, 0o600)) })
		if err == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
	d.want("afterwards", "a=other b=22")
	d.counted = d.Pending()
	d.wantEdits("~ a: 5 bytes, was 1\n")
}
