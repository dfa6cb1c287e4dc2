package dcsave

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/savetest"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/disk"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/replace"
	"lorefs/internal/source"
)

// TestNothingEdited checks that nothing is written if nothing was edited.
func TestNothingEdited(t *testing.T) {
	p := newPlace(t, 0)
	before := p.bytes()
	e := p.mustOpen(Options{})
	if r := e.mustSave(); r.Path != "" || r.Edits != 0 {
		t.Errorf("%+v", r)
	}
	if err := e.Sync(); err != nil {
		t.Error(err)
	}
	e.close()
	if string(p.bytes()) != string(before) || p.hasJournal() {
		t.Error("something was written")
	}
	p.only("a.dat")
}

// TestSave saves edits in one save, in several, and in sessions that follow each other.
func TestSave(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	if p.journal() != e.Journal() {
		t.Errorf("the journal is %s, want %s", e.Journal(), p.journal())
	}
	e.mustSet("A", "")
	e.mustSet("D", "d1")
	r := e.mustSave()
	info, err := os.Stat(p.path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Path != p.path || r.Backup != p.path+".bak" || r.Bytes != info.Size() || r.Edits != 2 || r.Seconds <= 0 {
		t.Errorf("%+v", r) // what was set before a node was removed is no edit
	}
	p.want(p.path, model{"B": "b0", "C": "c0", "D": "d1"})
	p.want(p.path+".bak", first())
	e.mustSet("D", "d2")
	e.mustSet("A", "a2")
	if r = e.mustSave(); r.Edits != 2 {
		t.Errorf("%+v", r)
	}
	p.want(p.path+".bak", model{"B": "b0", "C": "c0", "D": "d1"})
	e.close()
	p.want(p.path, model{"A": "a2", "B": "b0", "C": "c0", "D": "d2"})
}

// TestNothingIsLeft checks that nothing is written, and that the journal goes, if edits undo each
// other, also if a crash has left them. What is edited next is edited on the same file.
func TestNothingIsLeft(t *testing.T) {
	for _, crash := range []bool{false, true} {
		p := newPlace(t, 0)
		before := p.bytes()
		e := p.mustOpen(Options{})
		e.mustSet("A", "a1")
		e.mustSet("D", "d1")
		e.mustSet("B", "")
		e.mustSet("A", "a0")
		e.mustSet("D", "")
		taken, err := e.Draft().Revert(t.Context(), nil, []edit.Target{{}})
		if err != nil || taken != 1 || e.Pending() {
			t.Fatalf("%d were taken back, %v", taken, err)
		}
		if crash {
			left, err := os.ReadFile(p.journal())
			if err != nil {
				t.Fatal(err)
			}
			e.close()
			if p.hasJournal() {
				t.Error("the journal of nothing was kept")
			}
			if err := os.WriteFile(p.journal(), left, 0o600); err != nil {
				t.Fatal(err)
			}
			e = p.mustOpen(Options{})
			if e.Replayed() != 0 || e.Pending() || e.Journal() == "" {
				t.Errorf("%d edits were left", e.Replayed())
			}
		}
		if r := e.mustSave(); r.Path != "" || r.Edits != 0 || p.hasJournal() || e.Journal() != "" {
			t.Errorf("crash %v: %+v, the journal is %q", crash, r, e.Journal())
		}
		p.only("a.dat")
		if string(p.bytes()) != string(before) {
			t.Error("the file was written")
		}
		e.mustSet("B", "b1")
		e.close()
		if !p.hasJournal() {
			t.Error("the next edit is in no journal")
		}
		wantReplayed(p, false, first().With("B", "b1"))
	}
}

// TestRevertRemovesJournal checks that the journal goes with the last edit that is taken back, so
// that nobody counts what is in it.
func TestRevertRemovesJournal(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.mustSet("D", "d1")
	for _, is := range []struct {
		back edit.Target
		left bool
	}{{edit.Target{Attribute: "nothing"}, true}, {edit.Target{}, false}} {
		if err := e.Revert(t.Context(), func() ([]edit.Target, error) { return []edit.Target{is.back}, nil }); err != nil {
			t.Fatal(err)
		}
		if e.Pending() != is.left || p.hasJournal() != is.left {
			t.Errorf("%v: pending %v, journal %v", is.back, e.Pending(), p.hasJournal())
		}
	}
	e.mustSet("B", "b1")
	e.close()
	wantReplayed(p, false, first().With("B", "b1"))
}

// TestNothingIsLeftToConvert checks that a conversion is saved although no edit is left.
func TestNothingIsLeftToConvert(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{Write: datacenter.WriteOptions{Layout: datacenter.LayoutV6X86}})
	e.mustSet("A", "a1")
	e.mustSet("A", "a0")
	if r := e.mustSave(); r.Path == "" || r.Edits != 0 || p.hasJournal() {
		t.Errorf("%+v", r)
	}
	e.close()
	p.want(p.path, first())
}

