package daemon

import (
	"context"
	"encoding/json"
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
	Do string `json:"do"`
	// Lazy and Discard are of Unmount: to detach only, and to give up what is not saved.
	Lazy    bool `json:"lazy,omitempty"`
	Discard bool `json:"discard,omitempty"`
	// Repack and VerifyAll are of Commit and Unmount: to write each file as a whole, and to
	// compare all of it.
	Repack    bool `json:"repack,omitempty"`
	VerifyAll bool `json:"verify_all,omitempty"`
	// Source is the source that Edits and Revert are about; empty for all that the mount edits.
	Source string `json:"source,omitempty"`
	// Format is the format of Edits.
	Format string `json:"format,omitempty"`
	// Paths and All are of Revert: what to take back, and that a path may mean several nodes.
	// Paths of Edits are where to list them.
	// Paths of Apply are the names of the patches whose texts follow. DryRun changes nothing. Prefer and
	// Open say what becomes of values that patches do not agree about.
	Paths  []string `json:"paths,omitempty"`
	All    bool     `json:"all,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
	Prefer []int    `json:"prefer,omitempty"`
	Open   bool     `json:"open,omitempty"`
}

// The requests.
const (
	Status  = "status"
	Commit  = "commit"
	Apply   = "apply"
	Unmount = "unmount"
	Edits   = "edits"
	// Opened asks what is mounted and how it was opened, so that a command can read it, too.
	Opened = "opened"
	Revert = "revert"
)

const (
	// talkTimeout is how long one side waits for a sign of life of the other. Unmounting a busy
	// mount is given up before.
	talkTimeout = 10 * time.Second
	// lifeEvery is how often a mount gives such a sign while it is at work on a request.
	lifeEvery = 2 * time.Second
)

// Handler answers a request by frames to the client. ctx ends when the client has gone or
// the mount has ended. If stays is true, the connection stays open until the process ends.
type Handler func(ctx context.Context, r Request, c *Client) (stays bool)

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
	socket   os.FileInfo
	// ctx ends when the mount has ended.
	ctx context.Context
	end context.CancelFunc
	// answering counts the requests that are being answered, and who accepts them.
	answering sync.WaitGroup
}

// Listen opens the socket of the mount on dir, a [Name]. An old socket belongs to a dead
// process or to a detached mount, because the mount point was free.
func Listen(dir string, notes Notes, handle Handler, log *slog.Logger) (*Control, error) {
	path, err := SocketPath(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, err
	}
	if err := notes.write(path); err != nil {
		return nil, err
	}
	var l *net.UnixListener
	err = socketName(path, func(name string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // see Close
	c := &Control{handle: handle, log: log, listener: l, path: path}
	c.ctx, c.end = context.WithCancel(context.Background())
	if err = os.Chmod(path, 0o600); err == nil {
		c.socket, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	c.answering.Go(c.accept)
	return c, nil
}

// Close stops listening, answers all who have connected before, and waits for the handlers.
// It removes the socket only if it is ours: a later mount may have put its own there.
func (c *Control) Close() error {
	if c == nil {
		return nil
	}
	// Without an answer they would take it that nobody ever listened.
	waiting, err := refuse(c.listener)
	err = errors.Join(err, c.listener.Close())
	for _, conn := range waiting {
		c.serve(conn)
	}
	c.end()
	c.answering.Wait()
	if now, statErr := os.Lstat(c.path); statErr == nil && os.SameFile(now, c.socket) {
		err = errors.Join(err, os.Remove(c.path), removeNotes(c.path))
	}
	return err
}

func (c *Control) accept() {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return // closed
		}
		c.serve(conn)
	}
}

// serve answers one connection beside the others.
func (c *Control) serve(conn net.Conn) {
	c.answering.Go(func() {
		if err := c.answer(conn); err != nil {
			c.log.Debug("control connection", "err", err)
		}
	})
}

// answer serves one connection, and leaves it open if the client waits for the end of the
// process.
func (c *Control) answer(conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(talkTimeout)); err != nil {
		return err
	}
	ctx, gone := context.WithCancel(c.ctx)
	defer gone()
	client := &Client{conn: conn, gone: gone, in: make(chan json.RawMessage)}
	in := newFrames(conn)
	var r Request
	if _, err := in.next(&r); err != nil {
		return errors.Join(err, client.Send(refusal{err.Error()}), conn.Close())
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	go client.listen(ctx, in)
	go client.showLife(ctx)
	if c.handle(ctx, r, client) {
		return nil
	}
	return conn.Close()
}
