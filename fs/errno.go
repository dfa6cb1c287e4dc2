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

// errnoOf is the only place where errors become error numbers.
//
// It does not pass on error numbers from the source: the kernel would cache ENOENT as a
// missing name, and ENOSYS would switch the request off for good. There is no number for
// [nodes.ErrNotExist] either, since only LOOKUP may answer that way. For an ID that the
// kernel knows it is a fault.
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
	// The source did not answer in time. Programs would try again for ever after EINTR.
	{context.DeadlineExceeded, syscall.EIO, odd},
	// A signal came while the source was being read.
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
	// Only the log can say what exactly did not fit.
	{nodes.ErrNotPermitted, syscall.EPERM, odd},
	{nodes.ErrInvalid, syscall.EINVAL, odd},
	{nodes.ErrNameTooLong, syscall.ENAMETOOLONG, odd},
	{nodes.ErrTooLarge, syscall.EFBIG, odd},
	{nodes.ErrNoSpace, syscall.ENOSPC, odd},
	{syscall.ENOSPC, syscall.ENOSPC, odd},
	{syscall.EDQUOT, syscall.ENOSPC, odd},
}

// fail converts an error for the kernel, and counts it unless it is a normal answer. Only
// then it calls path, which may have to search.
func (m *mount) fail(op string, path func() string, err error) syscall.Errno {
	return m.failFor(0, op, path, err)
}

// failFor is fail for what a thread asks several times before its program learns of the error.
func (m *mount) failFor(thread uint32, op string, path func() string, err error) syscall.Errno {
	errno, w := errnoOf(err)
	if w != answer {
		m.errors.add(thread, op, path(), err, w)
	}
	return errno
}

// failChange is fail for a change. A missing name is ENOENT here, because the kernel does
// not cache answers to changes.
func (n *node) failChange(op, path string, err error) syscall.Errno {
	if errors.Is(err, nodes.ErrNotExist) {
		return syscall.ENOENT
	}
	return n.m.fail(op, func() string { return path }, err)
}

func isEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // a wrapped one is the source's, not the file's
}
