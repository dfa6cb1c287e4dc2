package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lorefs/cmd/internal/save/savetest"
	"lorefs/internal/disk"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/source"
)

// folder is a folder of texts. Either all of them are edited, or only the one called a. An edit
// appends a record to a text.
type folder struct {
	t    *testing.T
	kind *Kind
	dir  string
	opts Options

	set *Set
	// editing is held while a file is edited.
	editing [3]sync.Mutex
	// mu guards the fields below. texts are the edited texts, and records the edits of each since
	// it was saved.
	mu      sync.Mutex
	texts   map[string]string
	records map[string][]string
}

// oneText is the kind of a single text.
var oneText = &Kind{Folder: "journal", What: "a text"}

// newFolder makes a folder of two files to edit, and a state folder.
func newFolder(t *testing.T) *folder { return newFolderOf(t, Folders) }

func newFolderOf(t *testing.T, kind *Kind) *folder {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{t: t, kind: kind, dir: dir}
	f.put("a", "a.")
	f.put("b", "b.")
	return f
}

// ofBoth runs a test with a folder and with a file.
func ofBoth(t *testing.T, test func(t *testing.T, kind *Kind)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) { test(t, Folders) })
	t.Run("file", func(t *testing.T) { test(t, oneText) })
}

// alone blocks edits of a file until the returned function is called.
func (f *folder) alone(file string) (end func()) {
	m := &f.editing[file[0]-'a']
	m.Lock()
	return m.Unlock
}

// source returns the path of the source, and name what the set calls a file.
func (f *folder) source() string {
	if f.kind.Many {
		return f.dir
	}
	return f.path("a")
}

func (f *folder) name(file string) string {
	if f.kind.Many {
		return file
	}
	return ""
}

func (f *folder) path(file string) string { return filepath.Join(f.dir, file) }

