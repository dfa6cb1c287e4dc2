package worldtree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/overlay"
	"lorefs/nodes/worldtree"
)

// shows fails the test if a file does not show a refused text, or does not report it.
func (d *edited) shows(path, text, problem string) {
	d.t.Helper()
	if got := read(d.t, d.Editable, path); string(got) != text {
		d.t.Errorf("%s shows %q, want %q", path, got, text)
	}
	x, err := d.Xattr(d.t.Context(), d.id(path), "user.lorefs.error")
	if err != nil || !strings.Contains(string(x), problem) {
		d.t.Errorf("user.lorefs.error of %s is %q, %v; want %s", path, x, err, problem)
	}
	r := d.Refused()
	if len(r) != 1 || r[0].Path != path || string(r[0].Text) != text || !strings.Contains(r[0].Problem.Error(), problem) {
		d.t.Errorf("refused: %v; want %s", paths(r), path)
	}
}

// paths returns the paths of refused texts, which may be long themselves.
func paths(list []overlay.Refused) (all []string) {
	for _, r := range list {
		all = append(all, r.Path)
	}
	return all
}

// nothingRefused fails the test if there is a refused text.
func (d *edited) nothingRefused() {
	d.t.Helper()
	if l := d.Loose(); len(l.Scratch)+len(l.Strays)+len(d.Refused()) != 0 {
		d.t.Errorf("not saved: %v; refused: %v", l, paths(d.Refused()))
	}
}

// TestRefused checks that a refused text is shown and reported, but is in no other file, in
// no record, and in nothing that is saved.
func TestRefused(t *testing.T) {
	testneeds.Seconds(t)
	d := newEdited(t, folder(2))
	for path, bad := range map[string]map[string]string{
		aZone: {
			"no text at all":                      "'n'",
			"":                                    "found the end of the text",
			`{"squares":[]}`:                      "line 1, column 13: there are 0 squares: want 14400",
			"{\n\"squares\":[[[[0,1],[0,2]],[]]]": "line 2, column 20: the volume's z is 0: want more than that of the one before, 0",
		},
		aSquare: {`{"cells":[]}`: "line 1, column 11: there are 0 cells: want 64", "{": "column 2"},
		anArea:  {`{"nodes":[],"zones":[{"zone":[1,1],"squares":[[0,1,0]]}]}`: "line 1", "[": "'['"},
	} {
		before := read(t, d.Editable, path)
		for text, want := range bad {
			err := d.write(path, []byte(text))
			if !errors.Is(err, nodes.ErrInvalid) || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s = %s: %v, want %s", path, text, err, want)
			}
			d.shows(path, text, want)
		}
		if len(d.records) != 0 || d.save() != nil {
			t.Error("what was refused is saved")
		}
		if err := d.write(path, before); err != nil {
			t.Error(err)
		}
		d.nothingRefused()
		if names, err := d.Xattrs(t.Context(), d.id(path)); err != nil || len(names) != 0 {
			t.Errorf("%s has %q, %v", path, names, err)
		}
	}
}

// TestRefusedByTheLog checks that a valid text which the journal can't keep is not lost
// either.
func TestRefusedByTheLog(t *testing.T) {
	d := newEdited(t, light())
	d.fail = errors.New("the disk is full")
	text := lift(t, read(t, d.Editable, aSquare))
	if err := d.write(aSquare, text); !errors.Is(err, d.fail) {
		t.Errorf("got %v, want %v", err, d.fail)
	}
	d.shows(aSquare, string(text), "the disk is full")
	if files := d.save(); files != nil {
		t.Errorf("saved %v", files)
	}
	d.fail = nil
	if err := d.write(aSquare, text); err != nil {
		t.Error(err)
	}
	d.nothingRefused()
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("saved %v", files)
	}
}

