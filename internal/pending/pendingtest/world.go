package pendingtest

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/journal"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
)

// Model is what a source holds: values by names.
type Model map[string]string

// With is the model with another value, or without the name if the value is empty.
func (m Model) With(name, value string) Model {
	c := maps.Clone(m)
	if value == "" {
		delete(c, name)
	} else {
		c[name] = value
	}
	return c
}

// World stops before each step that a session takes, and looks at what a process that
// died there would leave behind: the folders as they are, for the next process, or as
// they were when they were synced last, for the next start of the machine. Each of
// the two folders may be in one state or the other. While a journal is synced, what is
// added to it and what is written within it may have reached the disk one without the
// other.
//
// Sessions have Step as replace's hook, and Journals as their disk. Saves that run
// at the same time take turns: each has to be between Enter and Leave, and goes on
// from one step to the next while all others wait.
type World struct {
	t *testing.T
	// source is the folder of the source, state that of the user's state.
	source, state               string
	sourceSynced, stateSynced   folder
	acknowledged, durable, next Model
	// step is replace's last one. If it syncs the source's folder, that is then as
	// beforeSync has it.
	step       replace.Step
	beforeSync folder
	moments    []moment
	seen       map[string]bool
	turn       chan struct{}
	turns      bool
}

// NewWorld records moments from now on. first is what the source holds.
func NewWorld(t *testing.T, source, state string, first Model) *World {
	t.Helper()
	w := &World{
		t: t, source: source, state: state, acknowledged: first, durable: first, next: first,
		seen: map[string]bool{}, turn: make(chan struct{}, 1),
	}
	w.sourceSynced, w.stateSynced = snapshot(t, source), folder{}
	return w
}

// Enter waits for the turn of a save that runs at the same time as others, and Leave
// gives it up.
func (w *World) Enter() { w.turn <- struct{}{}; w.turns = true }

// Leave is the end of Enter.
func (w *World) Leave() { <-w.turn }

// moment is what is there when the process dies, and what was promised by then.
type moment struct {
	name            string
	sources, states []folder // as they are, and as they were synced
	// damaged tells of one in which a journal promises what it does not hold.
	damaged bool
	// acknowledged are the edits that have returned, durable those that Sync was
	// asked for since, and next also holds the edit that is being made.
	acknowledged, durable, next Model
}

// At records a moment, unless one is known that looks the same.
func (w *World) At(name string) {
	w.t.Helper()
	m := moment{
		name: fmt.Sprintf("%d, before %s", len(w.moments), name), acknowledged: w.acknowledged, durable: w.durable, next: w.next,
		sources: []folder{snapshot(w.t, w.source), w.sourceSynced}, states: []folder{snapshot(w.t, w.state), w.stateSynced},
	}
	w.add(m)
}

func (w *World) add(m moment) {
	key := fmt.Sprint(m.sources, m.states, m.acknowledged, m.durable, m.next)
	if !w.seen[key] {
		w.seen[key] = true
		w.moments = append(w.moments, m)
	}
}

// syncing records the power cuts within a sync of a journal, of which only a part has
// reached the disk, given the state folder as it was synced before.
func (w *World) syncing(path string, before folder) {
	w.t.Helper()
	was, now := before[path].data, snapshot(w.t, w.state)[path].data
	if was == nil || len(was) >= len(now) {
		return
	}
	for name, part := range map[string][]byte{
		"the records": append(slices.Clone(was), now[len(was):]...),
		"the promise": now[:len(was)],
	} {
		state := maps.Clone(before)
		state[path] = file{part, path}
		w.add(moment{
			name:    fmt.Sprintf("%d, of a sync only %s", len(w.moments), name),
			sources: []folder{snapshot(w.t, w.source), w.sourceSynced}, states: []folder{state},
			damaged:      name == "the promise",
			acknowledged: w.acknowledged, durable: w.durable, next: w.next,
		})
	}
}

// Step is replace's hook.
func (w *World) Step(s replace.Step) error {
	if w.step == replace.StepSyncBackup && (s == replace.StepName || s == replace.StepRename) {
		w.sourceSynced = w.beforeSync
	}
	w.At(string(s))
	if w.turns {
		w.Leave()
		w.Enter()
	}
	w.step = s
	if s == replace.StepSyncBackup || s == replace.StepSyncDir {
		w.beforeSync = snapshot(w.t, w.source)
	}
	return nil
}

// renamed is called when a save goes on after the new file was put in place.
func (w *World) renamed() {
	if w.step == replace.StepSyncDir {
		w.sourceSynced = w.beforeSync
		w.step = ""
	}
}

