package session

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// The tests here stop the world before each step that a session takes, and look at
// what a process that died there would leave behind: the folders as they are, for
// the next process, or as they were when they were synced last, for the next start
// of the machine. Each of the two folders may be in one state or the other.

// folder is the content of one: of files by their paths.
type folder map[string][]byte

func snapshot(t *testing.T, dir string) folder {
	t.Helper()
	f := folder{}
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f[path], err = os.ReadFile(path)
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
	for path, data := range f {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// moment is what is there when the process dies, and what was promised by then.
type moment struct {
	name            string
	sources, states []folder // as they are, and as they were synced
	// acknowledged are the edits that have returned, durable those that Sync was
	// asked for since, and next also holds the edit that is being made.
	acknowledged, durable, next model
}

// world records moments.
type world struct {
	*place
	sourceSynced, stateSynced   folder
	acknowledged, durable, next model
	// renaming is set while the source's folder is being synced by replace.
	renaming bool
	moments  []moment
	seen     map[string]bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	p := newPlace(t, 0)
	w := &world{place: p, acknowledged: first(), durable: first(), next: first(), seen: map[string]bool{}}
	w.sourceSynced, w.stateSynced = snapshot(t, p.dir), folder{}
	return w
}

// at records a moment, unless one is known that looks the same.
func (w *world) at(name string) {
	w.t.Helper()
	m := moment{
		name: fmt.Sprintf("%d, before %s", len(w.moments), name), acknowledged: w.acknowledged, durable: w.durable, next: w.next,
		sources: []folder{snapshot(w.t, w.dir), w.sourceSynced}, states: []folder{snapshot(w.t, w.state), w.stateSynced},
	}
	key := fmt.Sprint(m.sources, m.states, m.acknowledged, m.durable, m.next)
	if !w.seen[key] {
		w.seen[key] = true
		w.moments = append(w.moments, m)
	}
}

// step is replace's hook.
func (w *world) step(s replace.Step) error {
	if s == replace.StepRename {
		w.sourceSynced = snapshot(w.t, w.dir) // because of the backup
	}
	w.renaming = s == replace.StepSyncDir
	w.at(string(s))
	return nil
}

// renamed is called when a save goes on after the new file was put in place.
func (w *world) renamed() {
	if w.renaming {
		w.sourceSynced = snapshot(w.t, w.dir)
		w.renaming = false
	}
}

// journals is the hook of a session's own operations: what is synced is so when
// the next one begins.
type journals struct {
	disk
	w *world
}

func (d *journals) create(path string, header []byte) (records, error) {
	d.w.at("create")
	j, err := d.disk.create(path, header)
	d.w.stateSynced = snapshot(d.w.t, d.w.state)
	return &watched{j, d.w}, err
}

func (d *journals) resume(path string) (records, *journal.Contents, error) {
	d.w.at("resume")
	j, contents, err := d.disk.resume(path)
	if err != nil {
		return nil, nil, err
	}
	d.w.stateSynced = snapshot(d.w.t, d.w.state)
	return &watched{j, d.w}, contents, nil
}

func (d *journals) syncDir(path string) error {
	d.w.at("sync folder")
	err := d.disk.syncDir(path)
	d.w.sourceSynced = snapshot(d.w.t, d.w.dir)
	return err
}

type watched struct {
	records
	w *world
}

func (j *watched) Append(p []byte) error {
	j.w.at("append")
	return j.records.Append(p)
}

func (j *watched) Sync() error {
	j.w.at("sync")
	err := j.records.Sync()
	j.w.stateSynced = snapshot(j.w.t, j.w.state)
	return err
}

func (j *watched) Remove() error {
	j.w.renamed()
	j.w.at("remove")
	err := j.records.Remove()
	j.w.at("return of remove") // unlinked, which may not last
	j.w.stateSynced = snapshot(j.w.t, j.w.state)
	return err
}

// edit makes edits, of pairs of a name and a value.
func (w *world) edit(e *editing, pairs ...string) {
	w.t.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		w.next = w.acknowledged.with(pair[0], pair[1])
		e.mustSet(pair[0], pair[1])
		w.acknowledged = w.next
		w.at("next edit")
	}
}

func (w *world) sync(e *editing) {
	w.t.Helper()
	if err := e.Sync(); err != nil {
		w.t.Fatal(err)
	}
	w.durable = w.acknowledged
	w.at("next edit, after a sync")
}

func (w *world) save(e *editing) {
	w.t.Helper()
	e.mustSave()
	w.durable = w.acknowledged
	w.at("next edit, after a save")
}

// check opens what a moment has left, and finds all that was promised.
func (w *world) check(m *moment) {
	w.t.Helper()
	for i, source := range m.sources {
		for k, state := range m.states {
			w.t.Run(fmt.Sprintf("%s,%d%d", m.name, i, k), func(t *testing.T) {
				source.restore(t, w.dir)
				state.restore(t, w.state)
				promised := m.acknowledged
				if i+k > 0 {
					promised = m.durable
				}
				p := *w.place
				p.t = t
				p.wantPromised(promised, m)
			})
		}
	}
}

// wantPromised wants a file that holds what was promised, what was acknowledged,
// or the edit that was under way as well. After a power cut, what was appended
// and not synced may be there or not, from some edit on.
func (p *place) wantPromised(promised model, m *moment) {
	p.t.Helper()
	if _, err := read(p.t.Context(), p.path); err != nil {
		p.t.Fatalf("the source is not whole: %v", err)
	}
	e := p.mustOpen(Options{})
	e.mustSave()
	e.close()
	got, err := read(p.t.Context(), p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	if !slices.ContainsFunc([]model{promised, m.acknowledged, m.next}, func(want model) bool { return maps.Equal(got, want) }) {
		p.t.Errorf("there is %v, want %v, or %v", got, promised, m.next)
	}
	if p.hasJournal() {
		p.t.Error("there is a journal still")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(p.journal()), ".*")); err != nil || len(left) > 0 {
		p.t.Errorf("left behind: %v, %v", left, err)
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, ".*")); err != nil || len(left) > 0 {
		p.t.Errorf("left behind: %v, %v", left, err)
	}
}