// TestRefusedRename has a tool that saves by renaming, and removes the file if that fails:
// the text is kept as that of the target.
func TestRefusedRename(t *testing.T) {
	testneeds.Seconds(t)
	for _, file := range []string{aZone, aSquare, anArea} {
		for _, hidden := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, hidden %v", path.Dir(file), hidden), func(t *testing.T) {
				d := newEdited(t, folder(2))
				before, id, temp := read(t, d.Editable, file), d.id(file), path.Dir(file)+"/.temp"
				if hidden {
					temp = file + "~"
					if err := errors.Join(d.rename(file, temp), d.write(temp, []byte("bad"))); err != nil {
						t.Fatal(err)
					}
				} else if err := d.create(temp, []byte("bad")); err != nil {
					t.Fatal(err)
				}
				clear(d.told)
				if err := d.rename(temp, file); !errors.Is(err, nodes.ErrInvalid) {
					t.Fatalf("renamed: %v", err)
				}
				if (d.id(file) == id) == hidden || d.told[d.id(file)] == 0 {
					t.Error("it is another file, or the same with another text, and nobody was told")
				}
				if r := d.Refused(); len(r) != 2 || r[0].Problem.Error() != r[1].Problem.Error() {
					t.Errorf("refused: %v", paths(r))
				}
				if err := d.remove(temp); err != nil {
					t.Error(err)
				}
				d.shows(file, "bad", "found 'b'")
				if files := d.save(); files != nil {
					t.Errorf("saved %v", files)
				}
				if err := errors.Join(d.create(path.Dir(file)+"/.next", before), d.rename(path.Dir(file)+"/.next", file)); err != nil {
					t.Fatal(err)
				}
				d.nothingRefused()
				if !bytes.Equal(read(t, d.Editable, file), before) {
					t.Error("it is not shown as it was at first")
				}
			})
		}
	}
}

// TestRefusedAmongOthers checks that a refused text keeps nobody from editing other files
// of the zone, and that such edits leave it as it is.
func TestRefusedAmongOthers(t *testing.T) {
	const bad = "{\"squares\": [[[[1,2]],"
	d := newEdited(t, light())
	square, zone := read(t, d.Editable, aSquare), read(t, d.Editable, aZone)
	if err := d.write(aZone, []byte(bad)); !errors.Is(err, nodes.ErrInvalid) {
		t.Fatal(err)
	}
	lifted := lift(t, square)
	if err := d.write(aSquare, lifted); err != nil {
		t.Fatal(err)
	}
	d.shows(aZone, bad, "line 1")
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("saved %v", files)
	}
	if got := read(t, newTree(t, d.fsys, worldtree.Options{}), aSquare); !bytes.Equal(got, lifted) {
		t.Error("the square that was edited is not saved")
	}
	d.shows(aZone, bad, "line 1")
	nodetest.Run(t, d.Editable, nodetest.Limit(10))
	// The zone as it was at first: its text counts, whatever was edited since.
	if err := d.write(aSquare, []byte(bad)); !errors.Is(err, nodes.ErrInvalid) {
		t.Fatal(err)
	}
	if err := d.write(aZone, zone); err != nil {
		t.Fatal(err)
	}
	d.shows(aSquare, bad, aSquare)
	if err := d.write(aSquare, square); err != nil {
		t.Fatal(err)
	}
	d.nothingRefused()
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("saved %v", files)
	}
	if got := read(t, newTree(t, d.fsys, worldtree.Options{}), aZone); !bytes.Equal(got, zone) {
		t.Error("the zone that was written is not saved")
	}
}

// TestRefusedRemoved removes a file with a refused text. The text is dropped: a new file of
// that name shows the source, while open handles still read the text.
func TestRefusedRemoved(t *testing.T) {
	d := newEdited(t, light())
	lifted := lift(t, read(t, d.Editable, aSquare))
	if err := d.write(aSquare, lifted); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.write(aSquare, []byte("bad")); !errors.Is(err, nodes.ErrInvalid) {
			t.Fatal(err)
		}
		id := d.id(aSquare)
		if err := d.remove(aSquare); err != nil {
			t.Fatal(err)
		}
		d.nothingRefused()
		if d.id(aSquare) == id || !bytes.Equal(read(t, d.Editable, aSquare), lifted) {
			t.Error("the file does not show the source")
		}
		b := make([]byte, 9)
		attr, err := d.Attr(t.Context(), id)
		n, readErr := d.ReadAt(t.Context(), id, b, 0)
		if !attr.Removed || err != nil || string(b[:n]) != "bad" || !errors.Is(readErr, io.EOF) {
			t.Errorf("the file that was removed is %+v, %v: %q, %v", attr, err, b[:n], readErr)
		}
		d.Forget(id)
	}
	if err := d.remove(aSquare); !errors.Is(err, nodes.ErrNotPermitted) {
		t.Errorf("removed: %v", err)
	}
	nodetest.Run(t, d.Editable, nodetest.Limit(10))
}

