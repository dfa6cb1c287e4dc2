package overlay

import (
	"context"
	"fmt"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// OpenWrite implements [nodes.Mutable].
func (t *Tree) OpenWrite(ctx context.Context, id nodes.ID) (nodes.Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.editing.Lock()
	defer t.editing.Unlock()
	f, err := t.open(ctx, id)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[id] = f
	return t.owner.Open(&f.Text, &handle{t: t, f: f}), nil
}

// open gives a file that can be written to. The caller holds editing.
func (t *Tree) open(ctx context.Context, id nodes.ID) (*file, error) {
	_, _, err := t.look(id)
	f, of := t.fileOf(id), id
	if f != nil {
		of = f.of
	}
	switch {
	case err != nil:
		return nil, err
	case f != nil && f.kind == nodes.Dir:
		return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case of != 0:
		if err := t.src.Open(ctx, of); err != nil {
			return nil, err
		}
	}
	if f == nil {
		f = sourceFile(id, id)
	}
	return f, nil
}

// handle is a file that is open for writing.
type handle struct {
	t *Tree
	f *file
	// raw is the text that this handle has put: what it writes later goes on from there,
	// not from how the source shows it since.
	raw []byte
}

var _ editing.File = (*handle)(nil)

func (h *handle) Room(size int64) error { return h.t.drafts.Room(&h.f.Draft, size) }
func (h *handle) Settle()               { h.t.settle(h.f) }

func (h *handle) Hold(ctx context.Context) error {
	if h.raw != nil {
		h.t.owner.HoldAs(&h.f.Text, h.raw)
	}
	return h.t.hold(ctx, h.f)
}

func (h *handle) Touched() {
	h.raw = nil
	h.t.touch(h.f)
	h.t.count(h.f)
}

func (h *handle) Commit(ctx context.Context) error {
	text := h.f.Bytes()
	err := h.t.commit(ctx, h.f)
	if err == nil && !h.f.Held() {
		h.raw = text
	}
	return err
}

// Incomplete tells of a file that is to be one of the source that it is empty.
func (h *handle) Incomplete() bool {
	return h.t.empty && (h.f.pending || h.f.fresh) && h.f.Size() == 0
}

// commit makes what was written the content of the file that it is. If it can't be that,
// the file shows it nevertheless. The caller holds editing.
func (t *Tree) commit(ctx context.Context, f *file) error {
	at, said := t.times.Own(f.id)
	of, err := t.store(ctx, f)
	if err != nil && ctx.Err() != nil {
		return err // it is tried again
	}
	stored := of != 0 && err == nil
	t.mu.Lock()
	if stored {
		t.becomes(f, of)
	} else {
		f.pending = false
		f.Tried(err)
		t.count(f)
	}
	t.mu.Unlock()
	if stored {
		t.written(f, at, said)
	}
	return err
}

// written notes that a file of the source was written to, by whoever said nothing of its time
// or something. It may be spelled in another way now.
func (t *Tree) written(f *file, at time.Time, said bool) {
	if !said {
		at = f.mtime
	}
	t.times.Set(f.id, at)
	t.owner.Tell(nodes.Change{ID: f.id})
}

// store puts the text of a file into the source: of is the source's file, 0 for a scratch
// file.
func (t *Tree) store(ctx context.Context, f *file) (of nodes.ID, err error) {
	switch {
	case f.of != 0:
		return f.of, t.src.Put(ctx, f.of, f.Bytes(), 0)
	case !f.fresh:
		return 0, nil
	}
	// Somebody else may have made it meanwhile.
	name, err := t.src.Name(ctx, f.dir, f.name)
	switch {
	case err != nil:
		return 0, err
	case name.ID != 0:
		return name.ID, t.src.Put(ctx, name.ID, f.Bytes(), 0)
	}
	return t.src.Make(ctx, f.dir, f.name, nodes.File, f.Bytes(), 0)
}
