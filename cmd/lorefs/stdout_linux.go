package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// stdoutClosed reports whether the process was started without a standard output, as by >&-.
// Before any other code runs, Go's runtime opens the null device in its place for reading
// and writing. A redirection to the null device only writes. A program that starts others
// may open it for both, but then for stderr as well, or with O_CLOEXEC.
func stdoutClosed() bool { return isOpenNull(os.Stdout) && !isOpenNull(os.Stderr) }

// isOpenNull reports whether a file is the null device as the runtime opens it.
func isOpenNull(f *os.File) bool {
	var file, null unix.Stat_t
	if unix.Fstat(int(f.Fd()), &file) != nil || unix.Stat(os.DevNull, &null) != nil ||
		file.Mode&unix.S_IFMT != unix.S_IFCHR || file.Rdev != null.Rdev {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&(unix.O_ACCMODE|unix.O_CLOEXEC) == unix.O_RDWR
}
