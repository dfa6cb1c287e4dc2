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

// Line is a connection to a mount. Read answers only through it, since its buffer may hold
// the next one already.
type Line struct {
	net.Conn
	answers frames
}

// Next reads a frame of an answer. When the process has ended it returns [io.EOF].
func (l *Line) Next(frame any) error { return l.answers.next(frame) }

// Talk sends a request to the mount on dir, a [Name], and calls read to read the answer. If
// there is no error the line stays open.
func Talk(dir string, r Request, read func(*Line) error) (*Line, error) {
	path, err := SocketPath(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	conn, err := net.DialTimeout("unix", path, talkTimeout)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	timeout := time.Now().Add(talkTimeout)
	if r.Do == Commit {
		timeout = time.Time{} // as long as it takes
	}
	err = conn.SetDeadline(timeout)
	if err == nil {
		err = sendFrame(conn, r)
	}
	l := &Line{Conn: conn, answers: newFrames(conn)}
	if err == nil {
		err = read(l)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return nil, errors.Join(ErrNone, conn.Close()) // it died just now
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && fs.Probe(dir) != nil {
		// It was killed and can't end: its mount does not answer either.
		return nil, errors.Join(ErrNone, conn.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the process that serves %s does not answer: %w", dir, err), conn.Close())
	}
	return l, nil
}
