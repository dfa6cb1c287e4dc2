//go:build linux

package fs

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"syscall"
	"testing"

	"lorefs/nodes"
)

func TestErrno(t *testing.T) {
	for _, c := range []struct {
		err   error
		errno syscall.Errno
		known bool
	}{
		{nil, 0, true},
		{nodes.NotExist("x"), syscall.ENOENT, true},
		{&iofs.PathError{Op: "open", Path: "x", Err: iofs.ErrNotExist}, syscall.ENOENT, true},
		{fmt.Errorf("read: %w", context.Canceled), syscall.EINTR, true},
		{nodes.ErrNotDir, syscall.ENOTDIR, true},
		{nodes.ErrIsDir, syscall.EISDIR, true},
		{nodes.ErrNoXattr, syscall.ENODATA, true},
		{nodes.ErrUnavailable, syscall.ENODATA, true},
		{nodes.ErrNoKey, syscall.ENOKEY, true},
		{nodes.ErrChanged, syscall.EIO, false},
		{&os.SyscallError{Syscall: "pread", Err: syscall.EFBIG}, syscall.EFBIG, true},
		{syscall.EIO, syscall.EIO, false},
		{errors.New("no idea"), syscall.EIO, false},
	} {
		if errno, known := errnoOf(c.err); errno != c.errno || known != c.known {
			t.Errorf("errnoOf(%v) = %v, %v; want %v, %v", c.err, errno, known, c.errno, c.known)
		}
	}
}
