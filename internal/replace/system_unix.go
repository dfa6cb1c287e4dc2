//go:build unix

package replace

import (
	"os"
	"syscall"
)

// closeFirst says that a file must be closed before it is renamed or removed.
const closeFirst = false

// takeOver gives f the owner of old, as far as this process may, and then the mode, since
// changing the owner clears bits.
func takeOver(f *os.File, old os.FileInfo, mode os.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, ok2 := info.Sys().(*syscall.Stat_t)
	if ok && ok2 && (was.Uid != is.Uid || was.Gid != is.Gid) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			_ = f.Chown(-1, int(was.Gid)) // an owner may choose one of its groups
		}
		if info, err = f.Stat(); err != nil {
			return err
		}
		if is, ok = info.Sys().(*syscall.Stat_t); ok {
			mode = modeFor(mode, was.Uid == is.Uid, was.Gid == is.Gid)
		}
	}
	if info.Mode()&allBits == mode {
		return nil // some file systems have fixed bits
	}
	return f.Chmod(mode)
}

// modeFor returns the mode for a file whose owner or group may differ from its model's. A
// new owner or group must not get rights that only the old ones had.
func modeFor(mode os.FileMode, sameOwner, sameGroup bool) os.FileMode {
	const (
		ofGroup = 0o070
		toGroup = 3
	)
	if !sameOwner {
		mode &^= os.ModeSetuid
	}
	if !sameGroup {
		// The members of the old group now belong to the others, and vice versa.
		both := mode & (mode & ofGroup >> toGroup)
		mode = mode&^(os.ModeSetgid|ofGroup|ofGroup>>toGroup) | both | both<<toGroup
	}
	return mode
}
