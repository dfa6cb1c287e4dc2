package save

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/journal"
	"lorefs/internal/replace"
	"lorefs/internal/testneeds"
)

// dying is a folder whose moments are all recorded.
type dying struct {
	*folder
	*savetest.World
}

func newDying(t *testing.T, kind *Kind) *dying {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	t.Setenv("XDG_STATE_HOME", state)
	f := &folder{t: t, kind: kind, dir: filepath.Join(base, "source")}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first := savetest.Model{"a": "a."}
	if kind.Many {
		first = savetest.Model{"a": "a.", "b": "b.", "c": "c."}
	}
	for name, text := range first {
		f.put(name, text)
	}
	w := &dying{f, savetest.NewWorld(t, f.dir, state, first)}
	f.opts.Disk = w
	return w
}

// edits makes an edit in each of files, which are named by single letters.
func (w *dying) edits(files, record string) {
	w.t.Helper()
	for _, name := range files {
		file := string(name)
		if !w.kind.Many {
			file = "a"
		}
		w.Edit(w.Model().With(file, w.Model()[file]+record), func() {
			if err := w.log(file, record); err != nil {
				w.t.Fatal(err)
			}
		})
	}
}

func (w *dying) sync() {
	w.t.Helper()
	w.Sync(func() {
		if err := w.set.Sync(); err != nil {
			w.t.Fatal(err)
		}
	})
}

// saveAll saves all edited files at the same time.
func (w *dying) saveAll() (err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(w.texts)), func(file string) bool { return len(w.records[file]) == 0 })
	for _, file := range files {
		wg.Go(func() {
			w.Enter()
			defer w.Leave()
			_, saveErr := w.save(file)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, saveErr)
		})
	}
	wg.Wait()
	return err
}

func (w *dying) mustSaveAll() {
	w.t.Helper()
	w.Sync(func() {
		if err := w.saveAll(); err != nil {
			w.t.Fatal(err)
		}
	})
}

