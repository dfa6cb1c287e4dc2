package overlay

import (
	"context"
	"fmt"
	"slices"
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
	h := handle{t: t, f: f}
	if t.valued != nil {
		return t.owner.Open(&f.Text, &valuedHandle{h}), nil
	}
	return t.owner.Open(&f.Text, &h), nil
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

func (h *handle) Room(size int64) error { return h.t.room(h.f, size) }
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
	if err == nil && !h.f.Held() && h.t.valued == nil {
		h.raw = text
	}
	return err
}

// Incomplete tells of a file that is to be one of the source that it is empty.
func (h *handle) Incomplete() bool {
	return h.t.empty && (h.f.pending || h.f.fresh) && h.f.Size() == 0
}

// valuedHandle is a handle of a file that is a value.
type valuedHandle struct{ handle }

var _ editing.Refuser = (*valuedHandle)(nil)

// Refuse is the error of a text that the program goes on with from here, but which is
// hopeless.
func (h *valuedHandle) Refuse(p []byte, off int64) error {
	t, f, size := h.t, h.f, h.f.Size()
	if f.of == 0 && !f.fresh || off > size || off+int64(len(p)) < size {
		return nil
	}
	begin := slices.Concat(f.Bytes()[:off], p)
	return t.valued.Refuse(f.place(), begin, From{File: f.id, Note: f.note})
}

// Revert implements [editing.Refuser].
func (h *valuedHandle) Revert() { h.t.revert(h.f) }

// revert makes a file what it was before it was written to.
func (t *Tree) revert(f *file) {
	t.mu.Lock()
	if f.isSource() {
		f.Drop()
		f.note = nil
	} else {
		f.Empty()
	}
	t.count(f)
	t.mu.Unlock()
	t.owner.Tell(nodes.Change{ID: f.id})
}

// commit makes what was written the content of the file that it is. If it can't be that,
// the file shows it nevertheless. The caller holds editing.
func (t *Tree) commit(ctx context.Context, f *file) error {
	at, said := t.times.Own(f.id)
	of, err := t.store(ctx, f)
	switch {
	case err == nil:
	case t.valued != nil:
		t.revert(f)
		return err
	case ctx.Err() != nil:
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

// putAnew puts what a file of the source shows, which nobody has written to. The caller holds
// editing.
func (t *Tree) putAnew(ctx context.Context, f *file, note any) error {
	err := t.hold(ctx, f)
	if err != nil {
		return err
	}
	t.mu.Lock()
	f.note = note
	t.mu.Unlock()
	of, err := t.store(ctx, f)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		f.note = nil
		t.settle(f)
		return err
	}
	t.becomes(f, of)
	t.times.Touch(f.id)
	return nil
}

// written notes that a file of the source was written to, by whoever said nothing of its time
// or something. It may be spelled in another way now; of a value, the source tells that.
func (t *Tree) written(f *file, at time.Time, said bool) {
	if !said {
		at = f.mtime
	}
	t.times.Set(f.id, at)
	if t.valued == nil {
		t.owner.Tell(nodes.Change{ID: f.id})
	}
}

// store puts the text of a file into the source: of is the source's file, 0 for a scratch
// file.
func (t *Tree) store(ctx context.Context, f *file) (of nodes.ID, err error) {
	to, from := f.place(), From{File: f.id, Note: f.note}
	switch {
	case f.of != 0:
		of, err = t.src.Put(ctx, to, f.Bytes(), from)
		return of, err
	case !f.fresh:
		return 0, nil
	}
	// Somebody else may have made it meanwhile.
	name, err := t.src.Name(ctx, f.dir, f.name)
	if err != nil {
		return 0, err
	}
	to.ID = name.ID
	of, err = t.src.Put(ctx, to, f.Bytes(), from)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.lost(name.TwinID)
	}
	return of, err
}
