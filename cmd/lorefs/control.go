package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"lorefs/fs"
	"lorefs/internal/session"
	"lorefs/internal/userdir"
)

// Every mount listens on a socket in the state folder, named after its mount
// point. Who connects sends one request and gets one answer, as frames.go has it. The
// connection of a granted unmount stays open until the process ends; before that,
// all is saved, and a second answer says what came of it.

// request is what a mount can be asked for.
type request struct {
	Do   string `json:"do"` // doStatus, doCommit or doUnmount
	Lazy bool   `json:"lazy,omitempty"`
}

const (
	doStatus  = "status"
	doCommit  = "commit"
	doUnmount = "unmount"
)

// answer is what it says. Error is empty if all is well.
type answer struct {
	// More tells that this is a part of an answer, which the next frames go on with.
	More   bool    `json:"more,omitempty"`
	Error  string  `json:"error,omitempty"`
	Busy   bool    `json:"busy,omitempty"`
	Status *status `json:"status,omitempty"`
	// Saved are what was saved by each editor, none if nothing can be.
	Saved []session.Report `json:"saved,omitempty"`
	// Left is what was not saved with it.
	Left leftOut `json:"left,omitzero"`
	// Kept is the folder that texts are put into at the end that were not saved.
	Kept string `json:"kept,omitempty"`
	// Unsaved tells that Error is why something was not saved.
	Unsaved bool `json:"unsaved,omitempty"`
	// Editing tells that an answer follows when all is saved, Begun what is about to be.
	Editing bool    `json:"editing,omitempty"`
	Begun   []begun `json:"begun,omitempty"`
}

// left is where the answer has what is not saved.
func (a *answer) left() *leftOut {
	if a.Status != nil && a.Status.Editing != nil {
		return &a.Status.Editing.leftOut
	}
	return &a.Left
}

// talkTimeout bounds everything that one side waits for the other; unmounting a
// busy mount is given up before.
const talkTimeout = 10 * time.Second

// mountName is a mount point as mount and unmount have to agree on: absolute,
// without links. It asks nothing of the mount itself, which may hang.
func mountName(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	up, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		if pe, ok := errors.AsType[*iofs.PathError](err); ok {
			err = pe.Err
		}
		return "", fmt.Errorf("mount point %s: %w", dir, err)
	}
	name := filepath.Join(up, filepath.Base(abs))
	if _, err := os.Readlink(name); err == nil {
		return filepath.EvalSymlinks(name)
	}
	return name, nil
}

// socketPath is where the mount on dir, a mountName, listens.
func socketPath(dir string) (string, error) {
	run, err := userdir.State("run")
	if err != nil {
		return "", err
	}
	defer run.Close()
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(run.Path(), hex.EncodeToString(sum[:8])+".sock"), nil
}

// besideSuffix is behind the socket's name for the file that has the path of what is
// edited besides the source: the kernel's list of mounts has the source only.
const besideSuffix = ".beside"

// noteBeside writes that file, or removes the one of a mount before.
func (m *mounting) noteBeside(socket string) error {
	if len(m.opened.editors) > 1 {
		return os.WriteFile(socket+besideSuffix, []byte(m.opened.editors[1].path()), 0o600)
	}
	if err := os.Remove(socket + besideSuffix); !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}

// editedBeside is what the mount on dir, a mountName, edited besides its source, as its
// process has left it behind: empty for nothing.
func editedBeside(dir string) string {
	socket, err := socketPath(dir)
	if err != nil {
		return ""
	}
	path, err := os.ReadFile(socket + besideSuffix)
	if err != nil {
		return "" // most mounts have none
	}
	return string(path)
}

// control is the listening side. A nil control does nothing.
type control struct {
	m        *mounting
	listener *net.UnixListener
	path     string
	socket   os.FileInfo
	// answering counts those who wait for an answer.
	answering sync.WaitGroup

	// mu guards waiting, which are those who were granted an unmount.
	mu      sync.Mutex
	waiting []net.Conn
}

