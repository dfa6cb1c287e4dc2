package source

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"
)

func newFolder(t *testing.T) (d *Folder, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"a": "one", "sub/b": "two", "sub/c": "three"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d, dir
}

func TestFolderFS(t *testing.T) {
	d, _ := newFolder(t)
	if err := fstest.TestFS(d, "a", "sub/b", "sub/c"); err != nil {
		t.Error(err)
	}
	if err := d.CheckNow(); err != nil {
		t.Error(err)
	}
}

// TestFolderChanged checks that only files that were opened are guarded, and that a change
// is never forgotten.
func TestFolderChanged(t *testing.T) {
	for what, change := range map[string]func(path string) error{
		"other content": func(path string) error { return os.WriteFile(path, []byte("longer than before"), 0o600) },
		"other time":    func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"gone":          os.Remove,
	} {
		t.Run(what, func(t *testing.T) {
			d, dir := newFolder(t)
			if text, err := iofs.ReadFile(d, "sub/b"); err != nil || string(text) != "two" {
				t.Fatal(string(text), err)
			}
			if err := change(filepath.Join(dir, "sub", "c")); err != nil {
				t.Fatal(err)
			}
			if err := d.CheckNow(); err != nil {
				t.Errorf("a file that nobody has opened: %v", err)
			}
			if err := change(filepath.Join(dir, "sub", "b")); err != nil {
				t.Fatal(err)
			}
			if _, err := iofs.ReadFile(d, "sub/b"); !errors.Is(err, ErrChanged) || errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("opened again: %v", err)
			}
			if _, err := d.Stat("sub/b"); !errors.Is(err, ErrChanged) || errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("Stat: %v", err)
			}
			if err := d.Check(); !errors.Is(err, ErrChanged) {
				t.Errorf("Check: %v", err)
			}
		})
		t.Run(what+", by CheckNow", func(t *testing.T) {
			d, dir := newFolder(t)
			if _, err := iofs.ReadFile(d, "sub/b"); err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(dir, "sub", "b")); err != nil {
				t.Fatal(err)
			}
			if err := d.CheckNow(); !errors.Is(err, ErrChanged) {
				t.Errorf("CheckNow: %v", err)
			}
		})
	}
}

func TestFolderErrors(t *testing.T) {
	d, dir := newFolder(t)
	if _, err := OpenFolder(filepath.Join(dir, "a")); err == nil {
		t.Error("a file is a folder")
	}
	if _, err := OpenFolder(filepath.Join(dir, "none")); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := d.Open("none"); !errors.Is(err, iofs.ErrNotExist) || errors.Is(err, ErrChanged) {
		t.Errorf("no file: %v", err)
	}
}
