//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package filelock

import (
	"errors"

	"golang.org/x/sys/unix"
)

func tryLock(fd uintptr, m mode) error {
	how := unix.LOCK_EX | unix.LOCK_NB
	if m == shared {
		how = unix.LOCK_SH | unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(fd), how)
		switch {
		case errors.Is(err, unix.EINTR): // file systems over a network return it
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}