// listen opens the socket. One that is there already is of a dead process, or of
// one that was detached: the mount point was free.
func (m *mounting) listen() (*control, error) {
	path, err := socketPath(m.dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, err
	}
	if err := m.noteBeside(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // see close
	c := &control{m: m, listener: l, path: path}
	if err = os.Chmod(path, 0o600); err == nil {
		c.socket, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go c.accept()
	return c, nil
}

// close ends the listening, when nobody waits for an answer any more. Those who
// were granted an unmount are told what came of it. The socket goes only if it is
// ours: a later mount may have put its own there.
func (c *control) close(last answer) error {
	if c == nil {
		return nil
	}
	err := c.listener.Close()
	c.answering.Wait()
	for _, conn := range c.waiting {
		if err := tellLast(conn, last); err != nil {
			c.m.log.Debug("control connection", "err", err)
		}
	}
	if now, statErr := os.Lstat(c.path); statErr == nil && os.SameFile(now, c.socket) {
		err = errors.Join(err, os.Remove(c.path))
		if len(c.m.opened.editors) > 1 {
			err = errors.Join(err, os.Remove(c.path+besideSuffix))
		}
	}
	return err
}

// tellLast tells what came of saving. Who does not read it must not keep the process, which
// has its locks until it ends.
func tellLast(conn net.Conn, last answer) error {
	if err := conn.SetDeadline(time.Now().Add(talkTimeout)); err != nil {
		return err
	}
	return sendAnswer(conn, last)
}

func (c *control) accept() {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return // closed
		}
		c.answering.Go(func() {
			if err := c.answer(conn); err != nil {
				c.m.log.Debug("control connection", "err", err)
			}
		})
	}
}

// answer serves one connection, which it leaves open after a granted unmount.
func (c *control) answer(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(talkTimeout)); err != nil {
		return err
	}
	var r request
	if err := newFrames(conn).next(&r); err != nil {
		return errors.Join(err, sendFrame(conn, answer{Error: err.Error()}), conn.Close())
	}
	a := c.do(r)
	if err := conn.SetDeadline(time.Now().Add(talkTimeout)); err != nil { // a commit takes its time
		return err
	}
	err := sendAnswer(conn, a)
	if r.Do == doUnmount && a.Error == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting = append(c.waiting, conn)
		return errors.Join(err, conn.SetDeadline(time.Time{}))
	}
	return errors.Join(err, conn.Close())
}

func (c *control) do(r request) answer {
	switch r.Do {
	case doStatus:
		return answer{Status: c.m.status()}
	case doCommit:
		return c.m.commit()
	case doUnmount:
		if err := c.m.unmount(r.Lazy); err != nil {
			return answer{Error: err.Error(), Busy: errors.Is(err, syscall.EBUSY) || errors.Is(err, fs.ErrDetached)}
		}
		return c.m.granted(r.Lazy)
	}
	return answer{Error: fmt.Sprintf("unknown request %q", r.Do)}
}

// errNoControl means that no process listens for a mount point.
var errNoControl = errors.New("no lorefs serves it")

// line is a connection to a mount. Answers are to be read from it in one way only,
// since its buffer may hold the next one already.
type line struct {
	net.Conn
	answers frames
}

// talk sends a request to the mount on dir, a mountName. The line is open
// afterwards, unless there is an error.
func talk(dir string, r request) (answer, *line, error) {
	var a answer
	path, err := socketPath(dir)
	if err != nil {
		return a, nil, fmt.Errorf("%w: %w", errNoControl, err)
	}
	conn, err := net.DialTimeout("unix", path, talkTimeout)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return a, nil, errNoControl
	}
	if err != nil {
		return a, nil, err
	}
	timeout := time.Now().Add(talkTimeout)
	if r.Do == doCommit {
		timeout = time.Time{} // as long as it takes
	}
	err = conn.SetDeadline(timeout)
	if err == nil {
		err = sendFrame(conn, r)
	}
	l := &line{Conn: conn, answers: newFrames(conn)}
	if err == nil {
		a, err = l.answers.answer()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return a, nil, errors.Join(errNoControl, conn.Close()) // it died just now
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && fs.Probe(dir) != nil {
		// It was killed and can't end: its mount does not answer either.
		return a, nil, errors.Join(errNoControl, conn.Close())
	}
	if err != nil {
		return a, nil, errors.Join(fmt.Errorf("the process that serves %s does not answer: %w", dir, err), conn.Close())
	}
	return a, l, nil
}
