package output

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lorefs/geometry"
	"lorefs/internal/filelock"
	"lorefs/internal/links"
	"lorefs/internal/replace"
	"lorefs/internal/save"
)

// Claim keeps others from editing a file that is to be written, or the files in a folder,
// until the claim is closed. If somebody does already, the mount would lose its source:
// the error is an [*InUseError] then. What is not there yet, nobody can edit. tell is told of
// what it keeps of a run that was killed.
func Claim(path string, tell func(error)) (*save.Lock, error) {
	above := filepath.Dir(path)
	if info, err := os.Stat(above); errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%s can't be written: the folder %s does not exist", path, above)
	} else if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s can't be written: %s is no folder", path, above)
	}
	// Before the file is locked: what a save has left can be another name of it, which
	// would look as if its writer lived.
	Sweep(path, tell)
	whole, err := links.Resolve(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return new(save.Lock), nil
	}
	if err != nil {
		return nil, err
	}
	if !canBeEdited(whole) {
		return new(save.Lock), nil
	}
	lock, err := save.Take(whole)
	if err != nil {
		return nil, &InUseError{path, err}
	}
	return lock, nil
}

// canBeEdited tells files and folders from what only opening can have effects on.
func canBeEdited(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// Sweep removes what a run has left beside a file that was killed, and tells of what
// it keeps. What can't be removed is in nobody's way.
func Sweep(path string, tell func(error)) {
	_, err := replace.Sweep(path)
	if kept, ok := errors.AsType[*replace.KeptError](err); ok {
		tell(kept)
	}
}

// InUseError means that a file is not written because somebody edits it.
type InUseError struct {
	Path string
	Err  error
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is not written, as somebody edits it: %v", e.Path, e.Err)
}

func (e *InUseError) Unwrap() error { return e.Err }

// MayReplace is an error if somebody edits a file that is there already, or the folder of
// world geometry that it belongs to.
func MayReplace(path string) error {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil || !canBeEdited(whole) {
		return nil //nolint:nilerr // nobody can edit what is not there
	}
	err = save.Held(whole)
	if err == nil && geometry.IsFile(whole) {
		err = save.Held(filepath.Dir(whole))
	}
	if errors.Is(err, filelock.ErrLocked) {
		return &InUseError{path, err}
	}
	return nil
}
