package folderedit

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/pending"
	"lorefs/internal/pending/pendingtest"
	"lorefs/internal/replace"
)

// folder is a folder of texts. An edit adds a record to the text of a file.
type folder struct {
	t    *testing.T
	dir  string
	opts Options

	session *Session
	texts   map[string]string
}

// newFolder makes a folder of two files, and a state folder of its own.
func newFolder(t *testing.T) *folder {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	f := &folder{t: t, dir: t.TempDir()}
	f.put("a", "a.")
	f.put("b", "b.")
	return f
}

func (f *folder) put(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// holds checks what a file holds.
func (f *folder) holds(name, want string) {
	f.t.Helper()
	got, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil || string(got) != want {
		f.t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

// only checks that nothing but these files is in the folder.
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

// open begins to edit, as after a crash of who did before.
func (f *folder) open() error {
	s, err := Open(f.dir, f.opts)
	if err != nil {
		return err
	}
	f.session, f.texts = s, map[string]string{}
	return s.Replay(f.t.Context(), func(file string, record []byte) error {
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
	if _, edited := f.texts[file]; !edited {
		b, err := os.ReadFile(filepath.Join(f.dir, file))
		if err != nil {
			return err
		}
		f.texts[file] = string(b)
	}
	f.texts[file] += record
	return nil
}

func (f *folder) edit(file, record string) {
	f.t.Helper()
	if err := errors.Join(f.log(file, record), f.session.Sync()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) log(file, record string) error {
	if err := f.session.Begin(file); err != nil {
		return err
	}
	return errors.Join(f.apply(file, record), f.session.Log(file, []byte(record)))
}

func (f *folder) save(file string) (Saved, error) {
	text := f.texts[file]
	return f.session.Save(context.Background(), File{
		Name: file, Size: int64(len(text)),
		Write: func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, text); return err },
		Verify: func(g *os.File) error {
			if got, err := io.ReadAll(g); err != nil || string(got) != text {
				return fmt.Errorf("%q, %w", got, err)
			}
			return nil
		},
	})
}

func (f *folder) mustSave(file string) Saved {
	f.t.Helper()
	saved, err := f.save(file)
	if err != nil {
		f.t.Fatal(err)
	}
	return saved
}

// crash ends the session as the end of its process does: nothing is removed.
func (f *folder) crash() {
	f.t.Helper()
	if err := f.session.edits.Close(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) close() {
	f.t.Helper()
	if err := f.session.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// journals are the states and the edits of those that there are.
func (f *folder) journals() string {
	f.t.Helper()
	list, err := pending.Kinds{Journals}.List()
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
	if f.session.Journal() != "" || f.journals() != "" {
		t.Error("there is a journal of nothing")
	}
	f.edit("a", "1")
	f.edit("a", "2")
	f.edit("b", "3")
	f.holds("a", "a.")
	if got := f.session.Pending(); got != 3 || f.journals() != "in use 3" {
		t.Errorf("%d edits, %s", got, f.journals())
	}
	saved := f.mustSave("a")
	if saved.Edits != 2 || saved.Bytes != 4 || saved.Info.Size() != 4 {
		t.Errorf("saved %+v", saved)
	}
	f.holds("a", "a.12")
	f.holds("a.bak", "a.")
	f.holds("b", "b.")
	if got := f.session.Pending(); got != 1 || f.session.Journal() == "" {
		t.Errorf("%d edits in %q", got, f.session.Journal())
	}
	f.edit("a", "4") // belongs to the new file
	f.mustSave("b")
	f.mustSave("a")
	f.holds("a", "a.124")
	f.holds("b", "b.3")
	if f.session.Journal() != "" || f.journals() != "" {
		t.Errorf("journals are left: %s", f.journals())
	}
	f.edit("a", "5") // a journal of its own
	f.crash()
	f.mustOpen()
	if f.texts["a"] != "a.1245" || f.session.Replayed() != 1 {
		t.Errorf("%q after %d edits", f.texts["a"], f.session.Replayed())
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
	for range 2 { // the second time, it is what the first has left
		f.mustOpen()
		if f.texts["a"] != "a.134" || f.texts["b"] != "b.2" || f.session.Replayed() != 2 || f.session.Pending() != 2 {
			t.Errorf("%q after %d edits, %d pending", f.texts, f.session.Replayed(), f.session.Pending())
		}
		f.close()
	}
}

func TestSettle(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	if err := f.session.Settle("a"); err != nil {
		t.Fatal(err)
	}
	f.holds("a", "a.")
	if f.session.Pending() != 0 || f.journals() != "" {
		t.Errorf("journals: %s", f.journals())
	}
	f.close()
}

func TestOneWriter(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	if _, err := Open(f.dir, Options{}); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.dir, link); err != nil {
		t.Skip(err)
	}
	if _, err := Open(link, Options{}); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("by a link: %v, want ErrLocked", err)
	}
	f.close()
	f.mustOpen()
	f.close()
}

// A link stays one: the file that it leads to is edited, in its own folder.
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

// A folder behind a link that can't be written to is found out at the edit, not at the
// end.
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
	if err := f.session.Begin("c"); err == nil || !strings.Contains(err.Error(), "/sys/kernel/.lorefs-") {
		t.Errorf("got %v, want that nothing can be written there", err)
	}
}

// Edits of a file that was replaced while nobody edited it are neither made nor lost.
func TestStale(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.edit("b", "2")
	f.mustSave("b")
	f.crash()
	f.put("a", "mine")
	if err := f.open(); !errors.Is(err, pending.ErrStale) || !strings.Contains(err.Error(), ": 1 of them") {
		t.Errorf("got %v, want ErrStale", err)
	}
	f.holds("a", "mine")
	if got := f.journals(); got != "stale 1" {
		t.Errorf("journals: %s", got)
	}
	f.put("a", "a.") // its owner decides
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
	j, err := pending.Kinds{Journals}.Find(path)
	if err != nil || j.Edits != 1 {
		t.Fatalf("found %+v, %v", j, err)
	}
	if err := j.Drop(); err != nil {
		t.Error(err)
	}
	if _, err := (pending.Kinds{Journals}).Find(path); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
	f.mustOpen()
	f.close()
}

// A fault at any step leaves the old file or the new one, and the edits either in
// the file or in the journal.
func TestFaults(t *testing.T) {
	fault := errors.New("a fault")
	for _, step := range pendingtest.Steps {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, crash %v", step, crash), func(t *testing.T) {
				f := newFolder(t)
				met := false
				f.opts.before = func(s replace.Step) error {
					if s != step {
						return nil
					}
					met = true
					return fault
				}
				f.mustOpen()
				f.edit("a", "1")
				if err := f.session.Begin("b"); err != nil {
					t.Fatal(err)
				}
				saved, err := f.save("a")
				if !met || !errors.Is(err, fault) {
					t.Fatalf("met %v: %v", met, err)
				}
				inPlace := errors.Is(err, replace.ErrUnsynced)
				if inPlace != (step == replace.StepSyncDir) || inPlace != (saved.Info != nil) {
					t.Errorf("%v: %+v", err, saved)
				}
				if err := f.session.Log("b", []byte("2")); inPlace != (err != nil) {
					t.Errorf("edited: %v", err)
				}
				f.opts.before = nil
				if crash {
					f.crash()
				} else {
					f.close()
				}
				f.mustOpen()
				if inPlace {
					f.holds("a", "a.1")
					if len(f.texts) != 0 {
						t.Errorf("made again: %q", f.texts)
					}
				} else {
					f.holds("a", "a.")
					f.mustSave("a")
					f.mustSave("b")
					f.holds("b", "b.2")
				}
				f.holds("a", "a.1")
				f.close()
				if got := f.journals(); got != "" {
					t.Errorf("journals: %s", got)
				}
				if left, err := filepath.Glob(filepath.Join(f.dir, ".*")); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// Somebody who dies right before a step is not told of an error: what the journal
// said until then has to do.
func TestDiesWhileSaving(t *testing.T) {
	for _, step := range []replace.Step{replace.StepLink, replace.StepRename, replace.StepSyncDir} {
		f := newFolder(t)
		stopped := errors.New("stopped")
		f.opts.before = func(s replace.Step) error {
			if s == step {
				panic(stopped)
			}
			return nil
		}
		f.mustOpen()
		f.edit("a", "1")
		f.edit("b", "2")
		func() {
			defer func() {
				if r := recover(); r != any(stopped) {
					t.Fatalf("%s: %v", step, r)
				}
			}()
			_, _ = f.save("a")
		}()
		f.opts.before = nil
		f.crash()
		f.mustOpen()
		if step == replace.StepSyncDir {
			f.holds("a", "a.1")
		} else {
			f.holds("a", "a.")
			f.mustSave("a")
		}
		f.holds("a", "a.1")
		f.mustSave("b")
		f.holds("b", "b.2")
		f.close()
		if got := f.journals(); got != "" {
			t.Errorf("%s: journals: %s", step, got)
		}
	}
}

// Records of a journal that is whole, but says what no session writes.
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
			path, err := Journals.JournalPath(dir)
			if err != nil {
				t.Fatal(err)
			}
			j, err := journal.Create(path, fmt.Appendf(nil, `{"folder":%q}`, dir))
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

// What a later version adds and who does not know it can do without is passed over.
func TestOptionalRecords(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	path := f.session.Journal()
	f.crash()
	j, _, err := journal.Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append([]byte("onothing that is known")), j.Close()); err != nil {
		t.Fatal(err)
	}
	f.mustOpen()
	if f.texts["a"] != "a.1" || f.session.Replayed() != 1 {
		t.Errorf("%d edits: %q", f.session.Replayed(), f.texts)
	}
	f.close()
}

// A record that can't be made again is kept.
func TestReplayFails(t *testing.T) {
	f := newFolder(t)
	f.mustOpen()
	f.edit("a", "1")
	f.crash()
	s, err := Open(f.dir, Options{})
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
	if err := f.open(); !errors.Is(err, iofs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// Who lists journals, or looks for one, is not taken for one who edits.
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
