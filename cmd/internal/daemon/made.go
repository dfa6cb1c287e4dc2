package daemon

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// MakeFolders makes a folder and those above it that are missing. It returns the absolute
// paths of those that it has made, the lowest first.
func MakeFolders(dir string) (made []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	var missing []string // the lowest first
	for at := dir; ; at = filepath.Dir(at) {
		// Of a dead mount there is something, though nothing can be asked about it.
		if _, err := os.Lstat(at); !errors.Is(err, iofs.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		err := os.Mkdir(at, 0o777)
		if errors.Is(err, iofs.ErrExist) {
			continue // another process was faster, and has to remove it
		}
		if err != nil {
			return made, err
		}
		made = slices.Insert(made, 0, at)
	}
	return made, nil
}

// RemoveFolders removes folders up to the first that is in use: something is in it, or is
// mounted on it.
func RemoveFolders(folders []string) error {
	for _, at := range folders {
		err := syscall.Rmdir(at) // which removes no file that has taken its place
		switch {
		case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ENOTDIR), errors.Is(err, iofs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("--mkdir: can't remove %s: %w", at, err)
		}
	}
	return nil
}
