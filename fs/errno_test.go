//go:build linux

package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		{nodes.NotExist("x"), syscall.EIO, false},
		{&iofs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, syscall.EIO, false},
		{fmt.Errorf("read: %w", context.Canceled), syscall.EINTR, true},
		{nodes.ErrNotDir, syscall.ENOTDIR, true},
		{nodes.ErrIsDir, syscall.EISDIR, true},
		{nodes.ErrNoXattr, syscall.ENODATA, true},
		{nodes.ErrUnavailable, syscall.ENODATA, true},
		{nodes.ErrNoKey, syscall.ENOKEY, true},
		{nodes.ErrChanged, syscall.EIO, false},
		{&os.SyscallError{Syscall: "pread", Err: syscall.EFBIG}, syscall.EIO, false},
		{syscall.ENOSYS, syscall.EIO, false},
		{syscall.ENOMEM, syscall.ENOMEM, false},
		{fmt.Errorf("inflate: %w", io.EOF), syscall.EIO, false},
		{syscall.EIO, syscall.EIO, false},
		{errors.New("no idea"), syscall.EIO, false},
		{nodes.ErrExist, syscall.EEXIST, true},
		{nodes.ErrNotEmpty, syscall.ENOTEMPTY, true},
		{nodes.ErrReadOnly, syscall.EROFS, true},
		{nodes.ErrCross, syscall.EXDEV, true},
		{nodes.ErrNotPermitted, syscall.EPERM, false},
		{fmt.Errorf("7: %w", nodes.ErrInvalid), syscall.EINVAL, false},
		{nodes.ErrTooLarge, syscall.EFBIG, false},
		{nodes.ErrNoSpace, syscall.ENOSPC, false},
		{&os.PathError{Op: "write", Path: "journal", Err: syscall.ENOSPC}, syscall.ENOSPC, false},
		{&os.PathError{Op: "write", Path: "journal", Err: syscall.EDQUOT}, syscall.ENOSPC, false},
	} {
		if errno, known := errnoOf(c.err); errno != c.errno || known != c.known {
			t.Errorf("errnoOf(%v) = %v, %v; want %v, %v", c.err, errno, known, c.errno, c.known)
		}
	}
}
