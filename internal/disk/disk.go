package disk

import (
	"io"
	"os"

	"lorefs/internal/filelock"
)

// FS is a file system. It does not follow a link that is the last element of a path.
type FS interface {
	// Open opens a regular file. With O_CREATE it makes the file, for its owner only.
	Open(path string, flag int) (File, error)
	// Link gives a file a second name, which must not exist.
	Link(from, to string) error
	// Rename renames a file, and replaces a file at to.
	Rename(from, to string) error
	// RenameNew renames a file. If to exists, the error matches [io/fs.ErrExist]. Systems and
	// file systems that can't do this return another error.
	RenameNew(from, to string) error
	// Exchange exchanges the files of two names atomically. Systems and file systems that can't
	// do this return an error.
	Exchange(a, b string) error
	Remove(path string) error
	// SyncDir makes durable what was made, renamed or removed in a folder.
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
	// CopyFrom writes what is left of an open file to an empty one. Where the file system can, both
	// share their blocks.
	CopyFrom(from *os.File) (int64, error)
	// OS returns the file for everything else: locks, owners, attributes.
	OS() *os.File
}

// OS is the file system of the operating system.
type OS struct{}

// Or returns fs, or [OS] if fs is nil.
func Or(fs FS) FS {
	if fs == nil {
		return OS{}
	}
	return fs
}

const filePerm = 0o600

type osFile struct{ *os.File }

func (f osFile) OS() *os.File { return f.File }

func (f osFile) CopyFrom(from *os.File) (int64, error) { return io.Copy(f.File, from) }

// Open calls [filelock.OpenFile].
func (OS) Open(path string, flag int) (File, error) {
	f, err := filelock.OpenFile(path, flag, filePerm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Link calls [os.Link].
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Remove calls [os.Remove].
func (OS) Remove(path string) error { return os.Remove(path) }

// WriteFull writes all of b. A short write is an error even if the file reports none.
func WriteFull(w io.WriterAt, b []byte, off int64) error {
	n, err := w.WriteAt(b, off)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
