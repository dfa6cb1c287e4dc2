// Package savetest helps to test code that saves edits. It records what would be left if the
// process died, or the power failed, before each operation on the disk.
package savetest

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/internal/disk/disktest"
	"lorefs/internal/journal"
	"lorefs/internal/testneeds"
)

// Model is the content of a source: values by name.
type Model map[string]string

// With returns a copy with another value, or without the name if the value is empty.
func (m Model) With(name, value string) Model {
	c := maps.Clone(m)
	if value == "" {
		delete(c, name)
	} else {
		c[name] = value
	}
	return c
}

// World records a moment before each operation on its Disk that changes something: what a process
// that died there would leave. That is the folders as they are, for the next process, or what was
// synced of them, for the next start of the machine. Either of the two folders may be in either
// state. If the power fails during a sync of a file, the last write may have reached the disk
// without the earlier ones, or these without the last.
//
// Saves that run at the same time take turns. Each must call Enter and Leave. It runs from one
// operation on the source's folder to the next while all others wait.
type World struct {
	*disktest.Disk
	t *testing.T
	// source is the folder of the source, and state the user's state folder.
	source, state string
	turn          chan struct{}

	mu sync.Mutex
	// models are the expected contents of the source, one after each edit.
	models []Model
	progress
	moments []moment
	seen    map[string]bool
	turns   bool
	damaged int
}

// NewWorld starts to record moments. first is the content of the source.
func NewWorld(t *testing.T, source, state string, first Model) *World {
	t.Helper()
	w := &World{
		Disk: disktest.New(source), t: t, source: source, state: state, models: []Model{first},
		seen: map[string]bool{}, turn: make(chan struct{}, 1),
	}
	w.SetBefore(w.Step)
	return w
}

// Enter waits for the turn of a save that runs at the same time as others. Leave ends the turn.
func (w *World) Enter() {
	w.turn <- struct{}{}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turns = true
}

// Leave ends the turn that Enter began.
func (w *World) Leave() { <-w.turn }

// moment holds what would be left if the process died now, and what was promised by then.
type moment struct {
	name            string
	sources, states []folder // the folder as it is, and as it was synced
	// cut means that all states are those of a power cut.
	cut bool
	progress
}

// progress has indexes of models: acknowledged after the last edit that returned, durable after the
// last edit that was also synced, and next after the edit that is being made.
type progress struct{ acknowledged, durable, next int }

// Step records a moment. The Disk calls it before each operation.
func (w *World) Step(op disktest.Op) error {
	if !op.Changes() {
		return nil
	}
	w.at(op.Name)
	if op.Name == "sync" {
		w.syncing(op.Path)
	}
	w.mu.Lock()
	turns := w.turns && filepath.Dir(op.Path) == w.source
	w.mu.Unlock()
	if turns {
		w.Leave()
		w.Enter()
	}
	return nil
}

// at records the folders as they are, and as they were synced.
func (w *World) at(name string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(name, moment{
		sources: []folder{snapshot(w.t, w.source), w.synced(w.source)}, states: []folder{snapshot(w.t, w.state), w.synced(w.state)},
	})
}

// add adds a moment, unless it has the same content as an earlier one. The caller holds mu.
func (w *World) add(name string, m moment) {
	m.name = fmt.Sprintf("%d, before %s", len(w.moments), name)
	m.progress = w.progress
	key := fmt.Sprint(m.sources, m.states, m.progress)
	if !w.seen[key] {
		w.seen[key] = true
		w.moments = append(w.moments, m)
	}
}

// synced returns what a power cut would leave of a folder.
func (w *World) synced(dir string) folder {
	f := folder{}
	all := w.Durable()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(path, dir+string(filepath.Separator)) {
			continue
		}
		first := path
		for _, is := range f {
			if len(is.data) > 0 && len(all[path]) > 0 && &is.data[0] == &all[path][0] {
				first = is.first
			}
		}
		f[path] = file{all[path], first}
	}
	return f
}

// syncing records power cuts during the sync of a file, when only some writes have reached the
// disk.
func (w *World) syncing(path string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !strings.HasPrefix(path, w.state) {
		return
	}
	for name, landed := range map[string]func(i, n int) bool{
		"of a sync without its last write": func(i, n int) bool { return i < n-1 },
		"of a sync with its last write":    func(i, n int) bool { return i == n-1 },
	} {
		state := w.synced(w.state)
		if _, there := state[path]; !there {
			return
		}
		state[path] = file{w.Landed(path, landed), path}
		w.add(name, moment{
			sources: []folder{snapshot(w.t, w.source), w.synced(w.source)}, states: []folder{state}, cut: true,
		})
	}
}

// Closed is called when the session was closed, which syncs its journal.
func (w *World) Closed() {
	w.mu.Lock()
	w.durable = w.acknowledged
	w.mu.Unlock()
	w.at("the next session")
}

