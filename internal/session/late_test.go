package session

import (
	"errors"
	"os"
	"slices"
	"testing"

	"lorefs/internal/pending"
	"lorefs/internal/pending/pendingtest"
	"lorefs/internal/replace"
)

// Whoever reads while a save puts the new file in place must not take it for a
// stranger's.
func TestReadWhilePutInPlace(t *testing.T) {
	p := newPlace(t, 0)
	var e *editing
	var seen error
	e = p.mustOpen(Options{before: func(s replace.Step) error {
		if s == replace.StepSyncDir {
			seen = e.src.CheckNow()
		}
		return nil
	}})
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

// A file that somebody puts in the source's place at the last moment keeps it, and does
// not become the backup: what was edited is saved beside it.
func TestReplacedAtLast(t *testing.T) {
	from := slices.Index(pendingtest.Steps, replace.StepCheck)
	to := slices.Index(pendingtest.Steps, replace.StepRename)
	for _, step := range pendingtest.Steps[from : to+1] {
		t.Run(string(step), func(t *testing.T) {
			p := newPlace(t, 0)
			e := p.mustOpen(Options{before: func(s replace.Step) error {
				if s == step {
					p.put(build(theirs, 0))
				}
				return nil
			}})
			e.mustSet("A", "a1")
			_, err := e.save()
			c, ok := errors.AsType[*pending.ConflictError](err)
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
