// Package disk is what is asked of the disk by those who must lose nothing: journals, and
// new files that take the place of old ones. They get an [FS] when they are made. Tests
// give them one of package disktest, at which any operation can fail, and which knows what
// a power cut would leave.
//
// Looking at names and attributes is not part of it: a look that fails costs nothing.
package disk

import (
	"io"
	"os"

	"lorefs/internal/filelock"
)

// FS is a file system. The paths of names are not followed if they are links.
type FS interface {
	// Open opens a regular file, or with O_CREATE makes it, for its owner only.
	Open(path string, flag int) (File, error)
	// Link gives a file a second name, which must not be there yet.
	Link(from, to string) error
	// Rename replaces what has the name.
	Rename(from, to string) error
	// RenameNew replaces nothing: the error of a name that is there is [io/fs.ErrExist].
	// Systems that don't know how to give another error.
	RenameNew(from, to string) error
	// Exchange has two names swap their files, at one moment. Systems that don't know how to
	// give an error.
	Exchange(a, b string) error
	Remove(path string) error
	// SyncDir makes lasting what was made, renamed or removed in a folder.
	SyncDir(path string) error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (os.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	// OS is the file for what else there is: locks, owners, attributes.
	OS() *os.File
}

// OS is the file system that is really there.
type OS struct{}

// Or is fs, or without one the file system that is really there.
func Or(fs FS) FS {
	if fs == nil {
		return OS{}
	}
	return fs
}

const filePerm = 0o600

type osFile struct{ *os.File }

func (f osFile) OS() *os.File { return f.File }

// Open is [filelock.OpenFile].
func (OS) Open(path string, flag int) (File, error) {
	f, err := filelock.OpenFile(path, flag, filePerm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Link is [os.Link].
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Rename is [os.Rename].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is [os.Remove].
func (OS) Remove(path string) error { return os.Remove(path) }

// WriteFull writes all of b. A write that stops short is an error, whatever it says.
func WriteFull(w io.WriterAt, b []byte, off int64) error {
	n, err := w.WriteAt(b, off)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
