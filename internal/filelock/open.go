package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"lorefs/internal/shareopen"
)

// ErrNotRegular means that something other than a file, such as a folder, a pipe or a
// device, lies where a file was to be opened.
var ErrNotRegular = errors.New("not a regular file")

// OpenFile opens a regular file as [os.OpenFile] does. It does not follow a link at path,
// so that the file is in that folder, and does not wait for the other end of a pipe.
func OpenFile(path string, flag int, perm os.FileMode) (*os.File, error) {
	if flag&os.O_EXCL == 0 {
		flag |= syscall.O_NONBLOCK // a new file is no pipe
	}
	f, err := open(path, flag|noFollow, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// open opens files that are only read in a way that lets others rename them.
func open(path string, flag int, perm os.FileMode) (*os.File, error) {
	const forMore = os.O_WRONLY | os.O_RDWR | os.O_CREATE | os.O_TRUNC | os.O_APPEND
	if flag&forMore == 0 {
		return shareopen.Read(path, flag)
	}
	return os.OpenFile(path, flag, perm)
}
