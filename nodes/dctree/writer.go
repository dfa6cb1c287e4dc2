package dctree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lorefs/datacenter"
	"lorefs/nodes"
)

// writer is one handle of a content.
type writer struct {
	e *Editable
	c *content
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
	return &writer{e, c}, nil
}

// hold makes data what is read. The caller holds editing.
func (w *writer) hold(ctx context.Context) error {
	if w.c.held {
		return nil
	}
	data, err := w.e.bytes(ctx, w.c)
	if err != nil {
		return err
	}
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	w.c.data, w.c.held = data, true
	return nil
}

// WriteAt is the writer's.
func (w *writer) WriteAt(ctx context.Context, p []byte, off int64) (int, error) {
	e, c := w.e, w.c
	if off < 0 || off > maxContent-int64(len(p)) {
		return 0, fmt.Errorf("%w: %d bytes at %d, where a file has %d at most", nodes.ErrTooLarge, len(p), off, maxContent)
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	if err := w.hold(ctx); err != nil {
		return 0, err
	}
	if err := e.refuse(c, p, off); err != nil {
		c.refused = c.dirty
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if gap := off - int64(len(c.data)); gap > 0 && len(p) > 0 {
		c.data = append(c.data, make([]byte, gap)...)
	}
	if len(p) > 0 {
		n := copy(c.data[off:], p)
		c.data = append(c.data, p[n:]...)
	}
	c.dirty, c.cut = true, false
	e.times[c.id] = e.opts.Now()
	c.refused = c.refused && off > 0
	return len(p), nil
}

// refuse tells of a write whether it is certain that the file becomes no value by
// it, if the program writes on from there: most look at an error of write(2), but
// not at one of close(2). The caller holds editing.
func (e *Editable) refuse(c *content, p []byte, off int64) error {
	size := int64(len(c.data))
	if c.name == "" || isScratch(c.name) || len(p) == 0 || off > size || off+int64(len(p)) < size {
		return nil
	}
	t, err := e.typeOf(c)
	if err != nil || t == 0 || t == datacenter.String {
		return err
	}
	return hopeless(t, string(c.data[:off])+string(p))
}

// hopeless is the error of a text that begins in a way in which no value of the
// type does. A line of nothing is taken for a value that is missing: shells write
// it for a variable that is not set, and look at no error but this.
func hopeless(t datacenter.Type, begin string) error {
	const spaces = " \t\n\v\f\r" // space around a number does not matter
	_, err := datacenter.ParseValue(t, begin)
	text := strings.TrimLeft(begin, spaces)
	if begin == "\n" && err != nil {
		return refusal(err)
	}
	if err == nil || text == "" || (!strings.ContainsRune(spaces, rune(text[len(text)-1])) && mayGrow(t, text)) {
		return nil
	}
	return refusal(err)
}

// mayGrow tells whether a text that is no value of the type may become one by what
// follows it.
func mayGrow(t datacenter.Type, text string) bool {
	switch t {
	case datacenter.Int:
		return text == "-" || text == "+"
	case datacenter.Bool:
		return strings.HasPrefix("true", text) || strings.HasPrefix("false", text)
	}
	other := func(r rune) bool { return !strings.ContainsRune("0123456789abcdefinptxyABCDEFINPTXY+-._()", r) }
	return !strings.ContainsFunc(text, other)
}

// Truncate is the writer's.
func (w *writer) Truncate(ctx context.Context, size int64) error {
	e, c := w.e, w.c
	if size < 0 || size > maxContent {
		return fmt.Errorf("%w: a file of %d bytes, where %d are the most", nodes.ErrTooLarge, size, maxContent)
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	if err := w.hold(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if grow := size - int64(len(c.data)); grow > 0 {
		c.data = append(c.data, make([]byte, grow)...)
	}
	c.data = c.data[:size:size]
	c.dirty, c.cut = true, true
	e.times[c.id] = e.opts.Now()
	c.refused = c.refused && size > 0
	return nil
}

// errRefused is the answer to the close of a file to which a write was refused.
var errRefused = fmt.Errorf("%w: a part of it was refused", nodes.ErrInvalid)

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
	switch c := w.c; {
	case c.dirty && c.refused:
		w.e.revert(c)
		return false, errRefused
	case c.dirty && !c.cut:
		return true, w.e.commit(ctx, c)
	}
	return false, nil
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
	err := w.last()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(c)
	return err
}

// last flushes what the last writer of a content leaves. The caller holds editing.
func (w *writer) last() error {
	e, c := w.e, w.c
	created := !c.attribute && c.name != "" && !isScratch(c.name) && len(c.data) == 0
	switch {
	case c.dirty && c.refused:
		e.revert(c)
		return errRefused
	case c.dirty, created:
		return e.commit(context.Background(), c)
	}
	return nil
}
