package daemon

import (
	"errors"
	iofs "io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// Request is what a mount can be asked for.
type Request struct {
	Do   string `json:"do"` // Status, Commit or Unmount
	Lazy bool   `json:"lazy,omitempty"`
}

// What a mount can do.
const (
	Status  = "status"
	Commit  = "commit"
	Unmount = "unmount"
)

// talkTimeout bounds everything that one side waits for the other; unmounting a
// busy mount is given up before.
const talkTimeout = 10 * time.Second

// Handler answers a request, by one or more frames. If stays is true, the one who asked is to
// be told, by [Control.Close], of the end as well.
type Handler func(r Request) (answer []any, stays bool)

// refusal answers what is no request.
type refusal struct {
	Error string `json:"error"`
}

// Control is the listening side. A nil Control does nothing.
type Control struct {
	handle   Handler
	log      *slog.Logger
	listener *net.UnixListener
	path     string
	// beside tells that there is a file of that with what else is edited.
	beside bool
	socket os.FileInfo
	// answering counts those who wait for an answer.
	answering sync.WaitGroup

	// mu guards waiting, which are those who are to be told of the end.
	mu      sync.Mutex
	waiting []net.Conn
}

// Listen opens the socket of the mount on dir, a [Name]. One that is there already is of a
// dead process, or of one that was detached: the mount point was free. beside is what is
// edited besides the source, empty for nothing.
func Listen(dir, beside string, handle Handler, log *slog.Logger) (*Control, error) {
	path, err := SocketPath(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, err
	}
	if err := noteBeside(path, beside); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // see Close
	c := &Control{handle: handle, log: log, listener: l, path: path, beside: beside != ""}
	if err = os.Chmod(path, 0o600); err == nil {
		c.socket, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go c.accept()
	return c, nil
}

// Close ends the listening, when nobody waits for an answer any more. Those who wait for
// the end are told the last answer. The socket goes only if it is ours: a later mount may
// have put its own there.
func (c *Control) Close(last ...any) error {
	if c == nil {
		return nil
	}
	err := c.listener.Close()
	c.answering.Wait()
	for _, conn := range c.waiting {
		if err := tellLast(conn, last); err != nil {
			c.log.Debug("control connection", "err", err)
		}
	}
	if now, statErr := os.Lstat(c.path); statErr == nil && os.SameFile(now, c.socket) {
		err = errors.Join(err, os.Remove(c.path))
		if c.beside {
			err = errors.Join(err, os.Remove(c.path+besideSuffix))
		}
	}
	return err
}

// tellLast tells what came of saving. Who does not read it must not keep the process, which
// has its locks until it ends.
func tellLast(conn net.Conn, last []any) error {
	if err := conn.SetDeadline(time.Now().Add(talkTimeout)); err != nil {
		return err
	}
	return sendFrames(conn, last)
}

func (c *Control) accept() {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return // closed
		}
		c.answering.Go(func() {
			if err := c.answer(conn); err != nil {
				c.log.Debug("control connection", "err", err)
			}
		})
	}
}

// answer serves one connection, which it leaves open for one who waits for the end.
func (c *Control) answer(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(talkTimeout)); err != nil {
		return err
	}
	var r Request
	if err := newFrames(conn).next(&r); err != nil {
		return errors.Join(err, sendFrame(conn, refusal{err.Error()}), conn.Close())
	}
	answer, stays := c.handle(r)
	if err := conn.SetDeadline(time.Now().Add(talkTimeout)); err != nil { // a commit takes its time
		return err
	}
	err := sendFrames(conn, answer)
	if stays {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting = append(c.waiting, conn)
		return errors.Join(err, conn.SetDeadline(time.Time{}))
	}
	return errors.Join(err, conn.Close())
}
