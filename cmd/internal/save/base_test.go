package save

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk/disktest"
)

// TestBaseFails checks that an edit needs no copy of what is edited: whatever fails while one is made,
// the edit is in the journal, and what is kept is the whole copy or none.
func TestBaseFails(t *testing.T) { ofBoth(t, testBaseFails) }

func testBaseFails(t *testing.T, kind *Kind) {
	t.Helper()
	first := newBased(t, kind, nil)
	var names []string
	for nth, op := range slices.DeleteFunc(first.disk.Ops(), func(op disktest.Op) bool { return !savetest.OfBase(op) }) {
		names = append(names, op.Name)
		for _, short := range []bool{false, true} {
			t.Run(op.Name, func(t *testing.T) {
				b := newBased(t, kind, func(d *disktest.Disk) {
					d.Short = short
					d.SetBefore(savetest.Guarded(func(op disktest.Op) error {
						if savetest.OfBase(op) {
							if nth--; nth == -1 {
								return disktest.ErrFault
							}
						}
						return nil
					}))
				})
				b.check()
			})
		}
	}
	for _, name := range []string{"create", "write", "close", "rename", "sync", "syncDir"} {
		if !slices.Contains(names, name) {
			t.Errorf("no base needed to %s: %q", name, names)
		}
	}
}

// based is a file that was edited, while its base was kept or could not be kept. Its process has died.
type based struct {
	*folder
	disk *disktest.Disk
}

func newBased(t *testing.T, kind *Kind, set func(d *disktest.Disk)) *based {
	t.Helper()
	b := &based{newFolderOf(t, kind), disktest.New()}
	if set != nil {
		set(b.disk)
	}
	b.opts.Disk = b.disk
	b.mustOpen()
	b.edit("a", "1")
	if err := b.set.Sync(); err != nil {
		t.Fatal(err)
	}
	b.crash()
	return b
}

// check overwrites the file, and asks the journal what it was made on. Then it brings the file back.
func (b *based) check() {
	b.t.Helper()
	b.put("a", "another")
	j, err := Kinds{b.kind}.Find(b.source())
	if err != nil || j.State != StateStale || j.Edits != 1 {
		b.t.Fatalf("the journal is %+v, %v", j, err)
	}
	if on := j.Base(); on != "" {
		if b.kind.Many {
			on = filepath.Join(on, "a")
		}
		if text, err := os.ReadFile(on); err != nil || string(text) != "a." {
			b.t.Errorf("the base is %q, %v", text, err)
		}
	}
	b.put("a", "a.")
	b.opts.Disk = disktest.New()
	b.mustOpen()
	if b.texts["a"] != "a.1" {
		b.t.Errorf("made again: %q", b.texts)
	}
	b.mustSave("a")
	b.close()
	if _, err := os.Lstat(basesOf(j.Path)); err == nil {
		b.t.Error("the base outlasts its journal")
	}
}

// TestBaseGivenUp checks that the copy of what is edited goes if the journal needs its room.
func TestBaseGivenUp(t *testing.T) { ofBoth(t, testBaseGivenUp) }

func testBaseGivenUp(t *testing.T, kind *Kind) {
	t.Helper()
	f := newFolderOf(t, kind)
	d := disktest.New()
	f.opts.Disk = d
	f.mustOpen()
	f.edit("a", "1")
	dir := f.set.ledger.basesDir()
	if _, err := os.Lstat(dir); err != nil {
		t.Fatal(err)
	}
	d.SetBefore(func(op disktest.Op) error {
		if _, err := os.Lstat(dir); err == nil && op.Name == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	f.edit("a", "2")
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the base is still there")
	}
	d.SetBefore(nil)
	f.crash()
	f.mustOpen()
	if f.texts["a"] != "a.12" {
		t.Errorf("made again: %q", f.texts)
	}
	f.close()
}
