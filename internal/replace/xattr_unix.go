//go:build linux || darwin || freebsd || netbsd

package replace

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ofContent are extended attributes that vouch for the content of a file. They are not
// carried over.
var ofContent = []string{"security.ima", "security.evm", "security.capability"}

// ofSystem begins the names of attributes that the system gives each file. They can be
// changed, but not removed.
const ofSystem = "security."

// takeAttributes gives f the extended attributes of old and no others, without the access
// control list. Its error does not include attributes that this process may not set, or that
// the file system does not support.
func takeAttributes(f, old *os.File) error {
	names, err := attributes(old)
	if refused(err) {
		return nil
	}
	if err != nil {
		return err
	}
	errs := []error{removeOthers(f, names)}
	for _, name := range names {
		value, err := attribute(old, name)
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), name, value, 0)
		}
		if err != nil && !refused(err) {
			errs = append(errs, os.NewSyscallError("extended attribute "+name, err))
		}
	}
	return errors.Join(errs...)
}

// removeOthers removes attributes that f has from its folder. It comes first, since they
// take space.
func removeOthers(f *os.File, names []string) error {
	has, err := attributes(f)
	if refused(err) {
		return nil
	}
	errs := []error{err}
	for _, name := range has {
		if slices.Contains(names, name) || strings.HasPrefix(name, ofSystem) {
			continue
		}
		if err := unix.Fremovexattr(int(f.Fd()), name); err != nil && !refused(err) {
			errs = append(errs, os.NewSyscallError("extended attribute "+name, err))
		}
	}
	return errors.Join(errs...)
}

// attributes returns the names of a file's attributes, except those that are not carried
// over or are carried over separately.
func attributes(f *os.File) ([]string, error) {
	list, err := sized(func(p []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), p) })
	if err != nil {
		return nil, os.NewSyscallError("flistxattr", err)
	}
	return slices.DeleteFunc(strings.Split(string(list), "\x00"), func(name string) bool {
		return name == "" || name == accessList || slices.Contains(ofContent, name)
	}), nil
}

func attribute(f *os.File, name string) ([]byte, error) {
	return sized(func(p []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, p) })
}

// refused reports whether an error means that an attribute is not allowed, or not supported.
func refused(err error) bool {
	for _, is := range []error{unix.ENOTSUP, unix.EOPNOTSUPP, unix.EPERM, unix.EACCES, unix.EINVAL, noAttribute} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// sized calls get with a buffer of the size that it asks for, which may grow meanwhile. It
// gives up after some calls, so that a file system which returns wrong sizes can't block a
// save.
func sized(get func(p []byte) (int, error)) ([]byte, error) {
	const asks = 10
	for range asks {
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
	return nil, unix.ERANGE
}
