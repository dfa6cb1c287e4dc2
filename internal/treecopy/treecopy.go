package treecopy

import (
	"context"
	"fmt"
	"io"
	"path"
	"sync"

	"lorefs/nodes"
)

const (
	// bufferSize is how much is read at once.
	bufferSize = 1 << 20
	// maxQueued is how many files and directories may wait.
	maxQueued = 1 << 10
)

// Copy copies what is in the directory from of the tree, or the file of that
// name, into the folder to, which is made if it is not there. If it is cancelled,
// or fails, what was copied so far stays, but no file that is half written.
func Copy(ctx context.Context, tree nodes.Tree, from nodes.Entry, to string, o Options) (Report, error) {
	t, err := newTarget(ctx, to, o)
	if err != nil {
		return Report{}, err
	}
	defer t.close()
	c := &copying{target: t, tree: tree}
	return c.run(from)
}

// job is a file to be copied, or a directory whose entries are.
type job struct {
	entry nodes.Entry
	path  string
}

type copying struct {
	*target
	tree nodes.Tree

	// jobs wait to be done, last in, first out, so that a deep tree does not pile
	// up. busy is how many are being done: they may bring others.
	queue struct {
		sync.Mutex
		changed sync.Cond
		jobs    []job
		busy    int
	}
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
	return c.end()
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
	case j.entry.Kind == nodes.Link:
		c.link(j)
	default:
		c.file(j.path, j.entry.ModTime, func(w io.Writer) (int64, error) { return c.content(w, j.entry, buf) })
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
			if err := c.makeDir(j.path); err != nil {
				return err
			}
		}
		if !c.later(j) {
			c.do(j, buf)
		}
	}
	return nil
}

func (c *copying) link(j job) {
	target, err := nodes.Readlink(c.ctx, c.tree, j.entry.ID)
	if err == nil {
		err = c.root.Symlink(target, j.path)
	}
	c.done(j.path, 0, err)
}

func (c *copying) content(w io.Writer, e nodes.Entry, buf []byte) (n int64, err error) {
	if e, err = nodes.WithSize(c.ctx, c.tree, e); err != nil {
		return 0, err
	}
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
