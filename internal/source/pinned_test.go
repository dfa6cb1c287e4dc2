package source

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// replaceBy puts another file in the place of one, as a save does.
func replaceBy(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".new", text, testTime)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestPin checks that a file that is pinned is read to its end after another took its place, and that
// only a change of the file itself counts.
func TestPin(t *testing.T) {
	f, path, pass := open(t)
	f.Pin()
	if err := f.InPlace(); err != nil {
		t.Error(err)
	}
	if err := os.Link(path, path+".bak"); err != nil {
		t.Fatal(err)
	}
	replaceBy(t, path, "another one")
	pass(checkEvery)
	if err := errors.Join(f.Check(), f.CheckNow()); err != nil {
		t.Errorf("it was replaced: %v", err)
	}
	if err := f.InPlace(); !errors.Is(err, ErrChanged) {
		t.Errorf("InPlace: %v", err)
	}
	if text, err := read(f); text != "2345" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	write(t, path+".bak", "written to", testTime.Add(1))
	if err := f.CheckNow(); !errors.Is(err, ErrChanged) {
		t.Errorf("it was written to: %v", err)
	}
}

func TestPinned(t *testing.T) {
	_, dir := newFolder(t)
	h, err := OpenPinned(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := fstest.TestFS(h, "a", "sub/b", "sub/c"); err != nil {
		t.Error(err)
	}
	if err := h.InPlace(); err != nil {
		t.Error(err)
	}
	replaceBy(t, filepath.Join(dir, "sub", "b"), "another")
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "one", "sub/b": "two"} {
		text, err := iofs.ReadFile(h, name)
		if err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
		if info, err := h.Stat(name); err != nil || info.Size() != int64(len(want)) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := h.InPlace(); !errors.Is(err, ErrChanged) {
		t.Errorf("InPlace: %v", err)
	}
	if _, err := h.Open("none"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
