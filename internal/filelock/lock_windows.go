package filelock

import (
	"errors"

	"golang.org/x/sys/windows"
)

// lockOffHigh is the upper half of the locked byte's offset, beyond the end of any file,
// because others can't read a locked byte.
const lockOffHigh = 0x40000000

func tryLock(fd uintptr, m mode) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if m == exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffHigh})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}