func (f *folder) put(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// holds checks the content of a file.
func (f *folder) holds(name, want string) {
	f.t.Helper()
	got, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil || string(got) != want {
		f.t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

// only checks that the folder has these files and no others.
func (f *folder) only(names ...string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		f.t.Errorf("in the folder are %q, want %q", got, names)
	}
}

// open begins to edit, and replays what a crash has left.
func (f *folder) open() error {
	s, err := Open(f.kind, f.source(), f.opts)
	if err != nil {
		return err
	}
	f.set, f.texts, f.records = s, map[string]string{}, map[string][]string{}
	return s.Replay(f.t.Context(), func(file string, record []byte) error {
		if file == "" {
			file = "a"
		}
		return f.apply(file, string(record))
	})
}

func (f *folder) mustOpen() {
	f.t.Helper()
	if err := f.open(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) apply(file, record string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, edited := f.texts[file]; !edited {
		b, err := os.ReadFile(f.path(file))
		if err != nil {
			return err
		}
		f.texts[file] = string(b)
	}
	f.texts[file] += record
	f.records[file] = append(f.records[file], record)
	return nil
}

func (f *folder) edit(file, record string) {
	f.t.Helper()
	if err := errors.Join(f.log(file, record), f.set.Sync()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) log(file, record string) error {
	defer f.alone(file)()
	if f.kind.Many {
		if err := f.set.Begin(file); err != nil {
			return err
		}
	}
	return errors.Join(f.apply(file, record), f.set.Log(f.name(file), []byte(record)))
}

// editedText is a text to be saved.
type editedText struct {
	f    *folder
	file string
}

func (e *editedText) Check() error { return e.f.set.CheckFile(e.f.name(e.file)) }

func (e *editedText) Snapshot() (Snapshot, error) {
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	return &textSnapshot{e, e.f.texts[e.file], len(e.f.records[e.file])}, nil
}

type textSnapshot struct {
	*editedText
	text    string
	records int
}

func (s *textSnapshot) Size() int64 { return int64(len(s.text)) }

func (s *textSnapshot) Write(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, s.text)
	return err
}

func (s *textSnapshot) Check(_ context.Context, g *os.File, _ Identity) error {
	if got, err := io.ReadAll(g); err != nil || string(got) != s.text {
		return fmt.Errorf("%q, %w", got, err)
	}
	return nil
}

func (s *textSnapshot) Close() {}

func (s *textSnapshot) Index() error { return nil }

// Rebase passes all records as they are: they do not depend on the file.
func (s *textSnapshot) Rebase(_ context.Context, publish func(later [][]byte) error) error {
	defer s.f.alone(s.file)()
	var later [][]byte
	for _, record := range s.since() {
		later = append(later, []byte(record))
	}
	err := publish(later)
	if err == nil || IsInPlace(err) {
		since := slices.Clone(s.since())
		s.f.mu.Lock()
		defer s.f.mu.Unlock()
		s.f.records[s.file] = since
	}
	return err
}

// since returns the records since the snapshot.
func (s *textSnapshot) since() []string {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	return s.f.records[s.file][s.records:]
}

func (f *folder) save(file string) (Saved, error) {
	e := &editedText{f, file}
	saved, err := f.set.Commit(context.Background(), f.name(file), e)
	if errors.Is(err, source.ErrChanged) {
		err = f.set.Rescue(context.Background(), f.name(file), e, nil, err)
	}
	return saved, err
}

func (f *folder) mustSave(file string) Saved {
	f.t.Helper()
	saved, err := f.save(file)
	if err != nil {
		f.t.Fatal(err)
	}
	return saved
}

// crash ends the set as the death of its process does: no file is removed.
func (f *folder) crash() {
	f.t.Helper()
	if err := f.set.ledger.close(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) close() {
	f.t.Helper()
	if err := f.set.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// journals returns the state and the number of edits of each journal.
func (f *folder) journals() string {
	f.t.Helper()
	list, err := Kinds{Folders, oneText}.List()
	if err != nil {
		f.t.Fatal(err)
	}
	var all []string
	for _, j := range list {
		all = append(all, fmt.Sprintf("%s %d", j.State, j.Edits))
	}
	return strings.Join(all, ", ")
}

func TestSave(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	if f.set.Journal() != "" || f.journals() != "" {
		t.Error("there is a journal of nothing")
	}
	f.edit("a", "1")
	f.edit("a", "2")
	f.edit("b", "3")
	f.holds("a", "a.")
	if got := f.set.Pending(); got != 3 || f.journals() != "in use 3" {
		t.Errorf("%d edits, %s", got, f.journals())
	}
	saved := f.mustSave("a")
	if saved.Edits != 2 || saved.Info.Size() != 4 {
		t.Errorf("saved %+v", saved)
	}
	f.holds("a", "a.12")
	f.holds("a.bak", "a.")
	f.holds("b", "b.")
	if got := f.set.Pending(); got != 1 || f.set.Journal() == "" {
		t.Errorf("%d edits in %q", got, f.set.Journal())
	}
	f.edit("a", "4") // belongs to the new file
	f.mustSave("b")
	f.mustSave("a")
	f.holds("a", "a.124")
	f.holds("b", "b.3")
	if f.set.Journal() != "" || f.journals() != "" {
		t.Errorf("journals are left: %s", f.journals())
	}
	f.edit("a", "5") // makes a new journal
	f.crash()
	f.mustOpen()
	if f.texts["a"] != "a.1245" || f.set.Replayed() != 1 {
		t.Errorf("%q after %d edits", f.texts["a"], f.set.Replayed())
	}
	f.close()
}

func TestReplay(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.edit("b", "2")
	f.edit("a", "3")
	f.mustSave("a")
	f.edit("a", "4")
	f.crash()
	if got := f.journals(); got != "not saved yet 2" {
		t.Errorf("journals: %s", got)
	}
	for range 2 { // the second time, of the journal that the first has left
		f.mustOpen()
		if f.texts["a"] != "a.134" || f.texts["b"] != "b.2" || f.set.Replayed() != 2 || f.set.Pending() != 2 {
			t.Errorf("%q after %d edits, %d pending", f.texts, f.set.Replayed(), f.set.Pending())
		}
		f.close()
	}
}

func TestSettle(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.edit("a", "-1")
	f.edit("b", "2")
	f.set.Count("a", 0)
	f.set.Settle()
	if got := f.journals(); f.set.Pending() != 1 || got != "in use 1" {
		t.Errorf("%d pending, journals: %s", f.set.Pending(), got)
	}
	f.set.Count("b", 0)
	f.set.Settle()
	f.holds("a", "a.")
	if f.set.Pending() != 0 || f.journals() != "" {
		t.Errorf("journals: %s", f.journals())
	}
	f.close()
}

// TestCount counts edits that undo others, before and after a crash, and while a file is saved.
func TestCount(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	for _, text := range []string{"1", "2", "3"} {
		f.edit("a", text)
		f.edit("b", text)
	}
	f.set.Count("a", 2)
	f.set.Count("b", 0)
	f.crash()
	if got := f.journals(); got != "not saved yet 2" {
		t.Errorf("journals: %s", got)
	}
	f.put("b", "another program's") // nothing of it is edited
	f.mustOpen()
	if f.texts["a"] != "a.123" || f.set.Pending() != 2 {
		t.Errorf("%q, %d pending", f.texts["a"], f.set.Pending())
	}
	f.edit("b", "4")
	if got := f.journals(); got != "in use 3" {
		t.Errorf("journals: %s", got)
	}
	f.set.Count("a", 0)
	f.set.Count("b", 0)
	f.crash()
	f.put("a", "another program's")
	f.mustOpen()
	if f.set.Pending() != 0 || f.set.Journal() != "" {
		t.Errorf("%d pending in %q", f.set.Pending(), f.set.Journal())
	}
	f.close()
}

func TestOneWriter(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		f := newFolderOf(t, kind)
		f.mustOpen()
		again := func(path string) {
			t.Helper()
			if _, err := Open(kind, path, Options{}); !errors.Is(err, filelock.ErrLocked) {
				t.Errorf("a second set: %v, want ErrLocked", err)
			}
		}
		again(f.source())
		f.edit("a", "1")
		f.mustSave("a")
		again(f.source()) // the new file is locked as well
		f.edit("a", "2")
		got := f.describe()
		if got.State != StateInUse || got.Edits != 1 {
			t.Errorf("%+v", got)
		}
		if err := got.Drop(); !errors.Is(err, filelock.ErrLocked) {
			t.Errorf("dropping what is in use: %v", err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(f.source(), link); err != nil {
			t.Skip(err)
		}
		again(link)
		if !kind.Many {
			hard := filepath.Join(t.TempDir(), "hard")
			if err := os.Link(f.source(), hard); err != nil {
				t.Fatal(err)
			}
			again(hard)
			if err := Held(hard); !errors.Is(err, filelock.ErrLocked) {
				t.Errorf("by a hard link: %v, want ErrLocked", err)
			}
		}
		// As for another user, who has another state folder.
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		if err := (&folder{t: t, kind: kind, dir: f.dir}).open(); !errors.Is(err, filelock.ErrLocked) {
			t.Errorf("another's set: %v, want ErrLocked", err)
		}
		if err := f.set.Close(); err != nil { // a set that nothing refers to loses its lock
			t.Error(err)
		}
	})
}

// TestNoStateFolder checks that Open fails without the user's state folder.
func TestNoStateFolder(t *testing.T) {
	f := newFolder(t)
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv("XDG_STATE_HOME", state)
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.open(); err == nil || !strings.Contains(err.Error(), state) {
		t.Errorf("%v", err)
	}
	if list, err := (Kinds{Folders}).List(); err == nil {
		t.Errorf("%v", list)
	}
}

func TestList(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		f := newFolderOf(t, kind)
		f.mustOpen()
		f.edit("a", "1")
		f.crash()
		other := filepath.Join(filepath.Dir(f.journal()), "0123.journal")
		for _, path := range []string{other, other + ".damaged"} {
			if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list, err := Kinds{kind}.List()
		if err != nil || len(list) != 3 {
			t.Fatalf("%v, %v", list, err)
		}
		for _, j := range list {
			switch {
			case strings.TrimSuffix(j.Path, ".damaged") == other && j.State == StateDamaged && j.Problem != "":
			case j.Path == f.journal() && j.State == StateOpen && j.Edits == 1 && j.Source == f.source() && !j.Began.IsZero() && j.Problem == "":
			default:
				t.Errorf("%+v", j)
			}
		}
		j := f.describe()
		if err := j.Drop(); err != nil {
			t.Error(err)
		}
		f.wantReplayed(0, "a.")
	})
}

// TestJournalTakenAway checks that edits are refused if another program removes the journal, since
// no session would find them after a crash. Saving ends that.
func TestJournalTakenAway(t *testing.T) {
	for name, take := range map[string]func(f *folder) error{
		"journal": func(f *folder) error { return os.Remove(f.journal()) },
		"folder":  func(f *folder) error { return os.RemoveAll(filepath.Dir(f.journal())) },
		"all":     func(*folder) error { return os.RemoveAll(os.Getenv("XDG_STATE_HOME")) },
		"replaced": func(f *folder) error {
			return errors.Join(os.Remove(f.journal()), os.WriteFile(f.journal(), nil, 0o600))
		},
	} {
		ofBoth(t, func(t *testing.T, kind *Kind) {
			f := newFolderOf(t, kind)
			f.mustOpen()
			f.edit("a", "1")
			if err := take(f); err != nil {
				t.Fatal(err)
			}
			if err := f.set.Log(f.name("a"), []byte("2")); err == nil || !strings.Contains(err.Error(), "removed by somebody") {
				t.Errorf("%s: %v", name, err)
			}
			f.mustSave("a")
			f.edit("a", "3")
			f.crash()
			f.wantReplayed(1, "a.13")
		})
	}
}

// TestSyncWhileSaving checks that a sync succeeds while a save removes the journal.
func TestSyncWhileSaving(t *testing.T) {
	f := newFolderOf(t, oneText)
	f.mustOpen()
	stop, done := make(chan bool), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := f.set.Sync(); err != nil {
				<-stop
				done <- err
				return
			}
		}
	}()
	for range 20 {
		if err := f.log("a", "1"); err != nil {
			t.Fatal(err)
		}
		f.mustSave("a")
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	f.close()
}

// TestLink checks that a link stays a link: the file that it leads to is replaced, in its own
// folder.
func TestLink(t *testing.T) {
	f := newFolder(t)
	there, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(there, "file")
	if err := os.WriteFile(path, []byte("c."), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(f.dir, "c")); err != nil {
		t.Skip(err)
	}
	f.mustOpen()
	f.edit("c", "1")
	f.crash()
	f.mustOpen()
	f.edit("c", "2")
	if saved := f.mustSave("c"); saved.Backup != path+".bak" {
		t.Errorf("the backup is %s, want %s.bak", saved.Backup, path)
	}
	f.close()
	f.only("a", "b", "c")
	f.holds("c", "c.12")
	if info, err := os.Lstat(filepath.Join(f.dir, "c")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if got := f.journals(); got != "" {
		t.Errorf("journals: %s", got)
	}
}

// TestLinkToReadOnly checks that an edit fails, not only the save, if the folder behind a link
// can't be written to.
func TestLinkToReadOnly(t *testing.T) {
	f := newFolder(t)
	if err := os.Symlink("/sys/kernel/notes", filepath.Join(f.dir, "c")); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "c")); err != nil {
		t.Skip(err)
	}
	f.mustOpen()
	defer f.close()
	if err := f.set.Begin("c"); err == nil || !strings.Contains(err.Error(), "/sys/kernel/.lorefs-") {
		t.Errorf("got %v, want that nothing can be written there", err)
	}
}

// TestStale checks that edits of a file that another program replaced between sessions are neither
// replayed nor lost.
func TestStale(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.edit("b", "2")
	f.mustSave("b")
	f.crash()
	f.put("a", "mine")
	if err := f.open(); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), ": 1 of them") {
		t.Errorf("got %v, want ErrStale", err)
	}
	f.holds("a", "mine")
	if got := f.journals(); got != "stale 1" {
		t.Errorf("journals: %s", got)
	}
	f.put("a", "a.") // the user puts the old file back
	f.mustOpen()
	if f.texts["a"] != "a.1" || len(f.texts) != 1 {
		t.Errorf("made again: %q", f.texts)
	}
	f.close()
	f.put("a", "mine")
	path, err := filepath.EvalSymlinks(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Kinds{Folders}.Find(path)
	if err != nil || j.Edits != 1 {
		t.Fatalf("found %+v, %v", j, err)
	}
	if err := j.Drop(); err != nil {
		t.Error(err)
	}
	if _, err := (Kinds{Folders}).Find(path); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
	f.mustOpen()
	f.close()
}

// TestFaults checks that when any operation fails, the old or the new file is in place, and the
// edits are in the file or in the journal. A process that dies right before the operation sees no
// error: the journal must already have what is needed.
func TestFaults(t *testing.T) {
	ofBoth(t, func(t *testing.T, kind *Kind) {
		f := newFolderOf(t, kind)
		d := disktest.New()
		f.opts.Disk = d
		f.mustOpen()
		f.edit("a", "1")
		from := len(d.Ops())
		f.mustSave("a")
		f.close()
		unsynced := 0
		for nth, op := range slices.DeleteFunc(d.Ops()[from:], savetest.OfBase) {
			if op.Name == "stat" || op.Name == "read" {
				continue
			}
			for _, way := range []string{"fails", "fails, and dies", "dies"} {
				t.Run(fmt.Sprintf("%d,%s,%s", nth, op.Name, way), func(t *testing.T) {
					if testFault(t, kind, nth, way) {
						unsynced++
					}
				})
			}
		}
		if unsynced == 0 {
			t.Error("no save failed at the end")
		}
	})
}

func testFault(t *testing.T, kind *Kind, nth int, way string) (unsynced bool) {
	t.Helper()
	f := newFolderOf(t, kind)
	d := disktest.New()
	f.opts.Disk = d
	f.mustOpen()
	f.edit("a", "1")
	if kind.Many {
		if err := f.set.Begin("b"); err != nil {
			t.Fatal(err)
		}
	}
	d.SetBefore(savetest.Guarded(func(op disktest.Op) error {
		if savetest.OfBase(op) {
			return nil
		}
		if nth--; nth == -1 || nth < 0 && way == "dies" { // a dead process does nothing
			return disktest.ErrFault
		}
		return nil
	}))
	saved, err := f.save("a")
	inPlace := IsInPlace(err)
	switch {
	case way == "dies":
	case err != nil && !errors.Is(err, disktest.ErrFault):
		t.Fatal(err)
	case (inPlace || err == nil) != (saved.Info != nil):
		t.Errorf("%v: %+v", err, saved)
	}
	if kind.Many && way == "fails" {
		if err := f.set.Log("b", []byte("2")); inPlace != (err != nil) {
			t.Errorf("edited: %v", err)
		}
	}
	switch way {
	case "fails":
		f.close()
	case "fails, and dies":
		f.crash()
	case "dies":
		_ = f.set.ledger.close() // releases the locks
	}
	f.opts.Disk = disktest.New()
	f.mustOpen()
	for _, file := range slices.Sorted(maps.Keys(f.texts)) {
		f.mustSave(file)
	}
	f.holds("a", "a.1")
	if kind.Many && way == "fails" && !inPlace {
		f.holds("b", "b.2")
	}
	f.close()
	if got := f.journals(); got != "" {
		t.Errorf("journals: %s", got)
	}
	if left, err := filepath.Glob(filepath.Join(f.dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return inPlace
}

// TestOddRecords reads intact journals with records that no set writes.
func TestOddRecords(t *testing.T) {
	for name, records := range map[string][]string{
		"unknown kind":     {`X{"file":"a"}`},
		"unknown file":     {"E\x01\x00arecord"},
		"cut off":          {`F{"file":"a"}`, "E\x09\x00a"},
		"path":             {`F{"file":"../a","size":2}`, "E\x04\x00../arecord"},
		"no JSON":          {"F{"},
		"done, of nothing": {`D{"file":"a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			dir, err := filepath.EvalSymlinks(f.dir)
			if err != nil {
				t.Fatal(err)
			}
			path, err := Folders.JournalPath(dir)
			if err != nil {
				t.Fatal(err)
			}
			j, err := journal.Create(disk.OS{}, path, fmt.Appendf(nil, `{"folder":%q}`, dir))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if err := j.Append([]byte(r)); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if err := f.open(); !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
			}
		})
	}
}

// TestReplayFails checks that a record that can't be replayed is kept.
func TestReplayFails(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.crash()
	s, err := Open(f.kind, f.source(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("no such edit")
	if err := s.Replay(t.Context(), func(string, []byte) error { return bad }); !errors.Is(err, bad) || !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := f.journals(); got != "not saved yet 1" {
		t.Errorf("journals: %s", got)
	}
}

func TestNotWritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	f := newFolder(t)
	if err := os.Chmod(f.dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(f.dir, 0o700) }() // or it can't be removed
	if err := f.open(); !errors.Is(err, iofs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// TestListOnlyLooks checks that listing or finding journals does not look like editing.
func TestListOnlyLooks(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.crash()
	locks, err := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "lorefs", "lock", "*"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks: %q, %v", locks, err)
	}
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(locks[0], then, then); err != nil {
		t.Fatal(err)
	}
	if got := f.journals(); got != "not saved yet 1" {
		t.Errorf("journals: %s", got)
	}
	info, err := os.Stat(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(then) {
		t.Errorf("the lock was taken at %v", info.ModTime())
	}
}

// TestCountWhileSaved has a journal of a process that died while a file was saved whose only
// edit had just been undone: whether that matters depends on which file is in place.
func TestCountWhileSaved(t *testing.T) {
	for text, want := range map[string]State{"a.": StateSaved, "a.1": StateOpen, "another": StateStale} {
		f := newFolder(t)
		f.put("a", "a.")
		was, err := identify(filepath.Join(f.dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		f.put("a", "a.1")
		saved, err := identify(filepath.Join(f.dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		f.put("a", text)
		d := summary{kind: Folders, header: header{Folder: f.dir}, files: map[string]*fileState{}}
		for i, record := range [][]byte{
			aboutFile(recordFile, "a", was), Folders.editRecord(recordEdit, "a", []byte("1")),
			Folders.editRecord(recordEdit, "a", []byte("-1")), Folders.countRecord("a", 0),
			Folders.editRecord(recordLater, "a", []byte("-1")), announcement("a", saved, 1),
		} {
			if err := d.add(i, record); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.compare(); got != want || err != nil || want == StateOpen && d.edits() != 1 {
			t.Errorf("with %q in place it is %s with %d edits, %v; want %s", text, got, d.edits(), err, want)
		}
	}
}
