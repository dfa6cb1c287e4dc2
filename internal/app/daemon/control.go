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

// Request is a request to a mount.
type Request struct {
	Do   string `json:"do"` // Status, Commit or Unmount
	Lazy bool   `json:"lazy,omitempty"`
}

// The requests.
const (
	Status  = "status"
	Commit  = "commit"
	Unmount = "unmount"
)

// talkTimeout bounds how long one side waits for the other. Unmounting a busy mount is
// given up before.
const talkTimeout = 10 * time.Second

// Handler answers a request with one or more frames. If stays is true, [Control.Close]
// sends the client the end as well.
type Handler func(r Request) (answer []any, stays bool)

// refusal answers an invalid request.
type refusal struct {
	Error string `json:"error"`
}

// Control is the listening side. A nil Control does nothing.
type Control struct {
	handle   Handler
	log      *slog.Logger
	listener *net.UnixListener
	path     string
	// beside says that there is a file with the path of what else is edited.
	beside bool
	socket os.FileInfo
	// answering counts the clients that wait for an answer.
	answering sync.WaitGroup

	// mu guards waiting, the clients that wait for the end.
	mu      sync.Mutex
	waiting []net.Conn
}

// Listen opens the socket of the mount on dir, a [Name]. An old socket belongs to a dead
// process or to a detached mount, because the mount point was free. beside is what is
// edited besides the source, or "".
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

// Close waits for the clients that wait for an answer, and stops listening. Clients that
// wait for the end get last. Close removes the socket only if it is ours: a later mount may
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

// tellLast sends the result of saving. A client that does not read it must not keep the
// process, whose locks last until it ends.
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

// answer serves one connection, and leaves it open if the client waits for the end.
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
