//go:build unix

package source

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenPipe opens a pipe without a writer, which would block a careless open forever.
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "is a pipe: want a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	d, err := OpenFolder(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open("pipe"); err == nil || !strings.Contains(err.Error(), "is a pipe: want a regular file") {
		t.Errorf("a pipe in a folder: %v", err)
	}
	// A pipe that takes a file's place between the look at it and the opening.
	if _, err := d.open("pipe"); err == nil || !strings.Contains(err.Error(), "is a pipe: want a regular file") {
		t.Errorf("a pipe in the place of a file: %v", err)
	}
}
