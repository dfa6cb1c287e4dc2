package dcsave

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/journal"
	"lorefs/internal/testneeds"
)

// dying is a place whose moments are all recorded.
type dying struct {
	*place
	*savetest.World
}

func newDying(t *testing.T) *dying {
	t.Helper()
	p := newPlace(t, 0)
	return &dying{p, savetest.NewWorld(t, p.dir, p.state, first())}
}

// edit makes edits, given as pairs of a name and a value. Any goroutine may call it.
func (w *dying) edit(e *editing, pairs ...string) {
	w.t.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		w.Edit(w.Model().With(pair[0], pair[1]), func() {
			if err := e.set(pair[0], pair[1]); err != nil {
				w.t.Error(err)
			}
		})
	}
}

func (w *dying) sync(e *editing) {
	w.t.Helper()
	w.Sync(func() {
		if err := e.Sync(); err != nil {
			w.t.Fatal(err)
		}
	})
}

func (w *dying) save(e *editing) {
	w.t.Helper()
	w.Sync(func() { e.mustSave() })
}

// finish saves what a moment has left.
func (w *dying) finish(t *testing.T, damaged bool) model {
	t.Helper()
	p := *w.place
	p.t = t
	if _, err := read(t.Context(), p.path); err != nil {
		t.Fatalf("the source is not whole: %v", err)
	}
	if damaged {
		if _, err := p.open(Options{}); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("a damaged journal: %v", err)
		}
	}
	e := p.mustOpen(Options{Salvage: damaged, Disk: disktest.New()}) // does not wait for the real disk
	e.mustSave()
	e.close()
	got, err := read(t.Context(), p.path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestCrashAnywhere checks that a session that dies at any moment, or whose machine loses power,
// loses nothing that was promised.
func TestCrashAnywhere(t *testing.T) {
	w := newDying(t)
	o := Options{Disk: w}
	e := w.mustOpen(o)
	w.edit(e, "A", "a1", "D", "d1")
	w.sync(e)
	w.edit(e, "B", "")
	w.save(e)
	w.edit(e, "D", "d2", "E", "e1")
	w.sync(e)
	w.edit(e, "E", "")
	w.save(e)
	w.edit(e, "C", "c1", "B", "b2")
	e.close()
	w.Closed()

	e = w.mustOpen(o) // replays edits
	w.edit(e, "A", "")
	w.sync(e)
	w.edit(e, "F", "f1")
	w.save(e)
	e.close()
	if n := w.spliced.Load(); n < 3 {
		t.Errorf("%d saves have spliced the file", n)
	}
	w.All(1, w.finish)
}

// TestCrashAfterFailures is TestCrashAnywhere for saves that fail, with more edits and saves after
// them, and for a session that finds what a crash after a save has left.
func TestCrashAfterFailures(t *testing.T) {
	testneeds.Seconds(t)
	for name := range savetest.Faults("") {
		t.Run(name, func(t *testing.T) {
			w := newDying(t)
			w.how.Repack = name == "sync" || name == "keep"
			fails := savetest.Faults(w.path)[name]
			w.SetBefore(func(op disktest.Op) error { return errors.Join(w.Step(op), fails(op)) })
			o := Options{Disk: w}
			e := w.mustOpen(o)
			w.edit(e, "A", "a1")
			w.sync(e)
			if _, err := e.save(); !errors.Is(err, disktest.ErrFault) {
				t.Fatal(err)
			}
			if name == "sync folder" {
				e.close()
				w.Closed()
				e = w.mustOpen(o) // finds everything saved
			}
			w.edit(e, "D", "d1", "A", "a2")
			w.sync(e)
			w.edit(e, "B", "")
			w.save(e)
			w.edit(e, "D", "d2")
			e.close()
			some := 4 // TestCrashAnywhere meets most of them
			if testneeds.Quick() {
				some = 40
			}
			w.All(some, w.finish)
		})
	}
}

// TestCrashWhileEdited is TestCrashAnywhere for saves during which edits are made. These are in the
// journal, and are neither lost nor replayed on the wrong file, where their numbers belong to other
// nodes.
func TestCrashWhileEdited(t *testing.T) {
	testneeds.Seconds(t)
	w := newDying(t)
	e := w.mustOpen(Options{Disk: w})
	w.edit(e, "A", "a1", "D", "d1")
	w.sync(e)
	// C and D have other numbers in the new file.
	meanwhile := &edits{list: [][]string{{"C", "c1", "E", "e1"}, {"E", "", "D", "d2"}, {"F", "f1"}}}
	w.SetBefore(func(op disktest.Op) error {
		err := w.Step(op)
		isNew := strings.Contains(op.Path, ".lorefs-") || strings.HasSuffix(op.Path, ".bak")
		if isNew && (op.Name == "write" || op.Name == "sync" || op.Name == "rename") {
			if next, ok := meanwhile.take(); ok {
				w.edit(e, next...)
			}
		}
		return err
	})
	w.edit(e, "B", "")
	w.save(e)
	if next, ok := meanwhile.take(); ok || e.Draft().Pending() == 0 {
		t.Errorf("%v was not edited during the save, %d edits are pending", next, e.Draft().Pending())
	}
	w.edit(e, "C", "c2")
	w.sync(e)
	meanwhile.add([]string{"A", "a2"}, []string{"C", ""})
	w.save(e)
	w.edit(e, "A", "a3", "D", "d3")
	e.close()
	w.Closed()
	w.All(1, w.finish)
}

// edits are still to be made. Operations in the background look for them, too.
type edits struct {
	mu   sync.Mutex
	list [][]string
}

func (x *edits) add(list ...[]string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = append(x.list, list...)
}

// take returns the next edits.
func (x *edits) take() (next []string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.list) == 0 {
		return nil, false
	}
	next, x.list = x.list[0], x.list[1:]
	return next, true
}

// TestSaveWhileEdited makes edits while many saves run.
func TestSaveWhileEdited(t *testing.T) {
	testneeds.Seconds(t)
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	stop, done := make(chan bool), make(chan model)
	go func() {
		m := first()
		defer func() { done <- m }()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := string(rune('A' + i%10))
			value := fmt.Sprint("v", i)
			if _, there := m[name]; there && i%3 == 0 {
				value = ""
			}
			if err := e.set(name, value); err != nil {
				t.Error(err)
				return
			}
			m = m.With(name, value)
		}
	}()
	const want = 20
	for late := 0; late < want; { // the number of saves during which edits were made
		if !e.Pending() {
			runtime.Gosched()
			continue
		}
		if e.mustSave(); e.Draft().Pending() > 0 {
			late++
		}
	}
	close(stop)
	m := <-done
	e.close() // like a crash, it leaves the rest in the journal
	wantReplayed(p, !p.hasJournal(), m)
}
