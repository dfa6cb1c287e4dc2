//go:build linux || darwin || freebsd || netbsd

package replace

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ofContent are extended attributes that vouch for what a file holds: a new file needs
// its own.
var ofContent = []string{"security.ima", "security.evm", "security.capability"}

// takeAttributes gives f the extended attributes of old, as far as this process may and
// the file system can. The access control list is not among them.
func takeAttributes(f, old *os.File) error {
	fd := int(old.Fd())
	names, err := sized(func(p []byte) (int, error) { return unix.Flistxattr(fd, p) })
	if refused(err) {
		return nil
	}
	if err != nil {
		return os.NewSyscallError("flistxattr", err)
	}
	for name := range strings.SplitSeq(string(names), "\x00") {
		if name == "" || name == accessList || slices.Contains(ofContent, name) {
			continue
		}
		value, err := attribute(old, name)
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), name, value, 0)
		}
		if err != nil && !refused(err) {
			return os.NewSyscallError("extended attribute "+name, err)
		}
	}
	return nil
}

func attribute(f *os.File, name string) ([]byte, error) {
	return sized(func(p []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, p) })
}

// refused tells errors of what may not be done, or can't be there, from others.
func refused(err error) bool {
	for _, is := range []error{unix.ENOTSUP, unix.EOPNOTSUPP, unix.EPERM, unix.EACCES, unix.EINVAL, noAttribute} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// sized has get fill a buffer of the size that it asks for, which can grow meanwhile.
func sized(get func(p []byte) (int, error)) ([]byte, error) {
	for {
		n, err := get(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		p := make([]byte, n)
		n, err = get(p)
		if errors.Is(err, unix.ERANGE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return p[:n], nil
	}
}
