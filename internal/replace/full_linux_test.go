package replace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// mountTest mounts a file system for as long as the test runs.
func mountTest(t *testing.T, kind, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount(kind, dir, kind, 0, options); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk checks that the old file stays if the disk is full, or fills up.
func TestFullDisk(t *testing.T) {
	dir := mountTest(t, "tmpfs", "size=5m")
	path := filepath.Join(dir, "file.dat")
	if err := os.WriteFile(path, text(1), 0o600); err != nil {
		t.Fatal(err)
	}
	size := int64(len(text(2)))
	for _, o := range []Options{{}, {Size: size}} {
		err := Replace(t.Context(), path, o, writeText(2), nil)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v", err)
		}
		if space, ok := errors.AsType[*SpaceError](err); ok != (o.Size > 0) || ok && (space.Missing() <= 0 || space.Missing() > size) {
			t.Errorf("room for %d: %v", o.Size, err)
		}
		wantFiles(t, dir, map[string]int{"file.dat": 1})
	}
	// A backup that does not fit is no reason to lose a file either.
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=7m"); err != nil {
		t.Fatal(err)
	}
	noLink := Options{Size: size, Disk: noLinks}
	if err := Replace(t.Context(), path, noLink, writeText(2), nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 1})
	if err := Replace(t.Context(), path, Options{Size: size}, writeText(2), nil); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 2, "file.dat.bak": 1})
}
