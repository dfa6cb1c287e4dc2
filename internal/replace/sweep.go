package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lorefs/internal/filelock"
)

// Sweep removes what writers that died left beside the file at path, and gives
// the paths of what it removed. It touches only names that Replace makes, and
// none of a writer that lives.
func Sweep(path string) ([]string, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var removed []string
	for _, e := range entries {
		owner, ok := ownerOf(e.Name(), base)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		gone, err := sweepOne(filepath.Join(dir, e.Name()), filepath.Join(dir, owner))
		if err != nil {
			return removed, fmt.Errorf("sweep: %w", err)
		}
		if gone {
			removed = append(removed, filepath.Join(dir, e.Name()))
		}
	}
	return removed, nil
}

// sweepOne removes a file if its owner, which may be itself, is abandoned: not
// there, or not locked. A backup has no lock of its own, as it is the old file,
// which others lock for other reasons.
func sweepOne(path, owner string) (bool, error) {
	f, err := filelock.OpenFile(owner, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		// A backup's writer is gone or through; names are never used twice.
	case err != nil:
		return false, nil //nolint:nilerr // what cannot be opened is somebody else's
	default:
		// The lock is held until the file is removed, or a writer that has made it
		// this very moment would lock it and lose it.
		defer f.Close()
		if err := filelock.LockFile(f); err != nil {
			return false, nil //nolint:nilerr // its writer lives, or nobody can tell
		}
		if closeFirst {
			f.Close()
		}
	}
	if err := os.Remove(path); err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}
