package dcsave

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/internal/source"
)

// conflict edits, saves, edits again and replaces the source as another program does: the file that
// the second edit was made on has no name any more. It returns the error of saving.
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

// TestConflictElsewhere checks that the conflict file goes to the journal's folder if it can't be
// written beside the source.
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
}

func wantRescued(p *place, err error, m model) {
	p.t.Helper()
	c, ok := errors.AsType[*save.ConflictError](err)
	if !ok || filepath.Dir(c.Path) != filepath.Dir(p.journal()) {
		p.t.Fatalf("saved: %v", err)
	}
	p.want(c.Path, m)
}

// TestNoConflictFile overwrites the source in place, after which it can't be read any more.
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

// TestOverwrittenAfterASave overwrites a file that a save put in place. The process still has the
// first file, but what was edited since the save becomes a patch all the same.
func TestOverwrittenAfterASave(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.mustSave()
	e.mustSet("B", "b1")
	if err := os.Truncate(p.path, 100); err != nil {
		t.Fatal(err)
	}
	r, err := e.save()
	kept, ok := errors.AsType[*save.PatchError](err)
	if !ok || !errors.Is(err, source.ErrChanged) {
		t.Fatalf("saved: %v", err)
	}
	if r.Edits != 0 || r.Path != "" {
		t.Errorf("reported: %+v", r)
	}
	text, err := os.ReadFile(kept.Path)
	if err != nil || !bytes.Contains(text, []byte(`"b1"`)) || bytes.Contains(text, []byte(`"a1"`)) {
		t.Errorf("the patch is %s, %v", text, err)
	}
	p.only("a.dat", "a.dat.bak")
}
