package session

import (
	"testing"

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

// A file that somebody puts in the source's place at the last moment is not lost.
func TestReplacedAtLast(t *testing.T) {
	for _, step := range []replace.Step{replace.StepLink, replace.StepBackup, replace.StepSyncBackup, replace.StepRename} {
		t.Run(string(step), func(t *testing.T) {
			p := newPlace(t, 0)
			theirs := model{"T": "theirs"}
			e := p.mustOpen(Options{before: func(s replace.Step) error {
				if s == step {
					p.put(build(theirs, 0))
				}
				return nil
			}})
			e.mustSet("A", "a1")
			r, err := e.save()
			got, _ := read(t.Context(), p.path)
			bak, _ := read(t.Context(), p.path+".bak")
			t.Logf("save: %v %v; path %v, bak %v", r.Path, err, got, bak)
			if got["T"] == "" && bak["T"] == "" {
				t.Error("their file is gone")
			}
		})
	}
}