// finish saves what a moment has left, after one more edit and the death of one more process. It
// returns the content without that edit.
func (w *dying) finish(t *testing.T, damaged bool) savetest.Model {
	t.Helper()
	f := &folder{t: t, kind: w.kind, dir: w.dir, opts: Options{Disk: disktest.New()}} // does not wait for the real disk
	if damaged {
		if err := f.open(); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("a damaged journal: %v", err)
		}
	}
	f.opts.Salvage = damaged
	f.mustOpen()
	f.edit("a", "!")
	f.crash()
	f.mustOpen()
	for _, file := range slices.Sorted(maps.Keys(f.texts)) {
		f.mustSave(file)
	}
	f.close()
	got := savetest.Model{}
	for name := range w.Model() {
		b, err := os.ReadFile(filepath.Join(f.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(b)
	}
	text, edited := strings.CutSuffix(got["a"], "!")
	if got["a"] = text; !edited {
		t.Error("the last edit is missing")
	}
	return got
}

// TestCrashAnywhere checks that a process that dies, or a machine that loses power, at any moment
// loses nothing that was promised, also while several files are saved at the same time.
func TestCrashAnywhere(t *testing.T) { ofBoth(t, testCrashAnywhere) }

func testCrashAnywhere(t *testing.T, kind *Kind) {
	t.Helper()
	w := newDying(t, kind)
	w.mustOpen()
	w.edits("aba", "1")
	w.sync()
	w.edits("b", "2")
	w.mustSaveAll()
	w.edits("c", "3")
	w.sync()
	w.crash()
	w.Closed()
	w.mustOpen() // replays edits
	w.edits("a", "4")
	w.mustSaveAll()
	w.close()
	w.All(1, w.finish)
}

// TestCrashWhileEdited is TestCrashAnywhere for a save during which edits are made.
func TestCrashWhileEdited(t *testing.T) { ofBoth(t, testCrashWhileEdited) }

func testCrashWhileEdited(t *testing.T, kind *Kind) {
	t.Helper()
	w := newDying(t, kind)
	w.mustOpen()
	w.edits("ab", "1")
	w.sync()
	edits := 0
	w.SetBefore(func(op disktest.Op) error {
		err := w.Step(op)
		if op.Name == "write" && strings.Contains(op.Path, ".lorefs-") || op.Name == "rename" && strings.HasSuffix(op.Path, ".bak") {
			edits++
			w.edits("a", fmt.Sprintf("<%d>", edits)) // while the new file is written, and while the old one is kept
			if op.Name == "write" {
				w.sync()
			}
		}
		return err
	})
	w.Sync(func() { w.mustSave("a") })
	if edits != 2 || w.set.Pending() < 2 {
		t.Errorf("%d edits were made during the save, %d are pending", edits, w.set.Pending())
	}
	w.edits("a", "4")
	w.sync()
	w.SetBefore(w.Step)
	w.Sync(func() { w.mustSave("a") })
	w.edits("ba", "5")
	w.crash()
	w.Closed()
	w.All(1, w.finish)
}

// TestCrashAfterFailures is TestCrashAnywhere for saves of which one fails, with more edits and
// saves after it.
func TestCrashAfterFailures(t *testing.T) {
	testneeds.Seconds(t)
	for name := range savetest.Faults("") {
		t.Run(name, func(t *testing.T) {
			w := newDying(t, Folders)
			fails := savetest.Faults(w.path("a"))[name]
			w.SetBefore(func(op disktest.Op) error { return errors.Join(w.Step(op), fails(op)) })
			w.mustOpen()
			w.edits("ab", "1")
			w.sync()
			if err := w.saveAll(); !errors.Is(err, disktest.ErrFault) {
				t.Fatal(err)
			}
			if name == "sync folder" { // no edits are taken any more
				w.crash()
				w.Closed()
				w.mustOpen()
			}
			w.edits("a", "2")
			w.sync()
			w.mustSaveAll()
			w.edits("b", "3")
			w.crash()
			w.Closed()
			const some = 3 // TestCrashAnywhere meets most of them
			w.All(some, w.finish)
		})
	}
}

// TestSaveWithoutJournal checks that saving works although the journal fails.
func TestSaveWithoutJournal(t *testing.T) {
	for op, times := range map[string]int{"append S": 3, "append D": 3, "sync": 1, "remove": 1} {
		t.Run(op, func(t *testing.T) {
			f := newFolder(t)
			f.opts.Disk = savetest.Failing(op, times)
			f.mustOpen()
			for _, file := range []string{"a", "b"} {
				if err := f.log(file, "1"); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.set.Sync(); (err != nil) != (op == "sync") {
				t.Errorf("sync: %v", err)
			}
			f.mustSave("a")
			f.mustSave("b")
			f.holds("a", "a.1")
			f.holds("b", "b.1")
			if f.set.Pending() != 0 || f.set.Journal() != "" {
				t.Error("it counts as unsaved")
			}
			if want := map[bool]string{true: "in use 0"}[op == "remove"]; f.journals() != want {
				t.Errorf("journals: %s, want %q", f.journals(), want)
			}
			f.edit("b", "2")
			f.crash()
			f.mustOpen()
			if f.texts["b"] != "b.12" || len(f.texts) != 1 {
				t.Errorf("made again: %q", f.texts)
			}
			f.close()
		})
	}
}

// TestEditFails checks that an edit that the journal can't store is refused, and changes nothing
// else.
func TestEditFails(t *testing.T) { ofBoth(t, testEditFails) }

func testEditFails(t *testing.T, kind *Kind) {
	t.Helper()
	ops := []string{"create", "append E"}
	if kind.Many {
		ops = append(ops, "append F")
	}
	for _, op := range ops {
		t.Run(op, func(t *testing.T) {
			f := newFolderOf(t, kind)
			fails := 2
			if op != "create" {
				fails++ // it is tried again without the copy of the file
			}
			f.opts.Disk = savetest.Failing(op, fails)
			f.mustOpen()
			if kind.Many {
				if err := f.set.Begin("a"); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := f.set.Log(f.name("a"), []byte("no")); !errors.Is(err, disktest.ErrFault) {
					t.Fatal(err)
				}
			}
			if f.set.Pending() != 0 {
				t.Error("it counts as an edit")
			}
			f.edit("a", "1") // there is room again
			f.crash()
			f.mustOpen()
			if f.texts["a"] != "a.1" {
				t.Errorf("made again: %q", f.texts)
			}
			f.close()
		})
	}
}

// TestResumeSyncs checks that the journal is removed only when the new files are durable.
func TestResumeSyncs(t *testing.T) { ofBoth(t, testResumeSyncs) }

func testResumeSyncs(t *testing.T, kind *Kind) {
	t.Helper()
	f := newFolderOf(t, kind)
	f.opts.Disk = savetest.Unsynced(f.path("a"), 1)
	f.mustOpen()
	f.edit("a", "1")
	if _, err := f.save("a"); !errors.Is(err, replace.ErrUnsynced) {
		t.Fatal(err)
	}
	f.crash()
	f.opts = Options{Disk: savetest.Failing("sync folder", 1)}
	if err := f.open(); !errors.Is(err, disktest.ErrFault) {
		t.Errorf("%v", err)
	}
	if got := f.journals(); got != "saved 1" {
		t.Errorf("journals: %s", got)
	}
	f.mustOpen()
	f.holds("a", "a.1")
	if f.journals() != "" || len(f.texts) != 0 {
		t.Errorf("made again: %q", f.texts)
	}
	f.close()
}

// TestResumeKnowsSaved checks that edits that one session found to be saved count as saved for the
// next ones, whatever happens to the file, and although another file has unsaved edits.
func TestResumeKnowsSaved(t *testing.T) {
	for _, next := range []string{"mine", "a."} { // another program changes it, or the user puts the backup back
		f := newFolder(t)
		f.opts.Disk = savetest.Unsynced(f.path("a"), 1)
		f.mustOpen()
		f.edit("a", "1")
		f.edit("b", "2")
		if _, err := f.save("a"); !errors.Is(err, replace.ErrUnsynced) {
			t.Fatal(err)
		}
		f.crash()
		f.mustOpen()
		f.crash()
		f.put("a", next)
		f.mustOpen()
		if f.texts["b"] != "b.2" || len(f.texts) != 1 {
			t.Errorf("made again: %q", f.texts)
		}
		f.mustSave("b")
		f.close()
		f.holds("a", next)
		f.holds("b", "b.2")
	}
}

// TestFirstEditFails checks that a journal without edits is ignored, whatever the source is.
func TestFirstEditFails(t *testing.T) {
	for _, crash := range []bool{false, true} {
		ofBoth(t, func(t *testing.T, kind *Kind) {
			f := newFolderOf(t, kind)
			f.opts.Disk = savetest.Failing("append E", 2) // also without the copy of the file
			f.mustOpen()
			if err := f.log("a", "no"); !errors.Is(err, disktest.ErrFault) {
				t.Fatal(err)
			}
			empty := f.bytes()
			f.close()
			if f.journals() != "" {
				t.Error("an empty journal is left")
			}
			if crash {
				f.setBytes(empty)
			}
			f.put("a", "mine")
			f.wantReplayed(0, "mine")
		})
	}
}

// TestRemoveFails checks that the edits of a journal that could not be removed after a save count
// as saved.
func TestRemoveFails(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		f := newFolderOf(t, kind)
		f.opts.Disk = savetest.Failing("remove", 1000)
		f.mustOpen()
		f.edit("a", "1")
		f.mustSave("a")
		if err := f.log("a", "2"); !errors.Is(err, disktest.ErrFault) {
			t.Errorf("an edit that no journal can hold: %v", err)
		}
		f.crash()
		if got := f.describe(); got.State != StateSaved {
			t.Errorf("%+v", got)
		}
		f.opts.Disk = nil
		f.wantReplayed(0, "a.1")
	})
}

