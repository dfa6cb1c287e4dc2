package sheettree

import (
	"context"
	"fmt"
	"iter"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// Refused gives the texts that were refused, see [editing.Drafts.Refused].
func (e *Editable) Refused() []editing.Refused { return e.drafts.Refused() }

// Xattrs implements [nodes.Xattrer].
func (e *Editable) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	return e.drafts.Xattrs(ctx, id)
}

// Xattr implements [nodes.Xattrer].
func (e *Editable) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	return e.drafts.Xattr(ctx, id, name)
}

// draftOf is that of a file, nil if there is none. The caller holds mu.
func (e *Editable) draftOf(id nodes.ID) *editing.Draft {
	if c := e.files[id]; c != nil {
		return &c.Draft
	}
	return nil
}

// allDrafts yields those of files that are there, with their paths. The caller holds mu.
func (e *Editable) allDrafts() iter.Seq2[string, *editing.Draft] {
	return func(yield func(string, *editing.Draft) bool) {
		for _, c := range e.files {
			if c.name != "" && !yield(c.path(), &c.Draft) {
				return
			}
		}
	}
}

// slot is where the text of a file goes that could not be renamed to a place. A schema
// that somebody wrote keeps it out: it is nowhere else.
func (e *Editable) slot(ctx context.Context, to *place) (editing.Slot, error) {
	c, err := e.contentAt(ctx, to)
	if err != nil {
		return editing.Slot{}, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if to.class() == schemaFile && to.Exists() && c.folder.scratch[c.name] == c && c.Problem() == nil {
		return editing.Slot{}, fmt.Errorf("%w: the schema that is there was written, and would be lost", nodes.ErrExist)
	}
	return editing.Slot{ID: c.id, Dir: to.at.id, Draft: &c.Draft, Show: func() {
		switch {
		case to.class() == schemaFile:
			c.folder, c.name = e.state(to.at.name), to.Name
			e.override(c, nil)
		case !to.Exists():
			e.put(c, to.at.name, to.Name)
		}
		e.files[c.id] = c
		e.times.Touch(c.id)
	}}, nil
}

// contentAt is the content of a file that need not be there. The caller holds editing.
func (e *Editable) contentAt(ctx context.Context, to *place) (*content, error) {
	if to.Exists() {
		return e.content(ctx, to.ID)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return &content{id: e.newID(madeFile)}, nil
}
