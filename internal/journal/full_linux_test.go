package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lorefs/internal/disk"
	"lorefs/internal/journal"
)

// smallDisk mounts a file system of some pages.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk checks that on a full disk what was appended stays, and that the journal
// goes on when there is space.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "size=64k")
	path, ballast := filepath.Join(dir, "x.journal"), filepath.Join(dir, "ballast")
	j, err := journal.Create(disk.OS{}, path, []byte("header"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := os.WriteFile(ballast, make([]byte, 32<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	record := make([]byte, 5000)
	want, full := 0, 0
	for range 20 {
		before := j.Size()
		err := j.Append(record)
		if err == nil {
			want++
			continue
		}
		full++
		info, statErr := os.Stat(path)
		if !errors.Is(err, syscall.ENOSPC) || statErr != nil || info.Size() != before || j.Size() != before {
			t.Fatalf("%v; %d bytes were there, %d are now, %d it says (%v)", err, before, info.Size(), j.Size(), statErr)
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if full == 0 || want == 0 {
		t.Fatalf("%d records fit, %d did not", want, full)
	}
	if got := len(records(t, path)); got != want {
		t.Errorf("%d records, want %d", got, want)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(record); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	if got := len(records(t, path)); got != want+1 {
		t.Errorf("%d records, want %d", got, want+1)
	}
	if _, err := journal.Create(disk.OS{}, path+"2", make([]byte, 100<<10)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("made without room: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left are %v, %v", entries, err)
	}
}
