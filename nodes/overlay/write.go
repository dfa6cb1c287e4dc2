package overlay

import (
	"context"
	"fmt"

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
	return t.owner.Open(&f.Text, handle{t, f}), nil
}

// open gives a file that can be written to. The caller holds editing.
func (t *Tree) open(ctx context.Context, id nodes.ID) (*file, error) {
	f, of := t.fileOf(id), id
	if f != nil {
		of = f.of
	}
	switch {
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
}

var _ editing.File = handle{}

func (h handle) Hold(ctx context.Context) error   { return h.t.hold(ctx, h.f) }
func (h handle) Room(size int64) error            { return h.t.drafts.Room(&h.f.Draft, size) }
func (h handle) Touched()                         { h.t.touch(h.f); h.t.count(h.f) }
func (h handle) Commit(ctx context.Context) error { return h.t.commit(ctx, h.f) }
func (h handle) Settle()                          { h.t.settle(h.f) }

// Incomplete tells of a file that has the name of one of the source that it is empty.
func (h handle) Incomplete() bool { return h.f.pending && h.f.Size() == 0 }

// commit makes what was written the content of the file that it is. If it can't be that,
// the file shows it nevertheless. The caller holds editing.
func (t *Tree) commit(ctx context.Context, f *file) error {
	var err error
	puts := f.of != 0
	if puts {
		err = t.src.Put(ctx, f.of, f.Bytes())
	}
	if err != nil && ctx.Err() != nil {
		return err // it is tried again
	}
	t.mu.Lock()
	f.pending = false
	f.Tried(err)
	if puts && err == nil {
		f.Drop()
	}
	t.count(f)
	t.mu.Unlock()
	if puts && err == nil {
		t.owner.Tell(nodes.Change{ID: f.id}) // it may be spelled in another way now
	}
	return err
}
