package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// shells are the programs that close the standard output of what they start for >&-, and
// open the null device for reading and writing in its place for nothing but 1<>/dev/null.
var shells = []string{"ash", "bash", "busybox", "dash", "fish", "ksh", "ksh93", "mksh", "sh", "yash", "zsh"}

// stdoutClosed reports whether the process was started without a standard output, as by >&-.
//
// Before any other code runs, Go's runtime opens the null device in its place for reading
// and writing. So do programs that start others without an output, as Node.js and daemons
// do, and for them that is no failure. Hence it is only taken for closed if a shell started
// this process and has that file nowhere open itself. Where this can't be found out, it is
// not taken for closed.
func stdoutClosed() bool { return isOpenNull(os.Stdout) && startedBy(shells) && !inherited(os.Stdout) }

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

// startedBy reports whether the parent of this process runs one of some programs.
func startedBy(programs []string) bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", os.Getppid()))
	return err == nil && slices.Contains(programs, filepath.Base(path))
}

// inherited reports whether the parent of this process has a file open, too, so that it was
// opened before this process was started. It may also be that this is unknown. The file is
// the null device.
func inherited(f *os.File) bool {
	parent := os.Getppid()
	dir := fmt.Sprintf("/proc/%d/fd", parent)
	open, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			return true
		}
		if path, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && path != os.DevNull {
			continue // which needs no permission to compare
		}
		switch order, err := compareFiles(os.Getpid(), int(f.Fd()), parent, fd); {
		case errors.Is(err, unix.EBADF): // closed meanwhile
		case err != nil, order == 0:
			return true
		}
	}
	return false
}

// compareFiles returns 0 if a file of one process is the same open file as that of another.
func compareFiles(pid, fd, otherPID, otherFD int) (order int, err error) {
	const kcmpFile = 0 // KCMP_FILE of kcmp(2)
	r, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(pid), uintptr(otherPID), kcmpFile, uintptr(fd), uintptr(otherFD), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}
