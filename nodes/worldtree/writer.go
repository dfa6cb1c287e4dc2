package worldtree

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"lorefs/nodes"
)

// maxContent is the largest content of a file: the JSON of the largest zones has
// less, that of an area of 50 MB about as much.
const maxContent = 256 << 20

// errRefused is the answer to the close of a file to which a write was refused.
var errRefused = fmt.Errorf("%w: a part of it was refused", nodes.ErrInvalid)

// writer is one handle of an item.
type writer struct {
	e *Editable
	i *item
}

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
	i.writers++
	return &writer{e, i}, nil
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

// hold makes data what is read; of a file that is cut off at once, nothing needs to
// be made. The caller holds editing.
func (w *writer) hold(ctx context.Context, empty bool) error {
	if w.i.held {
		return nil
	}
	var data []byte
	if !empty {
		var err error
		if data, err = w.e.bytes(ctx, w.i.id); err != nil {
			return err
		}
	}
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	w.i.data, w.i.held = data, true
	return nil
}

// WriteAt is the writer's.
func (w *writer) WriteAt(ctx context.Context, p []byte, off int64) (int, error) {
	e, i := w.e, w.i
	if off < 0 || off > maxContent-int64(len(p)) {
		return 0, fmt.Errorf("%w: %d bytes at %d, where a file has %d at most", nodes.ErrTooLarge, len(p), off, maxContent)
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	if err := w.hold(ctx, false); err != nil {
		return 0, err
	}
	if err := i.refuse(p, off); err != nil {
		i.refused = i.dirty
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if gap := off - int64(len(i.data)); gap > 0 && len(p) > 0 {
		i.data = append(i.data, make([]byte, gap)...)
	}
	if len(p) > 0 {
		n := copy(i.data[off:], p)
		i.data = append(i.data, p[n:]...)
	}
	i.dirty, i.cut = true, false
	i.refused = i.refused && off > 0
	e.touch(i)
	return len(p), nil
}

// touch gives an item the time of now. The caller holds mu.
func (e *Editable) touch(i *item) {
	i.mtime = e.opts.Now()
	delete(e.times, i.id)
}

// refuse tells of the beginning of a file that it is no object: most programs look
// at an error of write(2), but not at one of close(2).
func (i *item) refuse(p []byte, off int64) error {
	text := bytes.TrimLeft(p, " \t\r\n")
	if i.target == nil || i.name == "" || off != 0 || int64(len(p)) < int64(len(i.data)) || len(text) == 0 || text[0] == '{' {
		return nil
	}
	return fmt.Errorf("%w: it begins with %q, want the '{' of an object", nodes.ErrInvalid, text[0])
}

// Truncate is the writer's.
func (w *writer) Truncate(ctx context.Context, size int64) error {
	e, i := w.e, w.i
	if size < 0 || size > maxContent {
		return fmt.Errorf("%w: a file of %d bytes, where %d are the most", nodes.ErrTooLarge, size, maxContent)
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	if err := w.hold(ctx, size == 0); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if grow := size - int64(len(i.data)); grow > 0 {
		i.data = append(i.data, make([]byte, grow)...)
	}
	i.data = i.data[:size:size]
	i.dirty, i.cut = true, true
	i.refused = i.refused && size > 0
	e.touch(i)
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
	switch i := w.i; {
	case i.dirty && i.refused:
		w.e.revert(i)
		return false, errRefused
	case i.dirty && !i.cut:
		return true, w.e.commit(ctx, i)
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
	e, i := w.e, w.i
	e.editing.Lock()
	defer e.editing.Unlock()
	e.mu.Lock()
	i.writers--
	left := i.writers
	e.mu.Unlock()
	if left > 0 {
		return nil
	}
	err := w.last()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(i)
	return err
}

// last flushes what the last writer of an item leaves. The caller holds editing.
func (w *writer) last() error {
	switch i := w.i; {
	case i.dirty && i.refused:
		w.e.revert(i)
		return errRefused
	case i.dirty, i.pending && i.name != "" && len(i.data) == 0:
		return w.e.commit(context.Background(), i)
	}
	return nil
}

// commit makes what was written the content of the file that it is. If it does not
// fit, the file is as it was before. The caller holds editing.
func (e *Editable) commit(ctx context.Context, i *item) error {
	if i.target != nil && i.name != "" {
		if err := e.change(ctx, *i.target, i.data); err != nil {
			e.revert(i)
			return err
		}
		e.mu.Lock()
		i.pending, i.held, i.data = false, false, nil
		e.mu.Unlock()
		e.watch(nodes.Change{ID: i.id}) // it may be spelled in another way now
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	i.dirty, i.cut, i.refused = false, false, false
	return nil
}

// revert makes a file what it was before it was written to.
func (e *Editable) revert(i *item) {
	e.mu.Lock()
	i.dirty, i.cut, i.refused = false, false, false
	i.data = nil
	if i.target != nil && !i.pending {
		i.held = false
	}
	e.mu.Unlock()
	e.watch(nodes.Change{ID: i.id})
}

// settle forgets an item that is nothing but a file of the Tree. The caller holds
// editing and mu.
func (e *Editable) settle(i *item) {
	if i.writers == 0 && i.target != nil && i.name != "" && !i.dirty && !i.pending && i.id == i.target.id() {
		delete(e.items, i.id)
	}
}
