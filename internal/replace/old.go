package replace

import (
	"errors"
	iofs "io/fs"
	"os"

	"lorefs/internal/filelock"
)

// judge asks the caller about the old file, and remembers it: no other file is replaced
// later.
func (f *File) judge() error {
	if f.fresh {
		return f.check()
	}
	pinErr := f.pin()
	if err := f.check(); err != nil {
		return err // it says more
	}
	if pinErr != nil {
		return pinErr
	}
	if !f.isOldAt(f.path) {
		return f.changed()
	}
	return nil
}

func (f *File) check() error {
	if f.o.Check == nil {
		return nil
	}
	return f.o.Check()
}

// pin keeps the old file open, so that no other file can get its number. If the process may
// not read it, it is remembered by its attributes.
func (f *File) pin() error {
	pinned, err := f.disk.Open(f.path, os.O_RDONLY)
	switch {
	case err == nil:
		f.pinned = pinned
		f.old, err = pinned.Stat()
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

func (f *File) letGo() {
	if f.pinned != nil {
		_ = f.pinned.Close() // nothing was written to it
		f.pinned = nil
	}
}

// isOld reports whether a file is the old one, unchanged since the caller was asked.
func (f *File) isOld(info os.FileInfo) bool {
	old := f.old
	if f.pinned != nil {
		// Stat it again, because some file systems give a file another number when it is
		// linked.
		now, err := f.pinned.Stat()
		if err != nil {
			return false
		}
		old = now
	}
	return os.SameFile(old, info) && info.Size() == f.old.Size() && info.ModTime().Equal(f.old.ModTime())
}

// isOldAt reports whether a path is the old file. It does not follow links.
func (f *File) isOldAt(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && f.isOld(info)
}

// isNew reports whether a file is the new one.
func (f *File) isNew(info os.FileInfo) bool {
	mine, err := f.temp.Stat()
	return err == nil && os.SameFile(mine, info)
}

// changed returns the error for an old file that has been replaced: the caller's, if it has
// one.
func (f *File) changed() error {
	if err := f.check(); err != nil {
		return err
	}
	return ErrChanged
}
