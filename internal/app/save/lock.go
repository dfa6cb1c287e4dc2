package save

import (
	"errors"
	"os"
	"runtime"

	"lorefs/internal/filelock"
)

// Lock is held by a process that writes a source anew, without edits of its own.
type Lock struct {
	own  *filelock.Lock
	file *os.File
}

// Take takes a source for this process alone, as [Open] does: its path has no
// links, and an error matches [filelock.ErrLocked] while somebody else edits it. Where
// locks can't be had, nobody can edit, and no lock is needed.
func Take(source string) (*Lock, error) {
	own, err := acquire(nameOf(source), source)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, err
	}
	l := &Lock{own: own}
	if runtime.GOOS == "windows" {
		return l, nil // A file that is open can't be replaced there.
	}
	l.file, err = lockSource(source)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close gives the source back.
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

// Held is an error that matches [filelock.ErrLocked] while somebody edits a source,
// whose path has no links. No lock is kept.
func Held(source string) error {
	if path, err := lockPath(nameOf(source)); err == nil {
		if err := filelock.Probe(path); errors.Is(err, filelock.ErrLocked) {
			return err
		}
	}
	f, err := lockSource(source)
	if f != nil {
		f.Close()
	}
	if errors.Is(err, filelock.ErrLocked) {
		return err
	}
	return nil
}