// TestLaterOfFailedSave checks that 'N' records of a save that failed before its announcement are
// not replayed on the file of the next save, which has these edits.
func TestLaterOfFailedSave(t *testing.T) { ofBoth(t, testLaterOfFailedSave) }

func testLaterOfFailedSave(t *testing.T, kind *Kind) {
	t.Helper()
	f := newFolderOf(t, kind)
	full, unsynced := savetest.Failing("append S", 1), savetest.Unsynced(f.path("a"), 1)
	edited := false
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Name == "write" && strings.Contains(op.Path, ".lorefs-") && !edited {
			edited = true
			f.edit("a", "2")
		}
		return errors.Join(full.Before(op), unsynced.Before(op))
	})
	f.opts.Disk = d
	f.mustOpen()
	f.edit("a", "1")
	if _, err := f.save("a"); !errors.Is(err, disktest.ErrFault) {
		t.Fatal(err)
	}
	f.holds("a", "a.")
	if kind.Many {
		f.edit("b", "3")
	}
	if _, err := f.save("a"); !errors.Is(err, replace.ErrUnsynced) {
		t.Fatal(err)
	}
	f.holds("a", "a.12")
	f.crash()
	f.opts.Disk = nil
	f.mustOpen()
	if text, again := f.texts["a"]; again {
		t.Errorf("made again on top of a.12: %q", text)
	}
	f.close()
}

// TestSyncAgain checks that files in place whose folders could not be synced are edited again once
// that succeeds, and that their edits are not made again.
func TestSyncAgain(t *testing.T) {
	f := newFolderOf(t, Folders)
	a, b := savetest.Unsynced(f.path("a"), 1), savetest.Unsynced(f.path("b"), 1)
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error { return errors.Join(a.Before(op), b.Before(op)) })
	f.opts.Disk = d
	f.mustOpen()
	f.edit("a", "1")
	f.edit("b", "1")
	for _, file := range []string{"a", "b"} {
		if _, err := f.save(file); !errors.Is(err, replace.ErrUnsynced) {
			t.Fatal(err)
		}
	}
	if err := f.set.Log("a", []byte("2")); !errors.Is(err, replace.ErrUnsynced) {
		t.Errorf("edited: %v", err)
	}
	if err := f.set.SyncAgain(); err != nil {
		t.Fatal(err)
	}
	if got := f.journals(); got != "" {
		t.Errorf("journals: %s", got)
	}
	f.edit("a", "3")
	f.crash()
	f.opts.Disk = nil
	f.wantReplayed(1, "a.13")
	f.holds("b", "b.1")
}
