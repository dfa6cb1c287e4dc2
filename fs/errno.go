//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// errnoOf is the only place where errors become numbers. known tells whether
// the number says all there is to say; if not, the error is worth logging.
//
// A number of the system's that comes out of the source is not passed on: ENOENT
// would be kept by the kernel as a name that is not there, ENOSYS would switch
// the request off for good. Nor is there a number for [nodes.ErrNotExist], since
// only LOOKUP may answer that way: of an ID that the kernel knows it is a fault.
func errnoOf(err error) (errno syscall.Errno, known bool) {
	if err == nil {
		return 0, true
	}
	for _, e := range errnos {
		if errors.Is(err, e.err) {
			return e.errno, e.known
		}
	}
	return syscall.EIO, false
}

var errnos = []struct {
	err   error
	errno syscall.Errno
	known bool
}{
	{nodes.ErrChanged, syscall.EIO, false},
	// A signal that came while the source was being read.
	{context.Canceled, syscall.EINTR, true},
	{nodes.ErrNotDir, syscall.ENOTDIR, true},
	{nodes.ErrIsDir, syscall.EISDIR, true},
	{nodes.ErrNoXattr, syscall.Errno(fuse.ENOATTR), true},
	{nodes.ErrUnavailable, errNoData, true},
	{nodes.ErrNoKey, errNoKey, true},
	{syscall.ENOMEM, syscall.ENOMEM, false},

	{nodes.ErrExist, syscall.EEXIST, true},
	{nodes.ErrNotEmpty, syscall.ENOTEMPTY, true},
	{nodes.ErrReadOnly, syscall.EROFS, true},
	{nodes.ErrCross, syscall.EXDEV, true},
	// What exactly did not fit, nobody but the log can tell.
	{nodes.ErrNotPermitted, syscall.EPERM, false},
	{nodes.ErrInvalid, syscall.EINVAL, false},
	{nodes.ErrTooLarge, syscall.EFBIG, false},
	{nodes.ErrNoSpace, syscall.ENOSPC, false},
	{syscall.ENOSPC, syscall.ENOSPC, false},
	{syscall.EDQUOT, syscall.ENOSPC, false},
}

// fail turns an error into what the kernel is told. It counts the error, and
// logs it if the number does not say it all.
func (m *mount) fail(op string, path func() string, err error) syscall.Errno {
	errno, known := errnoOf(err)
	if errno == syscall.Errno(fuse.ENOATTR) && errors.Is(err, nodes.ErrNoXattr) {
		return errno // a name that is not there is no failure
	}
	m.errors.total.Add(1)
	if !known {
		m.errors.add(op, path, err)
	}
	return errno
}

// failChange is fail for a change that somebody asked for. Each such failure is
// worth remembering: it is about the user's own work. A name that has gone is
// ENOENT here, for the kernel keeps no answer to a change.
func (n *node) failChange(op, path string, err error) syscall.Errno {
	m := n.m
	m.errors.total.Add(1)
	if errors.Is(err, nodes.ErrNotExist) {
		return syscall.ENOENT
	}
	errno, known := errnoOf(err)
	if !known {
		m.errors.addChange(op, path, err)
	}
	return errno
}

// isEnd tells whether err is the one that ends a file.
func isEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // a wrapped one is the source's, not the file's
}