// TestRefusedInParts has a program that closes the file between two writes.
func TestRefusedInParts(t *testing.T) {
	d := newEdited(t, light())
	text := lift(t, read(t, d.Editable, aSquare))
	w, err := d.OpenWrite(t.Context(), d.id(aSquare))
	if err = errors.Join(err, w.Truncate(t.Context(), 0)); err != nil {
		t.Fatal(err)
	}
	for i, part := range [][]byte{text[:100], text[100:]} {
		if _, err := w.WriteAt(t.Context(), part, int64(100*i)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(t.Context()); (err == nil) != (i == 1) {
			t.Errorf("part %d: %v", i, err)
		}
	}
	if err := w.Release(); err != nil {
		t.Error(err)
	}
	d.nothingRefused()
	if !bytes.Equal(read(t, d.Editable, aSquare), text) {
		t.Error("it is not what was written")
	}
}

// TestLimits checks the limits on the memory for texts.
func TestLimits(t *testing.T) {
	d := newEditedWith(t, light(), worldtree.EditOptions{EditOptions: overlay.EditOptions{Limits: overlay.Limits{Text: 10_000, Texts: 15_000}}})
	bad := []byte("{" + strings.Repeat(" ", 9000))
	if err := d.write(aSquare, append(bad, bad...)); !errors.Is(err, nodes.ErrTooLarge) {
		t.Errorf("a long text: %v", err)
	}
	d.shows(aSquare, "", "the end of the text") // that was written before
	if err := d.remove(aSquare); err != nil {
		t.Fatal(err)
	}
	if err := d.create("zones/.temp", bad); err != nil {
		t.Fatal(err)
	}
	if err := d.rename("zones/.temp", aZone); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("renamed: %v", err)
	}
	// There is no room for it under both names.
	d.shows("zones/.temp", string(bad), "the end of the text")
	if err := d.write("squares/x1000y1000/000-000.json", bad); !errors.Is(err, nodes.ErrNoSpace) {
		t.Errorf("many texts: %v", err)
	}
	if err := errors.Join(d.remove("zones/.temp"), d.remove("squares/x1000y1000/000-000.json")); err != nil {
		t.Fatal(err)
	}
	for range 3 { // a dropped text takes no room
		if err := d.write(aSquare, bad); !errors.Is(err, nodes.ErrInvalid) {
			t.Errorf("with room again: %v", err)
		}
		if err := d.remove(aSquare); err != nil {
			t.Error(err)
		}
	}
	d.nothingRefused()
}

// TestRefusedKeepsOthers checks that nothing replaces a file that somebody is writing.
func TestRefusedKeepsOthers(t *testing.T) {
	d := newEdited(t, fstest.MapFS{"a.apd": {Data: geomtest.Paths(geometry.DefaultOrigin, geometry.DefaultOrigin).File(), ModTime: geomtest.FolderTime}})
	w, err := d.OpenWrite(t.Context(), d.id("areas/a.json"))
	if err = errors.Join(err, w.Truncate(t.Context(), 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt(t.Context(), []byte("half"), 0); err != nil {
		t.Fatal(err)
	}
	if err := d.create("areas/.temp", []byte("bad")); err != nil {
		t.Fatal(err)
	}
	if err := d.rename("areas/.temp", "areas/a.json"); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("renamed: %v", err)
	}
	if got := read(t, d.Editable, "areas/a.json"); string(got) != "half" {
		t.Errorf("what is being written has become %q", got)
	}
	d.shows("areas/.temp", "bad", "found 'b'")
	if err := w.Release(); !errors.Is(err, nodes.ErrInvalid) {
		t.Error(err)
	}
	if r := d.Refused(); len(r) != 2 || string(r[1].Text) != "half" {
		t.Errorf("refused: %v", paths(r))
	}
}
