package dcsave

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/replace"
	"lorefs/internal/testneeds"
)

// TestSaveFails checks that when any operation of a save fails, a whole file, old or new, and all
// edits are kept.
func TestSaveFails(t *testing.T) {
	testneeds.Seconds(t)
	t.Run("spliced", func(t *testing.T) { testSavesFail(t, save.How{}) })
	if testneeds.Quick() {
		return // TestCrashAfterFailures packs as well
	}
	t.Run("packed", func(t *testing.T) { testSavesFail(t, save.How{Repack: true}) })
}

func testSavesFail(t *testing.T, how save.How) {
	t.Helper()
	p := newPlace(t, 0)
	p.how = how
	d := disktest.New()
	e := p.mustOpen(Options{Disk: d})
	editBefore(e)
	from := len(d.Ops())
	e.mustSave()
	e.close()
	if isSpliced := p.spliced.Load() > 0; isSpliced == how.Repack {
		t.Fatalf("spliced: %v", isSpliced)
	}
	failed, unsynced := 0, 0
	for nth, op := range slices.DeleteFunc(d.Ops()[from:], savetest.OfBase) {
		if op.Name == "stat" {
			continue // a file that can't be examined may be another program's, and stays
		}
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d,%s,dies=%v", nth, op.Name, dies), func(t *testing.T) {
				err := testSaveFails(t, how, nth, dies)
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

func testSaveFails(t *testing.T, how save.How, nth int, dies bool) error {
	t.Helper()
	p := newPlace(t, 0)
	p.how = how
	before := p.bytes()
	d := disktest.New()
	e := p.mustOpen(Options{Disk: d})
	editBefore(e)
	edited := model{"A": "a1", "C": "c0", "D": "d1"}
	d.SetBefore(savetest.Guarded(func(op disktest.Op) error {
		if savetest.OfBase(op) {
			return nil
		}
		if nth--; nth == -1 {
			return disktest.ErrFault
		}
		return nil
	}))
	r, err := e.save()
	d.SetBefore(nil)
	if err == nil { // the operation was one of the journal, or of a second name
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
	e.mustSet("E", "e1") // edits still work
	e.close()
	wantReplayed(p, false, edited.With("E", "e1"))
	return err
}

// wantReplayed opens the source after a crash, saves, and checks the content.
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

// TestUnsyncedAgain checks that saving fails as long as the folder can't be synced, and that the
// backup stays the same.
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
