package worldtree

import (
	"bytes"
	"context"
	"fmt"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// maxContent is the largest content of a file: the JSON of the largest zones has
// less, that of an area of 50 MB about as much.
const maxContent = 256 << 20

// OpenWrite is the tree's.
func (e *Editable) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	i := e.itemOf(id)
	if i == nil {
		n, err := e.node(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case n.kind() == nodes.Dir:
			return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
		case !n.editable():
			return nil, nodes.ErrReadOnly
		}
		i = &item{id: id, kind: nodes.File, dir: e.parent(n), name: n.name(), target: &n}
	}
	if i.kind == nodes.Dir {
		return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.items[id] = i
	return e.owner.Open(&i.Text, handle{e, i}), nil
}

// parent is the directory of a file that can be edited.
func (e *Editable) parent(n node) nodes.ID {
	const zones, areas = 1, 4
	switch {
	case n.square >= 0:
		return node{source: n.source, view: zoneSquares, square: -1}.id()
	case n.view == zoneJSON:
		return e.folders[zones].id
	}
	return e.folders[areas].id
}

// handle is an item that is open for writing.
type handle struct {
	e *Editable
	i *item
}

var _ editing.Refuser = handle{}

func (h handle) Hold(ctx context.Context) error   { return h.e.owner.Hold(ctx, h.i.id, &h.i.Text) }
func (h handle) Room(size int64) error            { return editing.CheckSize(size, maxContent) }
func (h handle) Commit(ctx context.Context) error { return h.e.commit(ctx, h.i) }
func (h handle) Revert()                          { h.e.revert(h.i) }
func (h handle) Settle()                          { h.e.settle(h.i) }

func (h handle) Touched() {
	h.i.mtime = h.e.owner.Now()
	h.e.times.Drop(h.i.id)
}

// Incomplete tells of a file that has the name of one of the Tree that it is empty.
func (h handle) Incomplete() bool { return h.i.pending && h.i.name != "" && h.i.Size() == 0 }

// Refuse tells of the beginning of a file that it is no object.
func (h handle) Refuse(p []byte, off int64) error {
	i, text := h.i, bytes.TrimLeft(p, " \t\r\n")
	if i.target == nil || i.name == "" || off != 0 || int64(len(p)) < i.Size() || len(text) == 0 || text[0] == '{' {
		return nil
	}
	return fmt.Errorf("%w: it begins with %q, want the '{' of an object", nodes.ErrInvalid, text[0])
}

// commit makes what was written the content of the file that it is. If it does not
// fit, the file is as it was before. The caller holds editing.
func (e *Editable) commit(ctx context.Context, i *item) error {
	if i.target == nil || i.name == "" {
		e.mu.Lock()
		defer e.mu.Unlock()
		i.Clean()
		return nil
	}
	if err := e.change(ctx, *i.target, i.Bytes()); err != nil {
		e.revert(i)
		return err
	}
	e.mu.Lock()
	i.pending = false
	i.Drop()
	e.mu.Unlock()
	e.owner.Tell(nodes.Change{ID: i.id}) // it may be spelled in another way now
	return nil
}

// revert makes a file what it was before it was written to.
func (e *Editable) revert(i *item) {
	e.mu.Lock()
	if i.target != nil && !i.pending {
		i.Drop()
	} else {
		i.Empty()
	}
	e.mu.Unlock()
	e.owner.Tell(nodes.Change{ID: i.id})
}

// settle forgets the text of an item that is a file of the Tree, and the item if it is
// nothing else. The caller holds editing and mu.
func (e *Editable) settle(i *item) {
	if i.target == nil || i.name == "" || i.Dirty() || i.pending {
		return
	}
	i.Drop()
	if !i.Open() && i.id == i.target.id() {
		delete(e.items, i.id)
	}
}
