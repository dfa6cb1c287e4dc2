//go:build unix

package save

import (
	"os"
	"path/filepath"
	"testing"
)

// TestConflictPrivate checks that only the user can read a conflict file if the edited file is
// gone, even in a folder open to all: it is unknown who could read the file.
func TestConflictPrivate(t *testing.T) {
	f := newFolder(t)
	if err := os.Chmod(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f.mustOpen()
	f.edit("a", "1")
	if err := os.Remove(filepath.Join(f.dir, "a")); err != nil {
		t.Fatal(err)
	}
	c := f.conflict("a")
	if info, err := os.Stat(c.Path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	f.close()
}
