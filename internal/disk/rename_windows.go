package disk

import (
	"errors"
	"os"
	"path/filepath"
)

// Rename renames a file of a folder. [os.Rename] can't replace a file that is open, but
// [os.Root.Rename] can if the file system allows it, as NTFS does: it asks for POSIX semantics.
func (OS) Rename(from, to string) error {
	dir := filepath.Dir(from)
	if dir != filepath.Dir(to) {
		return os.Rename(from, to)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return os.Rename(from, to)
	}
	defer root.Close() // nothing was written to it
	err = root.Rename(filepath.Base(from), filepath.Base(to))
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: link.Err}
	}
	return err
}
