//go:build unix

package replace

import (
	"os"
	"syscall"
)

// closeFirst is false: an open file can be renamed and removed.
const closeFirst = false

// takeOver gives f the owner of old, as far as this process may, and then the mode:
// changing the owner takes bits away.
func takeOver(f *os.File, old os.FileInfo, mode os.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, ok2 := info.Sys().(*syscall.Stat_t)
	if ok && ok2 && (was.Uid != is.Uid || was.Gid != is.Gid) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			_ = f.Chown(-1, int(was.Gid)) // Owners may choose among their groups.
		}
		if info, err = f.Stat(); err != nil {
			return err
		}
		if is, ok = info.Sys().(*syscall.Stat_t); ok {
			mode = modeFor(mode, was.Uid == is.Uid, was.Gid == is.Gid)
		}
	}
	if info.Mode()&allBits == mode {
		return nil // Some file systems have only the bits that they were mounted with.
	}
	return f.Chmod(mode)
}

// modeFor is the mode of a file that may have got another owner or group than the one it is
// modelled on: what it let these do must not become what it lets others do.
func modeFor(mode os.FileMode, sameOwner, sameGroup bool) os.FileMode {
	const (
		ofGroup = 0o070
		toGroup = 3
	)
	if !sameOwner {
		mode &^= os.ModeSetuid
	}
	if !sameGroup {
		// The old group's members are among all others now, and the other way round.
		both := mode & (mode & ofGroup >> toGroup)
		mode = mode&^(os.ModeSetgid|ofGroup|ofGroup>>toGroup) | both | both<<toGroup
	}
	return mode
}
