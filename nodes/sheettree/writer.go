package sheettree

import (
	"context"

	"lorefs/nodes"
)

// OpenWrite implements [nodes.Mutable].
func (e *Editable) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	if err := e.opts.Check(); err != nil {
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
	return e.owner.Open(&c.Text, &handle{e: e, c: c}), nil
}

// handle is a content that is open for writing.
type handle struct {
	e *Editable
	c *content
	// raw is the text that this handle made a sheet: what it writes later goes on from
	// there, not from how the sheet is shown since.
	raw []byte
}

func (h *handle) Room(size int64) error { return h.e.drafts.Room(&h.c.Draft, size) }
func (h *handle) Incomplete() bool      { return false } // a new sheet without a text is none
func (h *handle) Settle()               { h.e.settle(h.c) }

func (h *handle) Hold(ctx context.Context) error {
	if h.raw != nil {
		h.e.owner.HoldAs(&h.c.Text, h.raw)
	}
	return h.e.hold(ctx, h.c)
}

func (h *handle) Touched() {
	h.raw = nil
	h.e.times.Touch(h.c.id)
	h.e.count(h.c)
}

func (h *handle) Commit(ctx context.Context) error {
	text := h.c.Bytes()
	err := h.e.commit(ctx, h.c)
	if err == nil {
		h.raw = text
	}
	return err
}
