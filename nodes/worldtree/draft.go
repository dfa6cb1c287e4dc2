package worldtree

import (
	"context"
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
	if i := e.items[id]; i != nil {
		return &i.Draft
	}
	return nil
}

// allDrafts yields those of files that are there, with their paths. The caller holds mu.
func (e *Editable) allDrafts() iter.Seq2[string, *editing.Draft] {
	return func(yield func(string, *editing.Draft) bool) {
		for _, i := range e.items {
			if i.name != "" && !yield(e.path(i.dir)+"/"+i.name, &i.Draft) {
				return
			}
		}
	}
}

// slot is where the text of a file goes that could not be renamed to a file of the Tree.
func (e *Editable) slot(_ context.Context, to *place) (editing.Slot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.items[to.ID]
	switch {
	case !to.Exists():
		i = &item{id: e.newID(), kind: nodes.File, target: to.node}
	case i == nil:
		i = e.fileItem(to.ID, *to.node)
	}
	return editing.Slot{ID: i.id, Dir: to.dir, Draft: &i.Draft, Show: func() {
		i.pending = false
		e.items[i.id] = i
		if !to.Exists() {
			e.put(i, to.dir, to.Name)
		}
		e.touch(i)
	}}, nil
}

// isRefused tells of a file of the Tree that it shows a text that was refused.
func (e *Editable) isRefused(p *place) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	i := e.items[p.ID]
	return i != nil && i.target != nil && i.Problem() != nil
}

// giveUp removes a file that shows a refused text: another one takes its place, which
// shows what the source holds. The caller holds editing.
func (e *Editable) giveUp(p *place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replaced(p, p.node.source.now())
	i := e.fileItem(e.newID(), *p.node)
	e.state(p.dir).hidden[p.Name] = true
	e.put(i, p.dir, p.Name)
}
