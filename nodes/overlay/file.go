package overlay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lorefs/nodes"
)

// file is a file or directory of which the overlay knows more than the source. The package
// comment has its states. Tree.mu guards it, and only a holder of Tree.editing changes it.
type file struct {
	id   nodes.ID
	kind nodes.Kind

	// of is the file of the source that this one shows or, if pending is set, becomes when it is
	// closed; the source knows its place. fresh says that the source has no such file yet and
	// makes it when this one is closed.
	of             nodes.ID
	pending, fresh bool
	// undecided says that the file is new and was put without a text, and its writers may write
	// one.
	undecided bool
	// dir and name are the place of a file that is pending or has no of. cursor is its position
	// among the scratch files of the directory.
	dir    nodes.ID
	name   string
	cursor uint64
	// removed says that the file is in no directory any more.
	removed bool
	// hides is the file of the source that this one was before it was renamed to a scratch file,
	// or 0.
	hides nodes.ID
	// extra is handed to the source when the file is put.
	extra any
	// was is the content from before the removal, if no text is held.
	was Content

	// text is the content if it is held.
	text
	mtime time.Time // when it was made or last written
}

// sourceFile returns a new file that shows one of the source.
func sourceFile(id, of nodes.ID) *file { return &file{id: id, kind: nodes.File, of: of} }

// isSource reports whether the file shows one of the source, or a text that shall become its
// content.
func (f *file) isSource() bool { return f.of != 0 && !f.pending }

// newID returns the number of a new file. The caller holds editing.
func (t *Tree) newID() (nodes.ID, error) {
	if t.valued != nil {
		return t.valued.NewID()
	}
	id := t.nextID
	t.nextID++
	return id, nil
}

// place returns where to put the file. The caller holds editing.
func (f *file) place() Place {
	if f.isSource() {
		return Place{ID: f.of}
	}
	return Place{Dir: f.dir, Name: f.name, ID: f.of}
}

// from returns where the text of the file comes from.
func (f *file) from() From { return From{File: f.id, Extra: f.extra, Undecided: f.undecided} }

// fileOf returns what the overlay knows of a node beyond the source, or nil.
func (t *Tree) fileOf(id nodes.ID) *file {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.files[id]
}

// hold makes what a file shows its text. The caller holds editing.
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

// holdAs gives a file a text, unless it holds one already. The caller holds editing.
func (t *Tree) holdAs(f *file, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !f.Held() {
		f.Hold(text)
	}
}

// hiddenBy returns the file of the source that a scratch file hides, or 0. The caller holds
// editing.
func (t *Tree) hiddenBy(f *file) nodes.ID {
	if f.hides != 0 && t.isHidden(f.hides) {
		return f.hides
	}
	return 0
}

// isHidden reports whether no file shows this file of the source. A pending file doesn't count,
// because nobody has closed it yet.
func (t *Tree) isHidden(of nodes.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	now, apart := t.shown[of]
	return apart && (now == nil || now.pending)
}

// RemoveHidden removes the files of the source that scratch files hide: they were renamed and
// not written again. A file whose text was refused stays. A file that can't be removed stays,
// too; the error is returned only if ctx has ended.
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

// refusedHidden returns the files that are hidden by one whose text was refused.
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

// allHidden returns the hidden files, sorted by number.
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

// gone records that a file is in no directory any more. The caller holds mu.
func (t *Tree) gone(f *file) {
	f.of, f.pending, f.fresh, f.removed = 0, false, false, true
	if f.kind == nodes.Dir {
		delete(t.here, f.id)
	}
	f.Tried(nil)
	if f.was == nil && f.kind == nodes.File {
		f.ShowAlone()
	}
	t.count(f)
}

// becomes makes a file show one of the source, which has its text now. The caller holds mu.
func (t *Tree) becomes(f *file, of nodes.ID) {
	if f.of != of {
		t.take(f)
		t.lost(f.of) // another file has its place
	}
	f.of, f.hides, f.pending, f.fresh, f.undecided, f.extra = of, 0, false, false, false, nil
	f.Tried(nil)
	f.Drop()
	t.count(f)
	t.put(f, f.dir, f.name)
	t.settle(f)
}

// orphaned records that the source no longer has the file that this one was to become. This one
// becomes a fresh file. The caller holds mu.
func (t *Tree) orphaned(f *file) {
	f.of, f.pending, f.fresh = 0, false, true
	t.put(f, f.dir, f.name)
}

// touch records that a file is written to now. The caller holds mu.
func (t *Tree) touch(f *file) {
	f.mtime = t.now()
	t.times.Drop(f.id)
}

// settle drops the text of a file that shows the same as the source, and then the file, unless
// it is open or has a number of its own. The caller holds editing and mu.
func (t *Tree) settle(f *file) {
	if f.of == 0 || f.Dirty() || f.pending || f.problem != nil {
		return
	}
	f.Drop()
	t.count(f)
	if f.Open() || f.id != f.of {
		return
	}
	t.forget(f.id)
	if t.shown[f.of] == f { // it is seen under the source's number again
		delete(t.shown, f.of)
	}
}
