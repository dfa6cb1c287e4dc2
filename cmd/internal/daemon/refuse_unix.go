//go:build unix

package daemon

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// refuse ends listening, and returns those who have connected and were not accepted yet: closing
// the listener would cut them off. Other systems than Linux may let some more connect.
func refuse(l *net.UnixListener) (waiting []net.Conn, err error) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil, err
	}
	controlErr := raw.Control(func(fd uintptr) {
		_ = syscall.Shutdown(int(fd), syscall.SHUT_RD) // other systems may not know it for such a socket
		for {
			var conn net.Conn
			if conn, err = acceptNow(int(fd)); conn == nil {
				return
			}
			waiting = append(waiting, conn)
		}
	})
	return waiting, errors.Join(err, controlErr)
}

// acceptNow accepts a connection. It returns nil if nobody is waiting.
func acceptNow(listener int) (net.Conn, error) {
	for {
		fd, _, err := syscall.Accept(listener)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return nil, nil //nolint:nilnil // as said
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ECONNABORTED):
			continue
		case err != nil:
			return nil, os.NewSyscallError("accept", err)
		}
		f := os.NewFile(uintptr(fd), "control connection")
		conn, err := net.FileConn(f) // of a copy of fd
		return conn, errors.Join(err, f.Close())
	}
}
