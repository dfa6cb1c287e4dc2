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

// ofSystem begins the names of attributes that the system gives each file. They can be
// others' values, but never go.
const ofSystem = "security."

// takeAttributes gives f the extended attributes of old and no others, as far as this
// process may and the file system can; its error says what went wrong besides. The
// access control list is not among them.
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

// removeOthers removes what f has from its folder: it comes first, as it takes room.
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

// attributes are the names of a file's attributes, without those that are not carried
// over, or not as others are.
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

// refused tells errors of what may not be done, or can't be there, from others.
func refused(err error) bool {
	for _, is := range []error{unix.ENOTSUP, unix.EOPNOTSUPP, unix.EPERM, unix.EACCES, unix.EINVAL, noAttribute} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// sized has get fill a buffer of the size that it asks for, which can grow meanwhile:
// not forever, or a file system that gives wrong sizes would keep a save from ending.
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
