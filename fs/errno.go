//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// errnoOf is the only place where errors become numbers. known tells whether
// the number says all there is to say; if not, the error is worth logging.
func errnoOf(err error) (errno syscall.Errno, known bool) {
	if err == nil {
		return 0, true
	}
	for _, e := range errnos {
		if errors.Is(err, e.err) {
			return e.errno, e.known
		}
	}
	if errors.As(err, &errno) && errno != 0 {
		return errno, errno != syscall.EIO
	}
	return syscall.EIO, false
}

var errnos = []struct {
	err   error
	errno syscall.Errno
	known bool
}{
	{iofs.ErrNotExist, syscall.ENOENT, true},
	// A signal that came while the source was being read.
	{context.Canceled, syscall.EINTR, true},
	{nodes.ErrNotDir, syscall.ENOTDIR, true},
	{nodes.ErrIsDir, syscall.EISDIR, true},
	{nodes.ErrNoXattr, syscall.Errno(fuse.ENOATTR), true},
	{nodes.ErrUnavailable, errNoData, true},
	{nodes.ErrNoKey, errNoKey, true},
	{nodes.ErrChanged, syscall.EIO, false},
}
