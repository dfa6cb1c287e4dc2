package sheettree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lorefs/nodes"
)

// writer is one handle of a content.
type writer struct {
	e *Editable
	c *content
	// raw is the text that this handle made a sheet: what it writes later goes on from
	// there, not from how the sheet is shown since.
	raw []byte
}

// OpenWrite is the tree's.
func (e *Editable) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	c, err := e.content(ctx, id)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[id] = c
	c.writers++
	return &writer{e: e, c: c}, nil
}

// room tells whether a text can have a size. The caller holds editing.
func (e *Editable) room(c *content, size int64) error {
	if size > e.opts.MaxText {
		return fmt.Errorf("%w: a text of %d bytes, where %d are the most", nodes.ErrTooLarge, size, e.opts.MaxText)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.texts-c.counted+size > e.opts.MaxTexts && size > c.counted {
		return fmt.Errorf("%w: texts that are not saved have %d bytes together, where %d are the most", nodes.ErrNoSpace, e.texts, e.opts.MaxTexts)
	}
	return nil
}

// WriteAt is the writer's.
func (w *writer) WriteAt(ctx context.Context, p []byte, off int64) (int, error) {
	e, c := w.e, w.c
	if off < 0 || off > e.opts.MaxText {
		return 0, fmt.Errorf("%w: %d bytes at %d", nodes.ErrTooLarge, len(p), off)
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	if err := w.hold(ctx); err != nil {
		return 0, err
	}
	end := max(off+int64(len(p)), int64(len(c.data)))
	if len(p) > 0 {
		if err := e.room(c, end); err != nil {
			return 0, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(p) > 0 {
		c.resize(end)
		copy(c.data[off:], p)
	}
	w.written(false)
	return len(p), nil
}

// hold makes data what is read. The caller holds editing.
func (w *writer) hold(ctx context.Context) error {
	if !w.c.held && w.raw != nil {
		w.e.holdAs(w.c, w.raw)
	}
	w.raw = nil
	return w.e.hold(ctx, w.c)
}

// resize cuts or extends the data. Most texts are written from the first byte to the
// last, bit by bit. The caller holds mu.
func (c *content) resize(size int64) {
	old := int64(len(c.data))
	if grow := int(size - old); grow > 0 && size > int64(cap(c.data)) {
		c.data = slices.Grow(c.data, max(grow, len(c.data)/4))
	}
	c.data = c.data[:size]
	if size > old {
		clear(c.data[old:])
	}
}

// written notes a change. The caller holds mu.
func (w *writer) written(cut bool) {
	e, c := w.e, w.c
	c.dirty, c.cut = true, cut
	e.times[c.id] = e.opts.Now()
	e.count(c)
}

// Truncate is the writer's.
func (w *writer) Truncate(ctx context.Context, size int64) error {
	e, c := w.e, w.c
	if size < 0 {
		return fmt.Errorf("%w: a file of %d bytes", nodes.ErrInvalid, size)
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	if size == 0 && !c.held {
		e.holdAs(c, nil) // nothing of it is wanted
	}
	if err := w.hold(ctx); err != nil {
		return err
	}
	if err := e.room(c, size); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.resize(size); size == 0 {
		c.data = nil
	}
	w.written(true)
	return nil
}

// Flush is the writer's.
func (w *writer) Flush(ctx context.Context) error {
	committed, err := w.flush(ctx)
	if committed && err == nil {
		err = w.e.opts.Sync()
	}
	return err
}

func (w *writer) flush(ctx context.Context) (committed bool, err error) {
	w.e.editing.Lock()
	defer w.e.editing.Unlock()
	if !w.c.dirty || w.c.cut {
		return false, nil
	}
	data := w.c.data
	err = w.e.commit(ctx, w.c)
	if err == nil {
		w.raw = data
	}
	return true, err
}

// Sync is the writer's.
func (w *writer) Sync(ctx context.Context) error {
	_, err := w.flush(ctx)
	return errors.Join(err, w.e.opts.Sync())
}

// Release is the writer's.
func (w *writer) Release() error {
	e, c := w.e, w.c
	e.editing.Lock()
	defer e.editing.Unlock()
	e.mu.Lock()
	c.writers--
	left := c.writers
	e.mu.Unlock()
	if left > 0 {
		return nil
	}
	var err error
	if c.dirty {
		err = e.commit(context.Background(), c)
	}
	e.stay(c)
	return err
}
