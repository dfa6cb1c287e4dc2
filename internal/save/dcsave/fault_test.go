package dcsave

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lorefs/internal/disk/disktest"
	"lorefs/internal/journal"
	"lorefs/internal/replace"
	"lorefs/internal/save/savetest"
)

// A save of which any operation fails leaves a whole file, old or new, and all edits.
func TestSaveFails(t *testing.T) {
	p := newPlace(t, 0)
	d := disktest.New()
	e := p.mustOpen(Options{Disk: d})
	editBefore(e)
	from := len(d.Ops())
	e.mustSave()
	e.close()
	failed, unsynced := 0, 0
	for nth, op := range d.Ops()[from:] {
		if op.Name == "stat" {
			continue // what can't be told apart from others' files is left to them
		}
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d,%s,dies=%v", nth, op.Name, dies), func(t *testing.T) {
				err := testSaveFails(t, nth, dies)
				if err != nil {
					failed++
				}
				if errors.Is(err, replace.ErrUnsynced) {
					unsynced++
				}
			})
		}
	}
	if failed < 12 || unsynced == 0 {
		t.Errorf("%d saves failed, %d of them at the end", failed, unsynced)
	}
}

func editBefore(e *editing) {
	e.mustSet("A", "a1")
	e.mustSet("D", "d1")
	e.mustSet("B", "")
}

func testSaveFails(t *testing.T, nth int, dies bool) error {
	t.Helper()
	p := newPlace(t, 0)
	before := p.bytes()
	d := disktest.New()
	e := p.mustOpen(Options{Disk: d})
	editBefore(e)
	edited := model{"A": "a1", "C": "c0", "D": "d1"}
	d.Before = func(disktest.Op) error {
		if nth--; nth == -1 {
			return disktest.ErrFault
		}
		return nil
	}
	r, err := e.save()
	d.Before = nil
	if err == nil { // as it was the journal's, or a second name's
		p.want(p.path, edited)
		e.close()
		wantReplayed(p, true, edited)
		return nil
	}
	if !errors.Is(err, disktest.ErrFault) || r.Problem != "" {
		t.Fatalf("saved: %+v, %v", r, err)
	}
	unsynced := errors.Is(err, replace.ErrUnsynced)
	if (r.Path != "") != unsynced {
		t.Errorf("%+v, %v", r, err)
	}
	switch {
	case unsynced:
		p.want(p.path, edited)
	case string(p.bytes()) != string(before):
		t.Error("the source has changed")
	}
	if !p.hasJournal() {
		t.Error("there is no journal any more")
	}
	if dies {
		e.close()
		wantReplayed(p, unsynced, edited)
		return err
	}
	if err := e.set("C", "c1"); (err != nil) != unsynced {
		t.Errorf("an edit afterwards: %v", err)
	} else if err == nil {
		edited["C"] = "c1"
	}
	e.mustSave()
	p.want(p.path, edited)
	p.want(p.path+".bak", first())
	p.only("a.dat", "a.dat.bak")
	if p.hasJournal() || e.Pending() {
		t.Error("all is saved, and there is a journal still")
	}
	e.mustSet("E", "e1") // and on it goes
	e.close()
	wantReplayed(p, false, edited.With("E", "e1"))
	return err
}

// wantReplayed opens the source after a crash, saves, and checks what there is.
func wantReplayed(p *place, saved bool, m model) {
	p.t.Helper()
	e := p.mustOpen(Options{})
	defer e.close()
	if saved {
		if e.Replayed() != 0 || e.Pending() {
			p.t.Errorf("replayed %d edits that were saved", e.Replayed())
		}
	} else if e.Replayed() == 0 || !e.Pending() {
		p.t.Errorf("replayed %d edits", e.Replayed())
	}
	e.mustSave()
	p.want(p.path, m)
	p.only("a.dat", "a.dat.bak")
	if p.hasJournal() {
		p.t.Error("there is a journal still")
	}
}

// An edit that the journal can't take is refused, and nothing else happens.
func TestEditFails(t *testing.T) {
	for _, op := range []string{"create", "append E"} {
		t.Run(op, func(t *testing.T) {
			p := newPlace(t, 0)
			e := p.mustOpen(Options{Disk: savetest.Failing(op, 2)})
			for range 2 {
				if err := e.set("A", "no"); !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("%v", err)
				}
			}
			if e.Pending() {
				t.Error("the edit was made")
			}
			e.mustSet("A", "a1") // there is room again
			if err := e.Sync(); err != nil {
				t.Error(err)
			}
			e.close()
			wantReplayed(p, false, first().With("A", "a1"))
		})
	}
}

