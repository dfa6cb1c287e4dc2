package replace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// noAttribute is the error of an attribute that is gone.
	noAttribute = unix.ENODATA
	// accessList is the attribute that holds the access control list.
	accessList = "system.posix_acl_access"
)

// takeAccessList gives f the access control list of old, if that has one.
func takeAccessList(f, old *os.File) error {
	list, err := attribute(old, accessList)
	switch {
	case errors.Is(err, noAttribute), errors.Is(err, unix.ENOTSUP):
		return nil
	case err == nil:
		err = unix.Fsetxattr(int(f.Fd()), accessList, list, 0)
	}
	return os.NewSyscallError("access control list", err)
}