func TestNoBackup(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{NoBackup: true})
	e.mustSet("A", "a1")
	if r := e.mustSave(); r.Backup != "" {
		t.Errorf("%+v", r)
	}
	e.close()
	p.only("a.dat")
	p.want(p.path, first().With("A", "a1"))
}

// TestConverts checks that a layout is converted once, with edits or without.
func TestConverts(t *testing.T) {
	for _, edits := range []bool{false, true} {
		p := newPlace(t, 0)
		want := first()
		e := p.mustOpen(Options{Write: datacenter.WriteOptions{Layout: datacenter.LayoutV6X86}})
		if !e.Converts() || !e.Pending() {
			t.Error("the layout would stay")
		}
		if edits {
			e.mustSet("A", "a1")
			want["A"] = "a1"
		}
		if r := e.mustSave(); r.Path == "" || r.Edits > 1 {
			t.Errorf("%+v", r)
		}
		if e.Converts() || e.Pending() || e.mustSave().Path != "" {
			t.Error("it was converted, and still is to be")
		}
		p.want(p.path, want)
		e.mustSet("B", "b1")
		e.close()
		e = p.mustOpen(Options{})
		if e.dc.Layout() != datacenter.LayoutV6X86 || e.Replayed() != 1 || e.Converts() {
			t.Errorf("it has the layout %v, and %d edits", e.dc.Layout(), e.Replayed())
		}
		e.mustSave()
		p.want(p.path, want.With("B", "b1"))
		e.close()
	}
}

// TestConversionUnsynced checks that a conversion that fails at the last step is repeated.
func TestConversionUnsynced(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{
		Write: datacenter.WriteOptions{Layout: datacenter.LayoutV6X86}, Disk: savetest.Unsynced(p.path, 1),
	})
	if _, err := e.save(); !errors.Is(err, replace.ErrUnsynced) {
		t.Fatal(err)
	}
	if !e.Pending() {
		t.Error("nothing is pending")
	}
	if r := e.mustSave(); r.Path == "" || e.Pending() {
		t.Errorf("%+v", r)
	}
	e.mustSet("A", "a1")
	e.close()
	wantReplayed(p, false, first().With("A", "a1"))
}

// TestLink checks that the file that a link leads to is edited, and that the link stays a link.
func TestLink(t *testing.T) {
	p := newPlace(t, 0)
	link := filepath.Join(filepath.Dir(p.dir), "link.dat")
	if err := os.Symlink(p.path, link); err != nil {
		t.Skip(err)
	}
	e, err := p.openAt(link, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.mustSet("A", "a1")
	if _, err := p.open(Options{}); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("by its other path: %v", err)
	}
	e.mustSave()
	e.mustSet("A", "a2") // works with the new file behind the link
	e.close()
	if _, err := os.Readlink(link); err != nil {
		t.Error(err)
	}
	wantReplayed(p, false, first().With("A", "a2"))
}

// TestSourceReplaced checks that a file of another program stays in place, and the edits in the
// journal.
func TestSourceReplaced(t *testing.T) {
	p := newPlace(t, 0)
	theirs, mine := build(model{"X": "x"}, 0), p.bytes()
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	p.put(theirs)
	if _, err := e.save(); !errors.Is(err, source.ErrChanged) {
		t.Errorf("saved: %v", err)
	}
	if err := e.set("A", "a2"); !errors.Is(err, source.ErrChanged) {
		t.Errorf("edited: %v", err)
	}
	e.close()
	if string(p.bytes()) != string(theirs) {
		t.Error("their file has changed")
	}
	for range 2 { // the second try finds the same
		_, err := p.open(Options{})
		stale, ok := errors.AsType[*save.StaleError](err)
		if !ok || !errors.Is(err, save.ErrStale) || stale.Edits != 1 || stale.File != p.path || stale.Journal != p.journal() {
			t.Fatalf("%v", err)
		}
		if got := p.describe(); got.State != "stale" || got.Edits != 1 {
			t.Errorf("%+v", got)
		}
	}
	p.put(mine)
	if got := p.describe(); got.State != "not saved yet" {
		t.Errorf("%+v", got)
	}
	e = p.mustOpen(Options{})
	e.mustSave()
	p.want(p.path, first().With("A", "a1"))
	e.close()
}

