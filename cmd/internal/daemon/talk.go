package daemon

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"lorefs/fs"
)

// ErrNone means that no process listens for a mount point.
var ErrNone = errors.New("no lorefs serves it")

// Line is a connection to a mount.
type Line struct {
	conn    net.Conn
	dir     string
	answers frames
}

// Talk sends a request to the mount on dir, a [Name].
func Talk(dir string, r Request) (*Line, error) {
	path, err := SocketPath(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	var conn net.Conn
	err = socketName(path, func(name string) (err error) {
		conn, err = net.DialTimeout("unix", name, talkTimeout)
		return err
	})
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	l := &Line{conn: conn, dir: dir, answers: newFrames(conn)}
	if err := l.Send(r); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Send sends a frame, for requests of more than one.
func (l *Line) Send(frame any) error {
	err := l.conn.SetWriteDeadline(time.Now().Add(talkTimeout))
	if err == nil {
		err = sendFrame(l.conn, frame)
	}
	return l.failed(err)
}

// Next reads a frame of an answer, however long it takes, as long as the mount shows that it
// is at work. When the process has ended the error is [ErrNone].
func (l *Line) Next(frame any) error {
	for {
		err := l.conn.SetReadDeadline(time.Now().Add(talkTimeout))
		found := false
		if err == nil {
			found, err = l.answers.next(frame)
		}
		if found || err != nil {
			return l.failed(err)
		}
	}
}

// failed says what an error of the connection means.
func (l *Line) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case hasEnded(err): // it died just now
		return ErrNone
	case errors.Is(err, os.ErrDeadlineExceeded) && fs.Probe(l.dir) != nil:
		// It was killed and can't end: its mount does not answer either.
		return ErrNone
	}
	return fmt.Errorf("the process that serves %s does not answer: %w", l.dir, err)
}

func hasEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// AwaitEnd returns true when the process has ended, or false if that takes too long.
func (l *Line) AwaitEnd(timeout time.Duration) (ended bool, err error) {
	if err := l.conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return false, err
	}
	_, err = io.Copy(io.Discard, l.conn)
	switch {
	case err == nil, hasEnded(err):
		return true, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false, nil
	}
	return false, err
}

// Close closes the connection.
func (l *Line) Close() error { return l.conn.Close() }
