package worldtree

import (
	"context"
	"fmt"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// OpenWrite implements [nodes.Mutable].
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
		i = e.fileItem(id, n)
	}
	if i.kind == nodes.Dir {
		return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	if i.target != nil {
		if err := i.target.source.now().check(e.fsys); err != nil {
			return nil, err
		}
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

var _ editing.File = handle{}

func (h handle) Hold(ctx context.Context) error   { return h.e.hold(ctx, h.i) }
func (h handle) Room(size int64) error            { return h.e.drafts.Room(&h.i.Draft, size) }
func (h handle) Touched()                         { h.e.touch(h.i); h.e.count(h.i) }
func (h handle) Commit(ctx context.Context) error { return h.e.commit(ctx, h.i) }
func (h handle) Settle()                          { h.e.settle(h.i) }

// Incomplete tells of a file that has the name of one of the Tree that it is empty.
func (h handle) Incomplete() bool { return h.i.pending && h.i.name != "" && h.i.Size() == 0 }

// touch notes that an item is written to now. The caller holds mu.
func (e *Editable) touch(i *item) {
	i.mtime = e.owner.Now()
	e.times.Drop(i.id)
}

// commit makes what was written the content of the file that it is. If it can't be that,
// the file shows it nevertheless. The caller holds editing.
func (e *Editable) commit(ctx context.Context, i *item) error {
	var err error
	saves := i.target != nil && i.name != ""
	if saves {
		err = e.change(ctx, *i.target, i.Bytes())
	}
	if err != nil && ctx.Err() != nil {
		return err // it is tried again
	}
	e.mu.Lock()
	i.pending = false
	i.Tried(err)
	if saves && err == nil {
		i.Drop()
	}
	e.count(i)
	e.mu.Unlock()
	if saves && err == nil {
		e.owner.Tell(nodes.Change{ID: i.id}) // it may be spelled in another way now
	}
	return err
}

// settle forgets the text of an item that is a file of the Tree, and the item if it is
// nothing else. The caller holds editing and mu.
func (e *Editable) settle(i *item) {
	if i.target == nil || i.name == "" || i.Dirty() || i.pending || i.Problem() != nil {
		return
	}
	i.Drop()
	e.count(i)
	if !i.Open() && i.id == i.target.id() {
		delete(e.items, i.id)
	}
}
