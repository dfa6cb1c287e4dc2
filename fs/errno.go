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

// errnoOf is the only place where errors become numbers.
//
// A number of the system's that comes out of the source is not passed on: ENOENT
// would be kept by the kernel as a name that is not there, ENOSYS would switch
// the request off for good. Nor is there a number for [nodes.ErrNotExist], since
// only LOOKUP may answer that way: of an ID that the kernel knows it is a fault.
func errnoOf(err error) (syscall.Errno, weight) {
	if err == nil {
		return 0, answer
	}
	for _, e := range errnos {
		if errors.Is(err, e.err) {
			return e.errno, e.weight
		}
	}
	return syscall.EIO, odd
}

var errnos = []struct {
	err    error
	errno  syscall.Errno
	weight weight
}{
	{nodes.ErrChanged, syscall.EIO, odd},
	// A signal that came while the source was being read.
	{context.Canceled, syscall.EINTR, answer},
	{nodes.ErrNotDir, syscall.ENOTDIR, answer},
	{nodes.ErrIsDir, syscall.EISDIR, answer},
	{nodes.ErrNoXattr, syscall.Errno(fuse.ENOATTR), answer},
	{nodes.ErrUnavailable, errNoData, plain},
	{nodes.ErrNoKey, errNoKey, plain},
	{syscall.ENOMEM, syscall.ENOMEM, odd},

	{nodes.ErrExist, syscall.EEXIST, answer},
	{nodes.ErrNotEmpty, syscall.ENOTEMPTY, answer},
	{nodes.ErrReadOnly, syscall.EROFS, answer},
	{nodes.ErrCross, syscall.EXDEV, answer},
	// What exactly did not fit, nobody but the log can tell.
	{nodes.ErrNotPermitted, syscall.EPERM, odd},
	{nodes.ErrInvalid, syscall.EINVAL, odd},
	{nodes.ErrTooLarge, syscall.EFBIG, odd},
	{nodes.ErrNoSpace, syscall.ENOSPC, odd},
	{syscall.ENOSPC, syscall.ENOSPC, odd},
	{syscall.EDQUOT, syscall.ENOSPC, odd},
}

// fail turns an error into what the kernel is told, and counts it if it is one that
// counts. Only then is the path asked for: it may cost a search.
func (m *mount) fail(op string, path func() string, err error) syscall.Errno {
	errno, w := errnoOf(err)
	if w != answer {
		m.errors.add(op, path(), err, w)
	}
	return errno
}

// failChange is fail for a change that somebody asked for. A name that has gone is
// ENOENT here, for the kernel keeps no answer to a change.
func (n *node) failChange(op, path string, err error) syscall.Errno {
	if errors.Is(err, nodes.ErrNotExist) {
		return syscall.ENOENT
	}
	return n.m.fail(op, func() string { return path }, err)
}

// isEnd reports whether err is the one that ends a file.
func isEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // a wrapped one is the source's, not the file's
}
