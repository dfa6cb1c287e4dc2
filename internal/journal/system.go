package journal

import (
	"io"
	"os"

	"lorefs/internal/filelock"
	"lorefs/internal/replace"
)

// system is the part of the operating system that a journal uses. Tests replace it by one
// that fails.
type system interface {
	// open opens or makes a file that only its owner may use, and follows no link.
	open(path string, flag int) (file, error)
	link(from, to string) error
	rename(from, to string) error
	remove(path string) error
	exists(path string) (bool, error)
	syncDir(path string) error
}

// file is the part of an open file that a journal uses.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (os.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// disk is the real system.
type disk struct{}

const filePerm = 0o600

func (disk) open(path string, flag int) (file, error) {
	f, err := filelock.OpenFile(path, flag, filePerm)
	if err != nil {
		return nil, err // not f, which would be a non-nil file
	}
	return f, nil
}

func (disk) link(from, to string) error   { return os.Link(from, to) }
func (disk) rename(from, to string) error { return os.Rename(from, to) }
func (disk) remove(path string) error     { return os.Remove(path) }
func (disk) syncDir(path string) error    { return replace.SyncDir(path) }

func (disk) exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

// writeFull writes b. A write that stops short is an error, whatever it returns.
func writeFull(w io.WriterAt, b []byte, off int64) error {
	n, err := w.WriteAt(b, off)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