// Failed tells that a save did not come to its end: what it renamed last may not last.
func (w *World) Failed() { w.step = "" }

// Closed tells that the session has ended, which syncs its journal.
func (w *World) Closed() {
	w.stateSynced = snapshot(w.t, w.state)
	w.durable = w.acknowledged
	w.At("the next session")
}

// Edit makes an edit, behind which the source is to hold something else.
func (w *World) Edit(next Model, edit func()) {
	w.t.Helper()
	w.next = next
	edit()
	w.acknowledged = next
	w.At("next edit")
}

// Sync makes what was edited last, by a sync or a save.
func (w *World) Sync(do func()) {
	w.t.Helper()
	do()
	w.durable = w.acknowledged
	w.At("next edit, after a sync or a save")
}

// Model is what the source holds with all edits.
func (w *World) Model() Model { return w.acknowledged }

// Journals is the disk of a session: what is synced is so when the next operation
// begins.
func (w *World) Journals() pending.System { return &journals{w: w} }

type journals struct {
	pending.Disk
	w *World
}

func (d *journals) Create(path string, header []byte) (pending.Log, error) {
	d.w.At("create")
	j, err := d.Disk.Create(path, header)
	d.w.stateSynced = snapshot(d.w.t, d.w.state)
	return &watched{j, d.w}, err
}

func (d *journals) Resume(path string) (pending.Log, *journal.Contents, error) {
	d.w.At("resume")
	j, contents, err := d.Disk.Resume(path)
	if err != nil {
		return nil, nil, err
	}
	d.w.stateSynced = snapshot(d.w.t, d.w.state)
	return &watched{j, d.w}, contents, nil
}

func (d *journals) SyncDir(path string) error {
	d.w.At("sync folder")
	err := d.Disk.SyncDir(path)
	d.w.sourceSynced = snapshot(d.w.t, d.w.source)
	return err
}

type watched struct {
	pending.Log
	w *World
}

func (j *watched) Append(p []byte) error {
	j.w.renamed()
	j.w.At("append")
	return j.Log.Append(p)
}

func (j *watched) Sync() error {
	j.w.At("sync")
	before := j.w.stateSynced
	err := j.Log.Sync()
	j.w.syncing(j.Path(), before)
	j.w.stateSynced = snapshot(j.w.t, j.w.state)
	return err
}

func (j *watched) Remove() error {
	j.w.renamed()
	j.w.At("remove")
	err := j.Log.Remove()
	j.w.At("return of remove") // unlinked, which may not last
	j.w.stateSynced = snapshot(j.w.t, j.w.state)
	return err
}

// All goes back to every nth moment (fewer in short runs), has finish open the source, save what is left and give
// what it holds then, and finds all that was promised: that is what was promised, what
// was acknowledged, or the edit that was under way as well. After a power cut, what
// was appended and not synced may be there or not, from some edit on. Where a journal is
// damaged, finish has to find it refused, and to salvage it: it is kept then.
func (w *World) All(nth int, finish func(t *testing.T, damaged bool) Model) {
	w.t.Helper()
	const few = 20
	if len(w.moments) < few {
		w.t.Errorf("only %d moments were met", len(w.moments))
	}
	if !slices.ContainsFunc(w.moments, func(m moment) bool { return m.damaged }) {
		w.t.Error("no sync was met in which only the promise has reached the disk")
	}
	if testing.Short() {
		nth *= 5
	}
	for i := 0; i < len(w.moments); i += nth {
		w.check(&w.moments[i], finish)
	}
}

func (w *World) check(m *moment, finish func(t *testing.T, damaged bool) Model) {
	for i, source := range m.sources {
		for k, state := range m.states {
			w.t.Run(fmt.Sprintf("%s,%d%d", m.name, i, k), func(t *testing.T) {
				source.restore(t, w.source)
				state.restore(t, w.state)
				promised := m.acknowledged
				if i+k > 0 || len(m.states) == 1 { // the power went
					promised = m.durable
				}
				got := finish(t, m.damaged)
				wants := []Model{promised, m.acknowledged, m.next}
				if !slices.ContainsFunc(wants, func(want Model) bool { return maps.Equal(got, want) }) {
					t.Errorf("there is %v, want %v, or %v", got, promised, m.next)
				}
				w.clean(t, m.damaged)
			})
		}
	}
}

// clean wants no journal, and no temporary file, to be left, but the damaged journal.
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

// folder is the content of one: of files by their paths.
type folder map[string]file

// file is what is under a path.
type file struct {
	data []byte
	// first is the first path of the same file.
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
