package treecopy_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lorefs/cmd/internal/treecopy"
	"lorefs/internal/diskspace"
)

// TestFullDisk checks that a disk that fills up ends it at once, with one error, without a
// partial file, and before the disk is full.
func TestFullDisk(t *testing.T) {
	const size = 64 << 20
	to := t.TempDir()
	if err := syscall.Mount("tmpfs", to, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(to, 0); err != nil {
			t.Error(err)
		}
	})
	const each = 3 << 20
	files := func(yield func(treecopy.File) bool) {
		for i := 0; ; i++ {
			f := treecopy.File{Path: fmt.Sprintf("d/%d", i), Write: func(ctx context.Context, w io.Writer) error {
				buf := make([]byte, 64<<10)
				for range each / len(buf) {
					if _, err := w.Write(buf); err != nil {
						return err
					}
				}
				return ctx.Err()
			}}
			if !yield(f) {
				return
			}
		}
	}
	r, err := treecopy.Write(t.Context(), files, to, treecopy.Options{Failed: func(path string, _ treecopy.Reason, err error) error {
		t.Errorf("told of %s: %v", path, err)
		return nil
	}})
	if !diskspace.IsFull(err) {
		t.Fatalf("%+v, %v", r, err)
	}
	space, err := diskspace.Of(to)
	if err != nil || space.Free < space.Reserve() {
		t.Errorf("left are %+v, %v", space, err)
	}
	if r.Files < size/each/2 || r.Bytes != r.Files*each {
		t.Errorf("%+v", r)
	}
	names, err := os.ReadDir(filepath.Join(to, "d"))
	if err != nil || int64(len(names)) != r.Files {
		t.Errorf("%d files are there, %+v, %v", len(names), r, err)
	}
	for name, text := range onDisk(t, to) {
		if len(text) != each {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}
