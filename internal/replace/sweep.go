package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lorefs/internal/filelock"
)

// Sweep removes what writers that died left beside the file at path, which need not be
// there itself, and gives the paths of what it removed. It touches only names that Replace makes, and
// none of a writer that lives.
func Sweep(path string) ([]string, error) {
	dir, base, err := resolveName(path)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
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

// resolveName splits the path of a file, of which links are followed if it is there.
func resolveName(path string) (dir, base string, err error) {
	whole, err := resolve(path)
	if errors.Is(err, iofs.ErrNotExist) {
		whole, err = resolve(filepath.Dir(path))
		whole = filepath.Join(whole, filepath.Base(path))
	}
	dir, base = filepath.Split(whole)
	return dir, base, err
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
