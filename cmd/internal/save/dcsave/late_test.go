package dcsave

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk/disktest"
)

// TestReadWhilePutInPlace checks that a reader does not take the new file for another program's
// while a save puts it in place.
func TestReadWhilePutInPlace(t *testing.T) {
	p := newPlace(t, 0)
	var e *editing
	var seen error
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Name == "syncDir" && op.Path == p.dir {
			seen = e.src.CheckNow()
		}
		return nil
	})
	e = p.mustOpen(Options{Disk: d})
	e.mustSet("A", "a1")
	e.mustSave()
	if seen != nil {
		t.Errorf("during the save: %v", seen)
	}
	if err := e.src.CheckNow(); err != nil {
		t.Errorf("after the save: %v", err)
	}
	if err := e.set("A", "a2"); err != nil {
		t.Errorf("an edit after the save: %v", err)
	}
}

// TestReplacedAtLast checks that a file that another program puts in place at the last moment stays
// there and does not become the backup; the edits are saved beside it.
func TestReplacedAtLast(t *testing.T) {
	p := newPlace(t, 0)
	d := disktest.New()
	e := p.mustOpen(Options{Disk: d})
	e.mustSet("A", "a1")
	from := len(d.Ops())
	e.mustSave()
	e.close()
	ops := slices.DeleteFunc(d.Ops()[from:], savetest.OfBase)
	at := slices.IndexFunc(ops, func(op disktest.Op) bool { return op.Path == p.path && op.Name == "exchange" })
	if at < 0 {
		t.Skip("this system can't exchange files")
	}
	for nth, now := range ops[:at+1] {
		if filepath.Dir(now.Path) != p.dir || !now.Changes() {
			continue
		}
		t.Run(fmt.Sprintf("%d,%s", nth, now.Name), func(t *testing.T) {
			p := newPlace(t, 0)
			d := disktest.New()
			e := p.mustOpen(Options{Disk: d})
			e.mustSet("A", "a1")
			n := -1
			d.SetBefore(savetest.Guarded(func(op disktest.Op) error {
				if savetest.OfBase(op) {
					return nil
				}
				if n++; n == nth {
					p.put(build(theirs, 0))
				}
				return nil
			}))
			_, err := e.save()
			c, ok := errors.AsType[*save.ConflictError](err)
			if !ok {
				t.Fatalf("saved: %v", err)
			}
			p.want(p.path, theirs)
			p.want(c.Path, first().With("A", "a1"))
			if _, err := os.Lstat(p.path + ".bak"); err == nil {
				p.want(p.path+".bak", first())
			}
		})
	}
}