// A journal without edits is worth nothing, whatever the source is.
func TestFirstEditFails(t *testing.T) {
	for _, crash := range []bool{false, true} {
		p := newPlace(t, 0)
		e := p.mustOpen(Options{Disk: savetest.Failing("append E", 1)})
		if err := e.set("A", "no"); err == nil {
			t.Fatal("no error")
		}
		empty, err := os.ReadFile(p.journal())
		if err != nil {
			t.Fatal(err)
		}
		e.close()
		if p.hasJournal() {
			t.Error("an empty journal is left")
		}
		if crash {
			if err := os.WriteFile(p.journal(), empty, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.put(build(model{"X": "x"}, 0))
		e = p.mustOpen(Options{})
		if p.hasJournal() || e.Replayed() > 0 {
			t.Error("an empty journal is kept")
		}
		e.close()
	}
}

// What the journal can't do is no reason not to save.
func TestSaveWithoutJournal(t *testing.T) {
	for op, times := range map[string]int{"append S": 1, "sync": 1, "remove": 1} {
		t.Run(op, func(t *testing.T) {
			p := newPlace(t, 0)
			e := p.mustOpen(Options{Disk: savetest.Failing(op, times)})
			e.mustSet("A", "a1")
			if op == "sync" {
				if err := e.Sync(); !errors.Is(err, disktest.ErrFault) {
					t.Errorf("sync: %v", err)
				}
				if err := e.set("A", "a2"); !errors.Is(err, journal.ErrUnusable) {
					t.Errorf("an edit that may not last: %v", err)
				}
			}
			if r := e.mustSave(); r.Edits != 1 || r.Problem != "" {
				t.Errorf("%+v", r)
			}
			saved := first().With("A", "a1")
			p.want(p.path, saved)
			if got := p.hasJournal(); got != (op == "remove") {
				t.Errorf("there is a journal: %v", got)
			}
			if e.Journal() != "" || e.Pending() {
				t.Error("it counts as unsaved")
			}
			e.mustSet("B", "b1")
			e.close()
			wantReplayed(p, false, saved.With("B", "b1"))
		})
	}
}

// A journal that can't be removed after a save is known to be saved.
func TestRemoveFails(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{Disk: savetest.Failing("remove", 1000)})
	e.mustSet("A", "a1")
	e.mustSave()
	if err := e.set("B", "b1"); !errors.Is(err, disktest.ErrFault) {
		t.Errorf("an edit that no journal can hold: %v", err)
	}
	if r := e.mustSave(); r.Path != "" {
		t.Errorf("saved again: %+v", r)
	}
	e.close()
	if got := p.describe(); got.State != "saved" {
		t.Errorf("%+v", got)
	}
	wantReplayed(p, true, first().With("A", "a1"))
}

// Whoever died between the two left a new file that may not last. The journal
// goes only once it does.
func TestResumeSyncs(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{Disk: savetest.Unsynced(p.path, 1)})
	e.mustSet("A", "a1")
	if _, err := e.save(); !errors.Is(err, replace.ErrUnsynced) {
		t.Fatal(err)
	}
	e.close()
	if _, err := p.open(Options{Disk: savetest.Failing("sync folder", 1)}); !errors.Is(err, disktest.ErrFault) {
		t.Errorf("%v", err)
	}
	if !p.hasJournal() {
		t.Error("the journal is gone")
	}
	wantReplayed(p, true, first().With("A", "a1"))
}

// As long as the new file may not outlast a power cut, saving fails, and the
// backup stays what it is.
func TestUnsyncedAgain(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{Disk: savetest.Unsynced(p.path, 3)})
	e.mustSet("A", "a1")
	for range 3 {
		if _, err := e.save(); !errors.Is(err, replace.ErrUnsynced) {
			t.Fatal(err)
		}
		if err := e.set("B", "b1"); !errors.Is(err, replace.ErrUnsynced) {
			t.Errorf("%v", err)
		}
		p.want(p.path+".bak", first())
	}
	if r := e.mustSave(); r.Edits != 1 || r.Backup != p.path+".bak" {
		t.Errorf("%+v", r)
	}
	p.want(p.path+".bak", first())
	e.mustSet("B", "b1")
	e.mustSave()
	p.want(p.path, model{"A": "a1", "B": "b1", "C": "c0"})
	p.want(p.path+".bak", first().With("A", "a1"))
	e.close()
}

// Somebody removes the journal while it is in use: edits are refused, as nobody
// would find them after a crash, until all is saved.
func TestJournalTakenAway(t *testing.T) {
	for name, take := range map[string]func(p *place) error{
		"journal": func(p *place) error { return os.Remove(p.journal()) },
		"folder":  func(p *place) error { return os.RemoveAll(filepath.Dir(p.journal())) },
		"all":     func(p *place) error { return os.RemoveAll(p.state) },
		"replaced": func(p *place) error {
			return errors.Join(os.Remove(p.journal()), os.WriteFile(p.journal(), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, 0)
			e := p.mustOpen(Options{})
			e.mustSet("A", "a1")
			if err := take(p); err != nil {
				t.Fatal(err)
			}
			if err := e.set("B", "b1"); err == nil || !strings.Contains(err.Error(), "removed by somebody") {
				t.Errorf("%v", err)
			}
			e.mustSave()
			e.mustSet("B", "b1")
			e.close()
			wantReplayed(p, false, model{"A": "a1", "B": "b1", "C": "c0"})
		})
	}
}
