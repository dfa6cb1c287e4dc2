package overlay

import (
	"context"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// file is a file or directory that is more than what the source shows; see the package for
// the states of one. It is guarded by Tree.mu, and changed by whoever holds Tree.editing.
type file struct {
	id   nodes.ID
	kind nodes.Kind

	// of is the file of the source that it is, which says where that is. pending tells that
	// nobody has closed it so far.
	of      nodes.ID
	pending bool
	// dir and name are where a scratch file is, which is of none; cursor is its place among
	// those of the directory.
	dir    nodes.ID
	name   string
	cursor uint64
	// removed tells that it is in no directory any more.
	removed bool
	// hides is the file of the source that it was before it was renamed to a scratch file,
	// 0 if it was none.
	hides nodes.ID
	// was is what it showed when it was removed, if no text is held.
	was Content

	// Draft is what is read, if it is held.
	editing.Draft
	mtime time.Time // when it was made or written to
}

// sourceFile is the file of one of the source's of which there was none.
func sourceFile(id, of nodes.ID) *file { return &file{id: id, kind: nodes.File, of: of} }

// newID is for whoever holds editing.
func (t *Tree) newID() nodes.ID {
	id := t.nextID
	t.nextID++
	return id
}

// fileOf is what there is beyond the source of a node, nil for nothing.
func (t *Tree) fileOf(id nodes.ID) *file {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.files[id]
}

// count keeps account of the memory that texts take. The caller holds mu.
func (t *Tree) count(f *file) { t.drafts.Count(&f.Draft, !f.removed) }

// hold makes a text of what a file shows. The caller holds editing.
func (t *Tree) hold(ctx context.Context, f *file) error {
	if f.Held() {
		return nil
	}
	attr, err := t.Attr(ctx, f.id)
	if err == nil {
		err = t.owner.Hold(ctx, f.id, &f.Text)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f.mtime = attr.ModTime
	t.count(f)
	return nil
}

// stillHides tells of a scratch file that it is all that is to be seen of a file of the
// source. The caller holds editing.
func (t *Tree) stillHides(f *file) bool {
	now, apart := t.shown[f.hides]
	return apart && (now == nil || now.pending)
}

// gone notes that a file is in no directory any more. The caller holds mu.
func (t *Tree) gone(f *file) {
	f.of, f.pending, f.removed = 0, false, true
	f.Tried(nil)
	t.count(f)
}

// touch notes that a file is written to now. The caller holds mu.
func (t *Tree) touch(f *file) {
	f.mtime = t.owner.Now()
	t.times.Drop(f.id)
}

// settle forgets the text of a file of the source, and the file if it is nothing else. The
// caller holds editing and mu.
func (t *Tree) settle(f *file) {
	if f.of == 0 || f.Dirty() || f.pending || f.Problem() != nil {
		return
	}
	f.Drop()
	t.count(f)
	if f.Open() || f.id != f.of {
		return
	}
	delete(t.files, f.id)
	if t.shown[f.of] == f { // it is seen under its own number again
		delete(t.shown, f.of)
	}
}
