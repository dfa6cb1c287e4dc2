package save

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/source"
)

// conflict saves a file that another program has replaced, and returns the error.
func (f *folder) conflict(file string) *ConflictError {
	f.t.Helper()
	saved, err := f.save(file)
	c, ok := errors.AsType[*ConflictError](err)
	if !ok || !errors.Is(err, source.ErrChanged) || saved.Info != nil {
		f.t.Fatalf("saved %+v: %v", saved, err)
	}
	return c
}

// TestConflict checks that a file that another program put in place stays, that the edits are
// written beside it, and that the other files are saved.
func TestConflict(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.edit("b", "2")
	f.mustSave("a")
	f.edit("a", "3") // belongs to a file that is gone once it is replaced
	f.put("a", "mine")
	c := f.conflict("a")
	if filepath.Base(c.File) != "a" || !strings.HasPrefix(c.Path, c.File+".conflict-") {
		t.Errorf("%+v", c)
	}
	if again := f.conflict("a"); again.Path != c.Path {
		t.Errorf("again it is in %s", again.Path)
	}
	f.mustSave("b")
	name := filepath.Base(c.Path)
	f.holds("a", "mine")
	f.holds("b", "b.2")
	f.holds(name, "a.13")
	if f.set.Pending() != 1 {
		t.Errorf("%d edits are pending", f.set.Pending())
	}
	f.close()
	if err := f.open(); !errors.Is(err, ErrStale) {
		t.Errorf("opened: %v", err)
	}
	if err := os.Rename(c.Path, c.File); err != nil { // the user puts the conflict file in place
		t.Fatal(err)
	}
	f.mustOpen()
	if f.set.Replayed() != 0 || f.journals() != "" {
		t.Errorf("made again %d edits that the file holds: %s", f.set.Replayed(), f.journals())
	}
	f.close()
	f.only("a", "a.bak", "b", "b.bak")
}

// TestConflictAgain checks that edits made after a rescue are in the file of the next rescue.
func TestConflictAgain(t *testing.T) { ofBoth(t, testConflictAgain) }

func testConflictAgain(t *testing.T, kind *Kind) {
	t.Helper()
	f := newFolderOf(t, kind)
	f.mustOpen()
	f.edit("a", "1")
	f.put("a", "mine")
	first := f.conflict("a")
	if err := os.Remove(first.Path); err != nil { // the next rescue may need the same name
		t.Fatal(err)
	}
	f.edit("a", "2")
	f.holds(filepath.Base(f.conflict("a").Path), "a.12")
	f.close()
}

// TestConflictElsewhere checks that the conflict file goes to the journal's folder if it can't be
// written beside the file, and that nothing changes if both fail.
func TestConflictElsewhere(t *testing.T) {
	for _, op := range []string{"create", "write", "sync", "link"} {
		for _, faults := range []int{1, 2} {
			f := newFolder(t)
			left := faults
			d := disktest.New()
			d.SetBefore(savetest.Guarded(func(now disktest.Op) error {
				isOp := now.Name == op || op == "link" && strings.HasPrefix(now.Name, "rename")
				if !isOp || !strings.Contains(now.Path, ".conflict-") || faults == 1 && filepath.Dir(now.Path) != f.dir {
					return nil
				}
				left--
				return disktest.ErrFault
			}))
			f.opts.Disk = d
			f.mustOpen()
			f.edit("a", "1")
			f.put("a", "mine")
			if faults == 2 {
				if _, err := f.save("a"); !errors.Is(err, source.ErrChanged) || !errors.Is(err, disktest.ErrFault) {
					t.Errorf("%s: %v", op, err)
				}
			} else if c := f.conflict("a"); filepath.Dir(c.Path) != filepath.Dir(f.set.Journal()) {
				t.Errorf("%s: rescued to %s", op, c.Path)
			}
			if left > 0 {
				t.Errorf("%s was met too seldom", op)
			}
			f.only("a", "b")
			f.put("a", "a.")
			f.close()
			f.mustOpen()
			if f.texts["a"] != "a.1" {
				t.Errorf("%s: made again: %q", op, f.texts)
			}
			f.close()
		}
	}
}

// TestConflictAtLast checks that no file is lost that is put in place at the last moment.
func TestConflictAtLast(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		for at := range 100 {
			nth := at
			f := newFolderOf(t, kind)
			d := disktest.New()
			f.opts.Disk = d
			f.mustOpen()
			f.edit("a", "1")
			placing := false
			d.SetBefore(savetest.Guarded(func(op disktest.Op) error {
				if !op.Changes() || filepath.Dir(op.Path) != f.dir {
					return nil
				}
				if nth--; nth == -1 {
					placing = op.Path == f.path("a")
					f.put("a", "mine")
				}
				return nil
			}))
			c := f.conflict("a")
			f.holds("a", "mine")
			f.holds(filepath.Base(c.Path), "a.1")
			f.close()
			if placing || !disk.CanExchange && nth > 3 {
				return
			}
		}
		t.Error("the new file was never put in place")
	})
}

// TestConflictWhileEdited checks that an edit belongs to the file that was there when it was begun.
// A file that is put in place during the edit is another program's, also after a crash.
func TestConflictWhileEdited(t *testing.T) {
	for _, file := range []string{"a", "b"} {
		f := newFolder(t)
		f.mustOpen()
		if err := errors.Join(f.set.Begin("a"), f.apply("a", "1")); err != nil {
			t.Fatal(err)
		}
		if file == "b" { // its journal is removed meanwhile
			f.edit("b", "2")
			f.mustSave("b")
		}
		f.put("a", "mine")
		if err := f.set.Log("a", []byte("1")); err != nil {
			t.Fatal(err)
		}
		f.crash()
		if err := f.open(); !errors.Is(err, ErrStale) {
			t.Errorf("opened: %v", err)
		}
		f.put("a", "a.")
		f.mustOpen()
		if f.texts["a"] != "a.1" {
			t.Errorf("made again: %q", f.texts)
		}
		f.close()
	}
}

// TestBegin checks that a file that was begun but not edited is not saved, and may have changed
// when it is begun again.
func TestBegin(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	if err := f.set.Begin("a"); err != nil {
		t.Fatal(err)
	}
	if f.set.Pending() != 0 || f.set.Journal() != "" {
		t.Error("it counts as edited")
	}
	f.put("a", "b.")
	f.edit("a", "1")
	f.mustSave("a")
	f.close()
	f.holds("a", "b.1")
	if err := f.set.Begin("a"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("begun when closed: %v", err)
	}
}

// TestConflictDies checks that what a rescue leaves when its process dies is removed later.
func TestConflictDies(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	path := f.set.Journal()
	f.put("a", "mine")
	f.crash()
	const half = ".conflict-20261121-150000.lorefs-0123456789abcdef.tmp"
	f.put(".a"+half, "half of it")
	state, name := filepath.Split(strings.TrimSuffix(path, ".journal"))
	if err := os.WriteFile(filepath.Join(state, "."+name+"-a"+half), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.put("a", "a.")
	f.mustOpen()
	f.close()
	f.only("a", "b")
	left, err := os.ReadDir(state)
	if err != nil || len(left) != 2 || left[0].Name() != name+".base" || left[1].Name() != name+".journal" {
		t.Errorf("beside the journal are %v, %v", left, err)
	}
}
