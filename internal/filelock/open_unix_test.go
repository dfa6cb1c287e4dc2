//go:build unix

package filelock_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lorefs/internal/filelock"
)

// TestOpenFile checks that only regular files are opened, and none through a link.
func TestOpenFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(path string) error{
		"link":         func(path string) error { return os.Symlink(outside, path) },
		"dangling":     func(path string) error { return os.Symlink(outside+".not", path) },
		"pipe":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":       func(path string) error { return os.Mkdir(path, 0o700) },
		"not existing": func(string) error { return nil },
	}
	for what, make := range cases {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if f, err := filelock.OpenFile(path, os.O_RDONLY, 0); err == nil {
				t.Error("opened", f.Close())
			}
			if what == "not existing" {
				return
			}
			if l, err := filelock.Acquire(path, "x"); err == nil {
				t.Error("locked", l.Close())
			}
		})
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "keep" {
		t.Errorf("the link was followed: %q, %v", text, err)
	}
	if _, err := os.Lstat(outside + ".not"); err == nil {
		t.Error("a file was made through a link")
	}
}
