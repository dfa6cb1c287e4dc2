package replace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// noAttribute is the error for an attribute that does not exist.
	noAttribute = unix.ENODATA
	// accessList is the attribute with the access control list.
	accessList = "system.posix_acl_access"
)

// takeAccessList gives f the access control list of old. If old has none, it removes the one
// that f may have from its folder.
func takeAccessList(f, old *os.File) error {
	list, err := attribute(old, accessList)
	switch {
	case err == nil:
		err = unix.Fsetxattr(int(f.Fd()), accessList, list, 0)
	case isNone(err):
		if err = unix.Fremovexattr(int(f.Fd()), accessList); isNone(err) {
			return nil
		}
	}
	return os.NewSyscallError("access control list", err)
}

// isNone reports whether a file has no list, or can have none.
func isNone(err error) bool { return errors.Is(err, noAttribute) || errors.Is(err, unix.ENOTSUP) }
