package objects_test

import (
	"errors"
	"net/http"
	"os"
	"syscall"
	"testing"

	"lorefs/internal/diskspace"
	"lorefs/internal/remote/objects"
)

// TestEndless has a server send an object that nothing can be pinned by, and that has no end. It
// does not fill the disk.
func TestEndless(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=32m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("TMPDIR", disk)
	s := newWeb(t)
	requests := 0
	s.setFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") == "" {
			requests++
		}
		some := make([]byte, 1<<20)
		for {
			if _, err := w.Write(some); err != nil {
				return true
			}
		}
	})
	_, err := store(t, s.URL+"/a", objects.Options{}).Open(t.Context(), "")
	if low, ok := errors.AsType[*diskspace.LowError](err); !ok || low.Free < low.Reserve() {
		t.Errorf("%v", err)
	}
	if requests != 1 {
		t.Errorf("it was asked for %d times", requests)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
		t.Errorf("%v stays: %v", left, err)
	}
}
