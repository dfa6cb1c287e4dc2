package output

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lorefs/cmd/internal/save"
	"lorefs/geometry"
	"lorefs/internal/filelock"
	"lorefs/internal/links"
	"lorefs/internal/replace"
)

// Claim keeps other processes from editing a file that is to be written, or the files of a
// folder, until the claim is closed. If the file is being edited already, the error is an
// [*InUseError]: writing it would take away the source of a mount. A file that does not
// exist yet needs no lock. tell is called with what Claim finds of a run that was killed,
// and keeps.
func Claim(path string, tell func(error)) (*save.Lock, error) {
	above := filepath.Dir(path)
	if info, err := os.Stat(above); errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%s can't be written: the folder %s does not exist", path, above)
	} else if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s can't be written: %s is no folder", path, above)
	}
	// This must come before the lock: a save that was killed may have left another name of
	// the file, and the lock would then look like that of a living writer.
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

// canBeEdited reports whether a path leads to a file or a folder. Opening anything else can
// have effects.
func canBeEdited(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// Sweep removes what a run that was killed has left beside a file, and calls tell with what
// it keeps. It ignores what it can't remove, since that does no harm.
func Sweep(path string, tell func(error)) {
	_, err := replace.Sweep(path)
	if kept, ok := errors.AsType[*replace.KeptError](err); ok {
		tell(kept)
	}
}

// InUseError means that a file was not written because it is being edited.
type InUseError struct {
	Path string
	Err  error
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is not written, as somebody edits it: %v", e.Path, e.Err)
}

func (e *InUseError) Unwrap() error { return e.Err }

// MayReplace returns an error if a file is being edited, or the folder of world geometry
// that it belongs to.
func MayReplace(path string) error {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil || !canBeEdited(whole) {
		return nil //nolint:nilerr // nobody can edit a file that does not exist
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