// Edit calls edit, after which the content of the source has to be next.
func (w *World) Edit(next Model, edit func()) {
	w.t.Helper()
	w.mu.Lock()
	w.models = append(w.models, next)
	w.next = len(w.models) - 1
	w.mu.Unlock()
	edit()
	w.mu.Lock()
	w.acknowledged = w.next
	w.mu.Unlock()
	w.at("next edit")
}

// Sync calls do, a sync or a save, which makes all edits durable.
func (w *World) Sync(do func()) {
	w.t.Helper()
	do()
	w.mu.Lock()
	w.durable = w.acknowledged
	w.mu.Unlock()
	w.at("next edit, after a sync or a save")
}

// Model returns the content of the source with all edits.
func (w *World) Model() Model {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.models[w.acknowledged]
}

// All restores every nth moment (fewer in short runs, and each in one way only) and calls finish, which has to open the
// source, save what is left, and return the content. This must be what was promised, with or
// without the edit that was being made. After a power cut, edits that were not synced may be lost,
// from some edit on. If a journal is damaged, finish has to check that it is refused, and then
// salvage it; it must be kept.
func (w *World) All(nth int, finish func(t *testing.T, damaged bool) Model) {
	w.t.Helper()
	const few = 20
	if len(w.moments) < few {
		w.t.Errorf("only %d moments were met", len(w.moments))
	}
	if testneeds.Quick() {
		nth *= 5
	}
	for i := 0; i < len(w.moments); i += nth {
		w.check(&w.moments[i], i/nth, finish)
	}
	if nth == 1 && w.damaged == 0 {
		w.t.Error("no sync was met in which only the promise has reached the disk")
	}
}

// check restores a moment in all ways in which it may have left the two folders. In a short run it
// does so in one of them, by turns.
func (w *World) check(m *moment, turn int, finish func(t *testing.T, damaged bool) Model) {
	turn %= len(m.sources) * len(m.states)
	for i, source := range m.sources {
		for k, state := range m.states {
			if testneeds.Quick() && i*len(m.states)+k != turn {
				continue
			}
			w.t.Run(fmt.Sprintf("%s,%d%d", m.name, i, k), func(t *testing.T) {
				source.restore(t, w.source)
				state.restore(t, w.state)
				promised := m.acknowledged
				if i+k > 0 || m.cut { // the power went
					promised = m.durable
				}
				damaged := isDamaged(t, state)
				if damaged {
					w.damaged++
				}
				got := finish(t, damaged)
				wants := w.models[promised : m.next+1]
				if !slices.ContainsFunc(wants, func(want Model) bool { return maps.Equal(got, want) }) {
					t.Errorf("there is %v, want one of %v", got, wants)
				}
				w.clean(t, damaged)
			})
		}
	}
}

// isDamaged reports whether a journal promises more than it holds.
func isDamaged(t *testing.T, state folder) bool {
	t.Helper()
	for path := range state {
		if !strings.HasSuffix(path, ".journal") {
			continue
		}
		c, err := journal.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := c.Damage() != nil
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if damaged {
			return true
		}
	}
	return false
}

// clean checks that no journal or temporary file is left, and that a journal is kept if it was
// damaged.
func (w *World) clean(t *testing.T, damaged bool) {
	t.Helper()
	for _, dir := range []string{w.source, w.state} {
		for path := range snapshot(t, dir) {
			if strings.HasPrefix(filepath.Base(path), ".") || strings.Contains(path, ".kept-") || strings.HasSuffix(path, ".journal") {
				t.Errorf("left behind: %s", path)
			}
			if strings.HasSuffix(path, ".damaged") {
				damaged = !damaged
			}
		}
	}
	if damaged {
		t.Error("a damaged journal is not kept, or one that was not damaged is")
	}
}

// folder is the content of a folder: files by path.
type folder map[string]file

// file is the content of a path.
type file struct {
	data []byte
	// first is the first path of the same file, for hard links.
	first string
}

func snapshot(t *testing.T, dir string) folder {
	t.Helper()
	f := folder{}
	infos := map[string]iofs.FileInfo{} // of the first paths
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		first := path
		for other, is := range infos {
			if os.SameFile(is, info) {
				first = other
			}
		}
		if first == path {
			infos[path] = info
		}
		data, err := os.ReadFile(path)
		f[path] = file{data, first}
		return err
	})
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		t.Fatal(err)
	}
	return f
}

func (f folder) restore(t *testing.T, dir string) {
	t.Helper()
	err := os.RemoveAll(dir)
	for _, path := range slices.Sorted(maps.Keys(f)) { // first paths come first
		is := f[path]
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700))
		if is.first == path {
			err = errors.Join(err, os.WriteFile(path, is.data, 0o600))
		} else {
			err = errors.Join(err, os.Link(is.first, path))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
