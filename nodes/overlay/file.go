package overlay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lorefs/nodes"
)

// file is a file or directory that is more than what the source shows; see the package for
// the states of one. It is guarded by Tree.mu, and changed by whoever holds Tree.editing.
type file struct {
	id   nodes.ID
	kind nodes.Kind

	// of is the file of the source that it is, which says where that is. pending tells that
	// nobody has closed it so far; fresh tells of one that is of none so far that the source
	// is to make it when it is closed.
	of             nodes.ID
	pending, fresh bool
	// dir and name are where a file is that is of none, or pending; cursor is its place
	// among the scratch files of the directory.
	dir    nodes.ID
	name   string
	cursor uint64
	// removed tells that it is in no directory any more.
	removed bool
	// hides is the file of the source that it was before it was renamed to a scratch file,
	// 0 if it was none.
	hides nodes.ID
	// note is what the source wants to know when it is put.
	note any
	// was is what it showed when it was removed, if no text is held.
	was Content

	// text is what is read, if it is held.
	text
	mtime time.Time // when it was made or written to
}

// sourceFile is the file of one of the source's of which there was none.
func sourceFile(id, of nodes.ID) *file { return &file{id: id, kind: nodes.File, of: of} }

// isSource tells of a file that it shows what the source has, or a text that is to be it.
func (f *file) isSource() bool { return f.of != 0 && !f.pending }

// newID gives the number of a new file. The caller holds editing.
func (t *Tree) newID() (nodes.ID, error) {
	if t.valued != nil {
		return t.valued.NewID()
	}
	id := t.nextID
	t.nextID++
	return id, nil
}

// place is where a file is that is one of the source, or is to be. The caller holds editing.
func (f *file) place() Place {
	if f.isSource() {
		return Place{ID: f.of}
	}
	return Place{Dir: f.dir, Name: f.name, ID: f.of}
}

// fileOf is what there is beyond the source of a node, nil for nothing.
func (t *Tree) fileOf(id nodes.ID) *file {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.files[id]
}

// hold makes a text of what a file shows. The caller holds editing.
func (t *Tree) hold(ctx context.Context, f *file) error {
	if f.Held() {
		return nil
	}
	attr, err := t.Attr(ctx, f.id)
	if err != nil {
		return err
	}
	b := make([]byte, attr.Size)
	if n, err := t.ReadAt(ctx, f.id, b, 0); n < len(b) {
		return fmt.Errorf("read %d bytes of %d: %w", n, len(b), err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f.Hold(b)
	f.mtime = attr.ModTime
	t.count(f)
	return nil
}

// holdAs has a file hold a text, unless it holds something. The caller holds editing.
func (t *Tree) holdAs(f *file, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !f.Held() {
		f.Hold(text)
	}
}

// hiddenBy is the file of the source of which a scratch file is all that is to be seen, 0 for
// none. The caller holds editing.
func (t *Tree) hiddenBy(f *file) nodes.ID {
	if f.hides != 0 && t.isHidden(f.hides) {
		return f.hides
	}
	return 0
}

// isHidden tells of a file of the source that nothing shows it, or nothing that anybody has
// written.
func (t *Tree) isHidden(of nodes.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	now, apart := t.shown[of]
	return apart && (now == nil || now.pending)
}

// RemoveHidden removes the files of the source that scratch files hide: whoever renamed them
// did not write them again. A file stays whose text was refused. So does one that can't be
// removed, unless ctx has ended.
func (t *Tree) RemoveHidden(ctx context.Context) error {
	t.editing.Lock()
	defer t.editing.Unlock()
	refused := t.refusedHidden()
	for _, of := range t.allHidden() {
		if refused[of] {
			continue
		}
		if err := t.src.Remove(ctx, of); err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue
		}
		t.mu.Lock()
		t.lost(of)
		t.mu.Unlock()
	}
	return nil
}

// refusedHidden are the files that were hidden by such whose text was refused.
func (t *Tree) refusedHidden() map[nodes.ID]bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := map[nodes.ID]bool{}
	for _, f := range t.files {
		if f.hides != 0 && f.problem != nil {
			all[f.hides] = true
		}
	}
	return all
}

// allHidden are the files that are hidden, in the order of their numbers.
func (t *Tree) allHidden() []nodes.ID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []nodes.ID
	for of, now := range t.shown {
		if now == nil || now.pending {
			all = append(all, of)
		}
	}
	slices.Sort(all)
	return all
}

// gone notes that a file is in no directory any more. The caller holds mu.
func (t *Tree) gone(f *file) {
	f.of, f.pending, f.fresh, f.removed = 0, false, false, true
	f.Tried(nil)
	if f.was == nil && f.kind == nodes.File {
		f.Keep()
	}
	t.count(f)
}

// becomes lets a file show one of the source, which holds its text since it was written. The
// caller holds mu.
func (t *Tree) becomes(f *file, of nodes.ID) {
	if f.of != of {
		t.take(f)
		t.lost(f.of) // another number has its place
	}
	f.of, f.hides, f.pending, f.fresh, f.note = of, 0, false, false, nil
	f.Tried(nil)
	f.Drop()
	t.count(f)
	t.put(f, f.dir, f.name)
	t.settle(f)
}

// orphaned notes that the source has nothing any more that a file is to be: it is like one
// that never was of any. The caller holds mu.
func (t *Tree) orphaned(f *file) {
	f.of, f.pending, f.fresh = 0, false, true
	t.put(f, f.dir, f.name)
}

// touch notes that a file is written to now. The caller holds mu.
func (t *Tree) touch(f *file) {
	f.mtime = t.now()
	t.times.Drop(f.id)
}

// settle forgets the text of a file of the source, and the file if it is nothing else. The
// caller holds editing and mu.
func (t *Tree) settle(f *file) {
	if f.of == 0 || f.Dirty() || f.pending || f.problem != nil {
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