// TestReplacedBeforeOpen replaces the source between opening it and editing it, as another session
// does that saves.
func TestReplacedBeforeOpen(t *testing.T) {
	p := newPlace(t, 0)
	src, err := source.Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dc, err := datacenter.Open(t.Context(), src, src.Size(), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.mustSave()
	e.close()
	if _, err := Open(t.Context(), src, dc, Options{}); !errors.Is(err, source.ErrChanged) {
		t.Errorf("%v", err)
	}
	p.want(p.path, first().With("A", "a1"))
}

// TestSourceMoved checks that the edits of a source that was moved are found again only when it is
// moved back.
func TestSourceMoved(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.close()
	moved := p.path + "2"
	if err := os.Rename(p.path, moved); err != nil {
		t.Fatal(err)
	}
	if got := p.describe(); got.State != "stale" || got.Source != p.path || !strings.Contains(got.Problem, "no such file") {
		t.Errorf("%+v", got)
	}
	e, err := p.openAt(moved, Options{})
	if err != nil || e.Replayed() != 0 {
		t.Fatal(err)
	}
	e.close()
	if err := os.Rename(moved, p.path); err != nil {
		t.Fatal(err)
	}
	wantReplayed(p, false, first().With("A", "a1"))
}

// TestUnusable checks that a file that is not a journal, or has edits that can't be replayed, is
// kept and reported.
func TestUnusable(t *testing.T) {
	p := newPlace(t, 0)
	is := p.bytes()
	head := fmt.Sprintf(`{"source":%q,"size":%d,"sha256":"%x"}`, p.path, len(is), sha256.Sum256(is))
	for name, make := range map[string]func() error{
		"header":       func() error { return writeJournal(p.journal(), "not JSON", "E") },
		"kind":         func() error { return writeJournal(p.journal(), head, "E", "X") },
		"saving":       func() error { return writeJournal(p.journal(), head, "E", "S{") },
		"edit":         func() error { return writeJournal(p.journal(), head, "E\xff") },
		"unknown node": func() error { return writeJournal(p.journal(), head, "E\x04\x70") },
	} {
		t.Run(name, func(t *testing.T) {
			if err := make(); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(p.journal()) // fails for a folder
			_, err := p.open(Options{})
			broken, ok := errors.AsType[*save.JournalError](err)
			if !ok || broken.Path != p.journal() || !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), p.journal()) {
				t.Errorf("%v", err)
			}
			if after, _ := os.ReadFile(p.journal()); string(after) != string(before) {
				t.Error("the journal was changed")
			}
			if got := p.describe(); got.State != "damaged" && name != "edit" && name != "unknown node" {
				t.Errorf("%+v", got)
			}
			if _, err := drop(p.path); err != nil {
				t.Errorf("can't be dropped: %v", err)
			}
		})
	}
	p.want(p.path, first())
}

func writeJournal(path, head string, records ...string) error {
	j, err := journal.Create(disk.OS{}, path, []byte(head))
	if err != nil {
		return err
	}
	for _, r := range records {
		err = errors.Join(err, j.Append([]byte(r)))
	}
	return errors.Join(err, j.Close())
}

// TestReplayCancelled checks that a journal does not count as damaged if its replay is cancelled.
func TestReplayCancelled(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.close()
	src, err := source.Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dc, err := datacenter.Open(t.Context(), src, src.Size(), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, src, dc, Options{})
	if !errors.Is(err, context.Canceled) || errors.Is(err, journal.ErrDamaged) {
		t.Errorf("%v", err)
	}
	wantReplayed(p, false, first().With("A", "a1"))
}

// TestClosed checks that a closed session takes no edits, and syncs nothing.
func TestClosed(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	e.mustSet("A", "a1")
	e.close()
	if err := e.set("A", "a2"); err == nil {
		t.Error("an edit was taken")
	}
	if err := e.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	wantReplayed(p, false, first().With("A", "a1"))
}
