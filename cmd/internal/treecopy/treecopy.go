package treecopy

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lorefs/nodes"
)

// Copy copies what is in the directory from of the tree, or the file of that name, into the
// folder to, which it makes if needed. If it is canceled or fails, what was copied so far
// stays, but no partial file.
func Copy(ctx context.Context, tree nodes.Tree, from nodes.Entry, to string, o Options) (Report, error) {
	t, err := newTarget(ctx, to, o)
	if err != nil {
		return Report{}, err
	}
	defer t.close()
	c := &copying{target: t, tree: tree}
	w := &walk{ctx: t.ctx, cancel: t.cancel, tree: tree, dir: t.makeDir, file: c.one}
	w.unlisted = func(dir string, err error) {
		t.unlisted.Store(true)
		t.done(dir, 0, contentError{err})
	}
	if o.Filter.File != nil || o.Since != "" {
		w.dir = func(string) error { return nil }
	}
	if o.Rows == nil {
		w.run(from, o)
		return t.end()
	}
	g := &gathering{copying: c}
	w.file = g.add
	o.Workers = 1 // which lists while the others wait
	w.run(from, o)
	g.flush()
	return t.end()
}

type copying struct {
	*target
	tree nodes.Tree
}

// one copies a file or a link.
func (c *copying) one(j job, by *worker) {
	if c.o.Seen != nil {
		c.o.Seen(j.path)
	}
	if sum, same := c.o.sameByKey(c.ctx, c.old, &j); same {
		if c.old == c.root {
			c.stands(j.path, sum)
		}
		c.same()
		return
	}
	if err := c.ready(&j); err != nil {
		c.done(j.path, 0, err)
		return
	}
	if j.entry.Kind == nodes.Link {
		if err := c.copyLink(j); errors.Is(err, errSame) {
			c.same()
		} else {
			c.done(j.path, 0, err)
		}
		return
	}
	c.file(by, j.path, j.entry.ModTime, func(w io.Writer) (int64, error) { return c.content(w, j.entry, by) })
}

// ready makes the directory of a file, if that was not made yet. It returns an error for a file
// that is not installed, for which nothing has to be made. Other reasons are told by reading.
func (c *copying) ready(j *job) error {
	if j.entry.Kind == nodes.File && c.o.Readable != nil {
		if err := c.o.Readable(c.ctx, j.entry.ID); errors.Is(err, nodes.ErrUnavailable) {
			return contentError{err}
		}
	}
	if c.o.Filter.File != nil && c.o.Since == "" {
		return c.folderOf(j.path)
	}
	return nil
}

// copyLink makes a link with the target that one of the tree has.
func (c *copying) copyLink(j job) error {
	target, err := nodes.Readlink(c.ctx, c.tree, j.entry.ID)
	if err != nil {
		return contentError{err}
	}
	return c.link(j.path, target)
}

func (c *copying) content(w io.Writer, e nodes.Entry, by *worker) (n int64, err error) {
	if s, ok := c.tree.(nodes.Streamer); ok {
		if n, ok, err := s.Stream(c.ctx, e.ID, w); ok || err != nil {
			return n, sized(n, e.Size, err)
		}
	}
	if e, err = nodes.WithSize(c.ctx, c.tree, e); err != nil {
		return 0, err
	}
	buf := by.buffer()
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

// sized returns err, or an error if the size of a file is not as promised. Nobody promises a size
// that is unknown until a file is written.
func sized(n, want int64, err error) error {
	if err == nil && n != want && want != nodes.UnknownSize {
		err = fmt.Errorf("it has %d bytes, where %d were promised: %w", n, want, io.ErrUnexpectedEOF)
	}
	return err
}
