package treecopy

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// unpolled opens a file so that package os makes no calls to the kernel to find out whether it can be
// waited for, which would be four. To write to a new file never waits for that.
const unpolled = unix.O_NONBLOCK

// setTime sets the modification time of an open file. That takes one call to the kernel, where a path
// below a folder takes four. An old kernel can't.
func setTime(f *os.File, modTime time.Time) (ok bool) {
	to, err := unix.TimeToTimespec(modTime)
	if err != nil {
		return false
	}
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, to}
	err = c.Control(func(fd uintptr) { ok = unix.UtimesNanoAt(int(fd), "", times, unix.AT_EMPTY_PATH) == nil })
	return ok && err == nil
}
