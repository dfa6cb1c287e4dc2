package filelock

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// lockOff is the offset of the locked byte, beyond the end of any file.
const lockOff = 0x4000000000000000

// tryLock locks a byte for the opening of the file, not for the process. A lock that keeps all
// others out needs a file that is open for writing. If it is only open for reading, each has a
// lock that can be shared and looks for others: of two that come at the same time, both go.
func tryLock(fd uintptr, m mode) error {
	if m == shared {
		return othersLock(fd)
	}
	err := ofd(fd, unix.F_OFD_SETLK, unix.F_WRLCK)
	if !errors.Is(err, unix.EBADF) {
		return err
	}
	if err := ofd(fd, unix.F_OFD_SETLK, unix.F_RDLCK); err != nil {
		return err
	}
	err = othersLock(fd)
	if err != nil {
		err = errors.Join(err, ofd(fd, unix.F_OFD_SETLK, unix.F_UNLCK))
	}
	return err
}

// othersLock returns ErrLocked if the byte is locked by another opening of the file.
func othersLock(fd uintptr) error { return ofd(fd, unix.F_OFD_GETLK, unix.F_WRLCK) }

func ofd(fd uintptr, cmd int, kind int16) error {
	for {
		lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: lockOff, Len: 1}
		err := unix.FcntlFlock(fd, cmd, &lock)
		switch {
		case errors.Is(err, unix.EINTR): // file systems over a network return it
			continue
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES),
			err == nil && cmd == unix.F_OFD_GETLK && lock.Type != unix.F_UNLCK:
			return ErrLocked
		}
		return err
	}
}
