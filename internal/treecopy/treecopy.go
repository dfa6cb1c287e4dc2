package treecopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"sync"
	"time"

	"lorefs/nodes"
)

// Options are what Copy may be told. The zero value is right.
type Options struct {
	// Overwrite lets files be replaced that are there already.
	Overwrite bool
	// Failed is told of each file that could not be copied. Copy goes on if it
	// returns nil. Default: the first error ends it.
	Failed func(path string, err error) error
	// Progress is told how many files and bytes are through. Calls come from one
	// goroutine at a time.
	Progress func(files, bytes int64)
	// Workers is how many files are copied at once. Default: one for each core.
	Workers int
}

// Report says what was copied.
type Report struct {
	Files, Dirs, Bytes int64
	// Failed is how many files were not.
	Failed int64
}

const (
	// bufferSize is how much is read at once.
	bufferSize = 1 << 20
	// maxQueued is how many files and directories may wait.
	maxQueued = 1 << 10

	dirPerm  = 0o777 // before the umask, as mkdir(1)
	filePerm = 0o666
)

// Copy copies what is in the directory from of the tree, or the file of that
// name, into the folder to, which is made if it is not there. If it is cancelled,
// or fails, what was copied so far stays, but no file that is half written.
func Copy(ctx context.Context, tree nodes.Tree, from nodes.Entry, to string, o Options) (Report, error) {
	if err := os.MkdirAll(to, dirPerm); err != nil {
		return Report{}, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return Report{}, err
	}
	defer root.Close()
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &copying{ctx: ctx, cancel: cancel, tree: tree, root: root, o: o}
	return c.run(from)
}

// job is a file to be copied, or a directory whose entries are.
type job struct {
	entry nodes.Entry
	path  string
}

type copying struct {
	ctx    context.Context //nolint:containedctx // it lives as long as Copy
	cancel context.CancelCauseFunc
	tree   nodes.Tree
	root   *os.Root
	o      Options

	// jobs wait to be done, last in, first out, so that a deep tree does not pile
	// up. busy is how many are being done: they may bring others.
	queue struct {
		sync.Mutex
		changed sync.Cond
		jobs    []job
		busy    int
	}

	// mu guards report, and makes callbacks wait for each other.
	mu     sync.Mutex
	report Report
}

func (c *copying) run(from nodes.Entry) (Report, error) {
	first := job{entry: from}
	if from.Kind != nodes.Dir {
		first.path = from.Name
	}
	c.queue.changed.L = &c.queue
	c.queue.jobs = append(c.queue.jobs, first)
	var workers sync.WaitGroup
	for range c.o.Workers {
		workers.Go(c.work)
	}
	workers.Wait()
	return c.report, context.Cause(c.ctx)
}

// work does jobs until there are none, and none can come.
func (c *copying) work() {
	buf := make([]byte, bufferSize)
	q := &c.queue
	q.Lock()
	defer q.Unlock()
	for {
		for len(q.jobs) == 0 && q.busy > 0 {
			q.changed.Wait()
		}
		if len(q.jobs) == 0 {
			return
		}
		j := q.jobs[len(q.jobs)-1]
		q.jobs = q.jobs[:len(q.jobs)-1]
		q.busy++
		q.Unlock()
		c.do(j, buf)
		q.Lock()
		q.busy--
		if len(q.jobs) == 0 && q.busy == 0 {
			q.changed.Broadcast()
		}
	}
}

// later leaves a job to whoever is free. It is false if there are enough of them.
func (c *copying) later(j job) bool {
	q := &c.queue
	q.Lock()
	defer q.Unlock()
	if len(q.jobs) >= maxQueued {
		return false
	}
	q.jobs = append(q.jobs, j)
	q.changed.Signal()
	return true
}

// do copies a file, or lists a directory.
func (c *copying) do(j job, buf []byte) {
	switch {
	case c.ctx.Err() != nil:
	case j.entry.Kind == nodes.Dir:
		if err := c.list(j, buf); err != nil {
			c.cancel(err)
		}
	default:
		n, err := c.copyFile(j, buf)
		c.done(j, n, err)
	}
}

// list makes the directories in a directory, and has what is in it copied.
func (c *copying) list(dir job, buf []byte) error {
	for e, err := range c.tree.ReadDir(c.ctx, dir.entry.ID, 0) {
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("list %q: %w", "/"+dir.path, err)
		}
		if e.ModTime.IsZero() {
			e.ModTime = dir.entry.ModTime
		}
		j := job{e, path.Join(dir.path, e.Name)}
		if e.Kind == nodes.Dir {
			if err := c.makeDir(j); err != nil {
				return err
			}
		}
		if !c.later(j) {
			c.do(j, buf)
		}
	}
	return nil
}

func (c *copying) makeDir(j job) error {
	if err := c.root.MkdirAll(j.path, dirPerm); err != nil {
		return err
	}
	c.mu.Lock()
	c.report.Dirs++
	c.mu.Unlock()
	return nil
}

// done counts, and tells.
func (c *copying) done(j job, n int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.report.Files++
		c.report.Bytes += n
		if c.o.Progress != nil {
			c.o.Progress(c.report.Files, c.report.Bytes)
		}
		return
	}
	c.report.Failed++
	if c.ctx.Err() != nil {
		return // it is the cause, not the file
	}
	if c.o.Failed != nil {
		err = c.o.Failed(j.path, err)
	} else {
		err = fmt.Errorf("%s: %w", j.path, err)
	}
	if err != nil {
		c.cancel(err)
	}
}

// copyFile copies one file whole or leaves none.
func (c *copying) copyFile(j job, buf []byte) (n int64, err error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.o.Overwrite {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := c.root.OpenFile(j.path, flags, filePerm)
	if err != nil {
		return 0, err
	}
	n, err = c.content(f, j.entry, buf)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && !j.entry.ModTime.IsZero() {
		err = c.root.Chtimes(j.path, time.Time{}, j.entry.ModTime)
	}
	if err != nil {
		err = errors.Join(err, c.root.Remove(j.path))
	}
	return n, err
}

func (c *copying) content(w io.Writer, e nodes.Entry, buf []byte) (n int64, err error) {
	if s, ok := c.tree.(nodes.Streamer); ok {
		if n, ok, err := s.Stream(c.ctx, e.ID, w); ok || err != nil {
			return n, sized(n, e.Size, err)
		}
	}
	for n < e.Size {
		if err := c.ctx.Err(); err != nil {
			return n, err
		}
		read, err := c.tree.ReadAt(c.ctx, e.ID, buf[:min(int64(len(buf)), e.Size-n)], n)
		if _, writeErr := w.Write(buf[:read]); writeErr != nil {
			return n, writeErr
		}
		n += int64(read)
		if err == io.EOF || (err == nil && read == 0) { //nolint:errorlint // a wrapped one is the source's, not the file's
			break
		}
		if err != nil {
			return n, err
		}
	}
	return n, sized(n, e.Size, nil)
}

// sized is err or, of a file that is not as long as it should be, another.
func sized(n, want int64, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("it has %d bytes, where %d were promised: %w", n, want, io.ErrUnexpectedEOF)
	}
	return err
}
