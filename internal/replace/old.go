package replace

import (
	"errors"
	iofs "io/fs"
	"os"

	"lorefs/internal/filelock"
)

// judge has the caller look at the old file, and remembers which one that was: no other
// is replaced from here on.
func (r *replacement) judge() error {
	if r.fresh {
		return r.check()
	}
	holdErr := r.hold()
	if err := r.check(); err != nil {
		return err // which says more
	}
	if holdErr != nil {
		return holdErr
	}
	if !r.isOldAt(r.path) {
		return r.changed()
	}
	return nil
}

// hold keeps the old file open, so that no other file can get its number. One that may
// not be read is remembered by what it looks like.
func (r *replacement) hold() error {
	f, err := filelock.OpenFile(r.path, os.O_RDONLY, 0)
	switch {
	case err == nil:
		r.held = f
		r.old, err = f.Stat()
		if closeFirst {
			r.letGo()
		}
	case errors.Is(err, iofs.ErrPermission):
		r.old, err = os.Lstat(r.path)
	}
	if err == nil && !r.old.Mode().IsRegular() {
		err = filelock.ErrNotRegular
	}
	return err
}

// letGo closes the old file.
func (r *replacement) letGo() {
	if r.held != nil {
		_ = r.held.Close() // It was only read.
		r.held = nil
	}
}

// isOld tells whether a file is the old one, as it was when the caller looked at it.
func (r *replacement) isOld(info os.FileInfo) bool {
	old := r.old
	if r.held != nil {
		// Asked anew, because some file systems number a file anew when it is linked.
		now, err := r.held.Stat()
		if err != nil {
			return false
		}
		old = now
	}
	return os.SameFile(old, info) && info.Size() == r.old.Size() && info.ModTime().Equal(r.old.ModTime())
}

// isOldAt is isOld of what a path leads to, which is not followed if it is a link.
func (r *replacement) isOldAt(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && r.isOld(info)
}

// isNew tells whether a file is the new one.
func (r *replacement) isNew(info os.FileInfo) bool {
	mine, err := r.temp.Stat()
	return err == nil && os.SameFile(mine, info)
}

// changed says that the old file is not in its place any more, in the caller's words
// if it has some.
func (r *replacement) changed() error {
	if err := r.check(); err != nil {
		return err
	}
	return ErrChanged
}
