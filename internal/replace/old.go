package replace

import (
	"errors"
	iofs "io/fs"
	"os"

	"lorefs/internal/filelock"
)

// judge has the caller look at the old file, and remembers which one that was: no other
// is replaced from here on.
func (f *File) judge() error {
	if f.fresh {
		return f.check()
	}
	holdErr := f.hold()
	if err := f.check(); err != nil {
		return err // which says more
	}
	if holdErr != nil {
		return holdErr
	}
	if !f.isOldAt(f.path) {
		return f.changed()
	}
	return nil
}

// check asks the caller.
func (f *File) check() error {
	if f.o.Check == nil {
		return nil
	}
	return f.o.Check()
}

// hold keeps the old file open, so that no other file can get its number. One that may
// not be read is remembered by what it looks like.
func (f *File) hold() error {
	held, err := f.disk.Open(f.path, os.O_RDONLY)
	switch {
	case err == nil:
		f.held = held
		f.old, err = held.Stat()
		if closeFirst {
			f.letGo()
		}
	case errors.Is(err, iofs.ErrPermission):
		f.old, err = os.Lstat(f.path)
	}
	if err == nil && !f.old.Mode().IsRegular() {
		err = filelock.ErrNotRegular
	}
	return err
}

// letGo closes the old file.
func (f *File) letGo() {
	if f.held != nil {
		_ = f.held.Close() // It was only read.
		f.held = nil
	}
}

// isOld tells whether a file is the old one, as it was when the caller looked at it.
func (f *File) isOld(info os.FileInfo) bool {
	old := f.old
	if f.held != nil {
		// Asked anew, because some file systems number a file anew when it is linked.
		now, err := f.held.Stat()
		if err != nil {
			return false
		}
		old = now
	}
	return os.SameFile(old, info) && info.Size() == f.old.Size() && info.ModTime().Equal(f.old.ModTime())
}

// isOldAt is isOld of what a path leads to, which is not followed if it is a link.
func (f *File) isOldAt(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && f.isOld(info)
}

// isNew tells whether a file is the new one.
func (f *File) isNew(info os.FileInfo) bool {
	mine, err := f.temp.Stat()
	return err == nil && os.SameFile(mine, info)
}

// changed says that the old file is not in its place any more, in the caller's words
// if it has some.
func (f *File) changed() error {
	if err := f.check(); err != nil {
		return err
	}
	return ErrChanged
}
