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
		err    error
		errno  syscall.Errno
		weight weight
	}{
		{nil, 0, answer},
		{nodes.NotExist("x"), syscall.EIO, odd},
		{&iofs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, syscall.EIO, odd},
		{fmt.Errorf("read: %w", context.Canceled), syscall.EINTR, answer},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), syscall.EIO, odd},
		{errors.Join(context.Canceled, context.DeadlineExceeded), syscall.EIO, odd},
		{nodes.ErrNotDir, syscall.ENOTDIR, answer},
		{nodes.ErrIsDir, syscall.EISDIR, answer},
		{nodes.ErrNoXattr, syscall.ENODATA, answer},
		{nodes.ErrUnavailable, syscall.ENODATA, plain},
		{nodes.ErrNoKey, syscall.ENOKEY, plain},
		{nodes.ErrChanged, syscall.EIO, odd},
		{&os.SyscallError{Syscall: "pread", Err: syscall.EFBIG}, syscall.EIO, odd},
		{syscall.ENOSYS, syscall.EIO, odd},
		{syscall.ENOMEM, syscall.ENOMEM, odd},
		{fmt.Errorf("inflate: %w", io.EOF), syscall.EIO, odd},
		{syscall.EIO, syscall.EIO, odd},
		{errors.New("no idea"), syscall.EIO, odd},
		{nodes.ErrExist, syscall.EEXIST, answer},
		{nodes.ErrNotEmpty, syscall.ENOTEMPTY, answer},
		{nodes.ErrReadOnly, syscall.EROFS, answer},
		{nodes.ErrCross, syscall.EXDEV, answer},
		{nodes.ErrNotPermitted, syscall.EPERM, odd},
		{fmt.Errorf("7: %w", nodes.ErrInvalid), syscall.EINVAL, odd},
		{fmt.Errorf("a name of 249 bytes: %w", nodes.ErrNameTooLong), syscall.ENAMETOOLONG, odd},
		{nodes.ErrTooLarge, syscall.EFBIG, odd},
		{nodes.ErrNoSpace, syscall.ENOSPC, odd},
		{&os.PathError{Op: "write", Path: "journal", Err: syscall.ENOSPC}, syscall.ENOSPC, odd},
		{&os.PathError{Op: "write", Path: "journal", Err: syscall.EDQUOT}, syscall.ENOSPC, odd},
	} {
		if errno, w := errnoOf(c.err); errno != c.errno || w != c.weight {
			t.Errorf("errnoOf(%v) = %v, %v; want %v, %v", c.err, errno, w, c.errno, c.weight)
		}
	}
}
