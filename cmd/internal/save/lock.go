package save

import (
	"errors"
	"fmt"
	"os"

	"lorefs/internal/filelock"
	"lorefs/internal/shareopen"
)

// Lock is held by a process that replaces a source without edits of its own.
type Lock struct {
	own  *filelock.Lock
	file *os.File
}

// Take locks a source for this process, as [Open] does. Its path must have no links. If another
// process is editing it, the error matches [filelock.ErrLocked]. On systems without locks nobody
// can edit, and Take succeeds without one.
func Take(source string) (*Lock, error) {
	own, err := acquire(nameOf(source), source)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, err
	}
	l := &Lock{own: own}
	l.file, err = lockSource(source)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close releases the lock.
func (l *Lock) Close() error {
	var errs []error
	if l.file != nil {
		errs = append(errs, l.file.Close())
	}
	if l.own != nil {
		errs = append(errs, l.own.Close())
	}
	return errors.Join(errs...)
}

// Held returns an error that matches [filelock.ErrLocked] if a process is editing a source, whose
// path has no links. It keeps no lock.
func Held(source string) error {
	if path, err := lockPath(nameOf(source)); err == nil {
		if err := filelock.Probe(path); errors.Is(err, filelock.ErrLocked) {
			return err
		}
	}
	f, err := shareopen.Read(source, 0)
	if err != nil {
		return nil //nolint:nilerr // nobody can edit a file that can't be opened
	}
	defer f.Close()
	if err := filelock.ProbeFile(f); errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}
