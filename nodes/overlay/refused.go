package overlay

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// Refused gives the texts that were refused, see [editing.Drafts.Refused].
func (t *Tree) Refused() []editing.Refused { return t.drafts.Refused() }

// Xattrs implements [nodes.Xattrer].
func (t *Tree) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	return t.drafts.Xattrs(ctx, id)
}

// Xattr implements [nodes.Xattrer].
func (t *Tree) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	return t.drafts.Xattr(ctx, id, name)
}

// draftOf is that of a file, nil if there is none. The caller holds mu.
func (t *Tree) draftOf(id nodes.ID) *editing.Draft {
	if f := t.files[id]; f != nil {
		return &f.Draft
	}
	return nil
}

// allDrafts yields those of files that are there, with their paths. The caller holds mu.
func (t *Tree) allDrafts() iter.Seq2[string, *editing.Draft] {
	return func(yield func(string, *editing.Draft) bool) {
		for _, f := range t.files {
			if !f.removed && !yield(t.path(f), &f.Draft) {
				return
			}
		}
	}
}

// slot is where the text of a file goes that could not be renamed to one of the source.
func (t *Tree) slot(_ context.Context, to *place) (editing.Slot, error) {
	f := to.file
	switch {
	case to.of.Sole && (f == nil || f.Problem() == nil):
		return editing.Slot{}, fmt.Errorf("%w: what is there is nowhere else, and would be lost", nodes.ErrExist)
	case f == nil:
		f = sourceFile(to.ID, to.of.ID)
	}
	if !to.Exists() {
		var err error
		if f.id, err = t.newID(); err != nil {
			return editing.Slot{}, err
		}
	}
	return editing.Slot{ID: f.id, Dir: to.dir, Draft: &f.Draft, Show: func() {
		f.pending, f.fresh = false, f.of == 0
		t.files[f.id] = f
		if !to.Exists() {
			t.put(f, to.dir, to.Name)
		}
		t.touch(f)
	}}, nil
}

// giveUp removes a file that shows a refused text: another one takes its place, which
// shows what the source holds. The caller holds editing.
func (t *Tree) giveUp(ctx context.Context, p *place) error {
	now, err := t.src.Now(ctx, p.of.ID)
	if err != nil {
		return err
	}
	id, err := t.newID()
	if err != nil {
		return err
	}
	next := sourceFile(id, p.of.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replaced(p, now)
	t.put(next, p.dir, p.Name)
	return nil
}

// isNotPermitted tells of an error that the source has no room for such an edit, whatever
// the text is.
func isNotPermitted(err error) bool { return errors.Is(err, nodes.ErrNotPermitted) }
