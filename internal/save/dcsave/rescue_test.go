package dcsave

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/internal/disk/disktest"
	"lorefs/internal/save"
	"lorefs/internal/source"
)

// conflict edits, saves, edits again and has the source replaced: the file that the
// second edit was made on is nowhere any more. It gives the error of saving.
func conflict(p *place, o Options) (*editing, error) {
	p.t.Helper()
	e := p.mustOpen(o)
	e.mustSet("A", "a1")
	e.mustSave()
	e.mustSet("B", "b1")
	p.put(build(theirs, 0))
	_, err := e.save()
	return e, err
}

var (
	theirs = model{"T": "theirs"}
	rescue = first().With("A", "a1").With("B", "b1")
)

func TestConflict(t *testing.T) {
	p := newPlace(t, 0)
	e, err := conflict(p, Options{})
	c, ok := errors.AsType[*save.ConflictError](err)
	if !ok || !errors.Is(err, source.ErrChanged) || !strings.HasPrefix(c.Path, p.path+".conflict-") {
		t.Fatalf("saved: %v", err)
	}
	p.want(p.path, theirs)
	p.want(c.Path, rescue)
	_, err = e.save()
	if again, ok := errors.AsType[*save.ConflictError](err); !ok || again.Path != c.Path {
		t.Errorf("saved again: %v", err)
	}
	e.close()
	p.only("a.dat", "a.dat.bak", filepath.Base(c.Path))
	if !p.hasJournal() {
		t.Error("the journal is gone")
	}
	if _, err := p.open(Options{}); !errors.Is(err, save.ErrStale) {
		t.Errorf("opened: %v", err)
	}
	if err := os.Rename(c.Path, p.path); err != nil {
		t.Fatal(err)
	}
	e = p.mustOpen(Options{})
	if n := e.Replayed(); n != 0 || p.hasJournal() {
		t.Errorf("%d edits are made again although the file holds them", n)
	}
	e.close()
	p.want(p.path, rescue)
}

// Where nothing can be written beside the source, the journal's folder will do.
func TestConflictElsewhere(t *testing.T) {
	t.Run("gone", func(t *testing.T) {
		p := newPlace(t, 0)
		e := p.mustOpen(Options{})
		e.mustSet("A", "a1")
		if err := os.RemoveAll(p.dir); err != nil {
			t.Skip(err)
		}
		_, err := e.save()
		wantRescued(p, err, first().With("A", "a1"))
	})
	for _, op := range []string{"create", "write", "sync", "link"} {
		t.Run(op, func(t *testing.T) {
			p := newPlace(t, 0)
			d := disktest.New()
			d.Before = func(now disktest.Op) error {
				isOp := now.Name == op || op == "link" && strings.HasPrefix(now.Name, "rename")
				if isOp && strings.Contains(now.Path, ".conflict-") && filepath.Dir(now.Path) == p.dir {
					return disktest.ErrFault
				}
				return nil
			}
			_, err := conflict(p, Options{Disk: d})
			wantRescued(p, err, rescue)
			p.only("a.dat", "a.dat.bak")
		})
	}
}

func wantRescued(p *place, err error, m model) {
	p.t.Helper()
	c, ok := errors.AsType[*save.ConflictError](err)
	if !ok || filepath.Dir(c.Path) != filepath.Dir(p.journal()) {
		p.t.Fatalf("saved: %v", err)
	}
	p.want(c.Path, m)
}

// A rescue that fails leaves nothing half done, and the journal as it is.
func TestConflictInVain(t *testing.T) {
	p := newPlace(t, 0)
	changed := false
	d := disktest.New()
	d.Before = func(op disktest.Op) error {
		if changed && op.Name == "sync" && strings.Contains(op.Path, ".conflict-") {
			return disktest.ErrFault
		}
		return nil
	}
	e := p.mustOpen(Options{Disk: d})
	e.mustSet("A", "a1")
	mine := p.bytes()
	p.put(build(theirs, 0))
	changed = true
	_, err := e.save()
	if !errors.Is(err, disktest.ErrFault) || !errors.Is(err, source.ErrChanged) {
		t.Errorf("saved: %v", err)
	}
	p.only("a.dat")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(p.journal()), "*conflict*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	changed = false
	_, err = e.save() // there is room again
	c, ok := errors.AsType[*save.ConflictError](err)
	if !ok {
		t.Fatalf("saved again: %v", err)
	}
	p.want(c.Path, first().With("A", "a1"))
	e.close()
	p.put(mine) // and the edits are still in the journal
	e = p.mustOpen(Options{})
	e.mustSave()
	e.close()
	p.want(p.path, first().With("A", "a1"))
}

// Of a source that was written to in place nothing can be read any more.
func TestNoConflictFile(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	if err := os.Truncate(p.path, 100); err != nil {
		t.Fatal(err)
	}
	_, err := e.save()
	if _, ok := errors.AsType[*save.ConflictError](err); ok || !errors.Is(err, source.ErrChanged) {
		t.Errorf("saved: %v", err)
	}
	p.only("a.dat")
}

// A file that was put in place is what later edits are on top of. If it is written to in
// place, they are all that is left to be kept.
func TestNoConflictFileAfterASave(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.mustSave()
	e.mustSet("B", "b1")
	if err := os.Truncate(p.path, 100); err != nil {
		t.Fatal(err)
	}
	_, err := e.save()
	c, ok := errors.AsType[*save.TextError](err)
	if !ok || !errors.Is(err, source.ErrChanged) {
		t.Fatalf("saved: %v", err)
	}
	text, err := os.ReadFile(c.Path)
	if err != nil || !strings.Contains(string(text), "b1") || strings.Contains(string(text), "a1") {
		t.Errorf("the text is %q, %v", text, err)
	}
}