// A session that dies at any moment, or whose machine does, loses nothing that it
// has promised to keep.
func TestCrashAnywhere(t *testing.T) {
	w := newWorld(t)
	o := Options{before: w.step, system: &journals{w: w}}
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
	w.stateSynced = snapshot(t, w.state)
	w.durable = w.acknowledged
	w.at("the next session")

	e = w.mustOpen(o) // that finds edits
	w.edit(e, "A", "")
	w.sync(e)
	w.edit(e, "F", "f1")
	w.save(e)
	e.close()
	w.all()
}

// The same of saves that fail, with more edits and saves behind them, and of a
// session that finds what a crash after a save has left.
func TestCrashAfterFailures(t *testing.T) {
	for _, step := range []replace.Step{replace.StepCheck, replace.StepLink, replace.StepRename, replace.StepSyncDir} {
		t.Run(string(step), func(t *testing.T) {
			w := newWorld(t)
			fault := faultAt(step, 1)
			o := Options{system: &journals{w: w}, before: func(s replace.Step) error {
				return errors.Join(w.step(s), fault(s))
			}}
			e := w.mustOpen(o)
			w.edit(e, "A", "a1")
			w.sync(e)
			if _, err := e.save(); !errors.Is(err, errFault) {
				t.Fatal(err)
			}
			w.renaming = false // it was not synced
			if step == replace.StepSyncDir {
				e.close()
				w.at("the next session")
				e = w.mustOpen(o) // that finds all saved
			}
			w.edit(e, "D", "d1", "A", "a2")
			w.sync(e)
			w.edit(e, "B", "")
			w.save(e)
			w.edit(e, "D", "d2")
			e.close()
			w.all()
		})
	}
}

// all checks all moments.
func (w *world) all() {
	w.t.Helper()
	if len(w.moments) < 20 {
		w.t.Errorf("only %d moments were met", len(w.moments))
	}
	step := 1
	if testing.Short() {
		step = 5
	}
	for i := 0; i < len(w.moments); i += step {
		w.check(&w.moments[i])
	}
}
