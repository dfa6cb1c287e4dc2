package userdir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

func testDir(t *testing.T, sub ...string) *Dir {
	t.Helper()
	d, err := open(t.TempDir(), sub, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestFolders(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the folders are elsewhere on this system")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	cache, err := Cache("index")
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	state, err := State("run")
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if cache.sync != nil || state.sync == nil {
		t.Error("the state has to outlast a power cut, and the cache need not")
	}
	if got, want := cache.Path(), filepath.Join(home, ".cache", "lorefs", "index"); got != want {
		t.Errorf("cache is %s, want %s", got, want)
	}
	if got, want := state.Path(), filepath.Join(home, "state", "lorefs", "run"); got != want {
		t.Errorf("state is %s, want %s", got, want)
	}
	for dir := cache.Path(); dir != filepath.Join(home, ".cache"); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != dirPerm {
			t.Errorf("%s has mode %v", dir, info.Mode())
		}
	}
}

// TestFoldersLast checks that each new folder and its parent are synced before anything is
// put into it, and that existing ones are not. A file that is put into one is synced by it.
func TestFoldersLast(t *testing.T) {
	top := t.TempDir()
	base := filepath.Join(top, "a", "b")
	var synced []string
	record := func(path string) error {
		if entries, err := os.ReadDir(path); err != nil || len(entries) > 1 {
			t.Errorf("%s holds %v when it is synced: %v", path, entries, err)
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		synced = append(synced, filepath.ToSlash(rel))
		return nil
	}
	want := func(paths ...string) {
		t.Helper()
		if !slices.Equal(synced, paths) {
			t.Errorf("synced are %q, want %q", synced, paths)
		}
		synced = nil
	}
	d, err := open(base, []string{"journal"}, record)
	if err != nil {
		t.Fatal(err)
	}
	want("a", ".", "a/b", "a", "a/b/lorefs", "a/b", "a/b/lorefs/journal", "a/b/lorefs")
	if err := d.WriteFile("x", []byte("x")); err != nil {
		t.Fatal(err)
	}
	want("a/b/lorefs/journal")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if d, err = open(base, []string{"journal"}, record); err != nil {
		t.Fatal(err)
	}
	d.Close()
	want()

	// A folder that can't be synced is removed: the next run would assume that it is
	// synced.
	fault := errors.New("a fault")
	top = t.TempDir()
	for _, fails := range []string{"c", "c/lorefs", "c/lorefs/journal"} {
		fail := true
		sync := func(path string) error {
			if fail && path == filepath.Join(top, filepath.FromSlash(fails)) {
				return fault
			}
			return record(path)
		}
		if d, err := open(filepath.Join(top, "c"), []string{"journal"}, sync); !errors.Is(err, fault) {
			t.Errorf("%s can't be synced: %v, %v", fails, d, err)
		}
		fail, synced = false, nil
		d, err := open(filepath.Join(top, "c"), []string{"journal"}, func(path string) error {
			synced = append(synced, path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
		if !slices.Contains(synced, filepath.Join(top, filepath.FromSlash(fails))) {
			t.Errorf("%s was never synced, only %q", fails, synced)
		}
		if err := os.RemoveAll(filepath.Join(top, "c")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFiles(t *testing.T) {
	d := testDir(t, "a", "b")
	if _, err := d.ReadFile("x", 10); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, text := range []string{"one", "", "three"} {
		if err := d.WriteFile("x", []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := d.ReadFile("x", 10)
		if err != nil || string(got) != text {
			t.Errorf("read %q, %v, want %q", got, err, text)
		}
	}
	if _, err := d.ReadFile("x", 4); err == nil {
		t.Error("a file above the limit was read")
	}
	info, err := os.Stat(filepath.Join(d.Path(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if checkModes && info.Mode().Perm() != filePerm {
		t.Errorf("the mode is %v", info.Mode())
	}
	for range 2 {
		if err := d.Remove("x"); err != nil {
			t.Error(err)
		}
	}
}

func testStore(t *testing.T, limit int64) *Store { return NewStore(testDir(t, "index"), limit) }

func TestStore(t *testing.T) {
	s := testStore(t, 1000)
	if _, err := s.Load("abc"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key that is not there: %v", err)
	}
	want := []byte("some data")
	if err := s.Save("abc", want); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("abc"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("loaded %q, %v", got, err)
	}
	for _, key := range []string{"", "../abc", "a/b", ".abc", "a.b", string(make([]byte, 200))} {
		if err := s.Save(key, want); err == nil {
			t.Errorf("key %q was taken", key)
		}
		if _, err := s.Load(key); err == nil || errors.Is(err, os.ErrNotExist) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if err := s.Save("large", make([]byte, 1001)); err == nil {
		t.Error("more than the limit was kept")
	}
}

// TestStorePrune checks that what was used last stays.
func TestStorePrune(t *testing.T) {
	s := testStore(t, 1000)
	age := func(key string, d time.Duration) {
		at := time.Now().Add(-d)
		if err := s.dir.root.Chtimes(key+suffix, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i, key := range []string{"oldest", "older", "old"} {
		if err := s.Save(key, make([]byte, 300)); err != nil {
			t.Fatal(err)
		}
		age(key, time.Duration(10-i)*time.Hour)
	}
	if _, err := s.Load("oldest"); err != nil { // and thereby the newest
		t.Fatal(err)
	}
	if err := s.dir.WriteFile(".half", make([]byte, 50)); err != nil {
		t.Fatal(err)
	}
	if err := s.dir.root.Chtimes(".half", time.Unix(0, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Save("new", make([]byte, 300)); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"oldest": true, "older": false, "old": true, "new": true}
	for key, there := range want {
		if _, err := s.Load(key); (err == nil) != there {
			t.Errorf("%s: %v, want it there: %v", key, err, there)
		}
	}
	if _, err := s.dir.ReadFile(".half", 100); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was half written is still there: %v", err)
	}
}

// TestStoreConcurrent checks that readers get one of the written versions, whole.
func TestStoreConcurrent(t *testing.T) {
	s := testStore(t, 1<<20)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			data := bytes.Repeat([]byte{byte(i)}, 1000+i)
			for n := range 20 {
				if err := s.Save(fmt.Sprint("key", n%3), data); err != nil {
					t.Error(err)
				}
				got, err := s.Load(fmt.Sprint("key", n%3))
				if err != nil {
					continue // replaced between looking and opening
				}
				if len(got) == 0 || !bytes.Equal(got, bytes.Repeat(got[:1], 1000+int(got[0]))) {
					t.Errorf("torn: %d bytes", len(got))
				}
			}
		})
	}
	wg.Wait()
}

// TestStateAtOnce asks for the folders at the same time.
func TestStateAtOnce(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, err := State("journal")
			if err != nil {
				t.Error(err)
				return
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
