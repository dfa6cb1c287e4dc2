package sheettree

import (
	"context"
	"maps"
	"slices"

	"lorefs/datacenter"
	"lorefs/nodes/editing"
)

// RemoveHidden removes the sheets whose files were renamed to scratch files, unless a text was
// refused that was to be one, and has the Editor remove its own. It is called ahead of the last
// save: until then, somebody may be about to write them anew.
func (e *Editable) RemoveHidden(ctx context.Context) error {
	e.editing.Lock()
	defer e.editing.Unlock()
	for _, n := range slices.Sorted(maps.Keys(e.hidden)) {
		if e.wasRefused(n) {
			continue
		}
		// One that can't be logged stays as it was, as after a crash: it must not keep
		// all else from being saved.
		if err := e.removeHidden(ctx, n); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return e.opts.Editor.RemoveHidden(ctx)
}

// wasRefused tells of a hidden sheet that its file's text could not become it again.
func (e *Editable) wasRefused(n datacenter.Number) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	c := e.hidden[n]
	return c != nil && c.Problem() != nil
}

// removeHidden removes a sheet whose file is another one by now, unless there is a draft
// of it. The caller holds editing.
func (e *Editable) removeHidden(ctx context.Context, n datacenter.Number) error {
	if e.restore(n) {
		return nil
	}
	err := e.change(ctx, func() ([]datacenter.Edit, error) {
		return []datacenter.Edit{{Op: datacenter.RemoveNode, Node: n}}, nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.hidden[n]; c != nil {
		c.hides = 0
		delete(e.hidden, n)
	}
	return nil
}

// restore gives a hidden sheet back to a refused text that lies in its place, as its
// draft. It is false if there is none. The caller holds editing.
func (e *Editable) restore(n datacenter.Number) bool {
	place := e.placeOf(n)
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.folders[place.folder]
	if f == nil || f.scratch[place.name] == nil || f.scratch[place.name].Problem() == nil {
		return false
	}
	draft := f.scratch[place.name]
	if c := e.hidden[n]; c != nil {
		c.hides = 0
		delete(e.hidden, n)
	}
	e.take(draft)
	e.show(n, draft.id)
	draft.sheet = n
	return true
}

// Loose gives the files that are no sheets or schemas, apart from texts that were refused.
func (e *Editable) Loose() (loose editing.Loose) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, c := range e.files {
		schema := c.name != "" && classOf(c.folder.name, c.name) == schemaFile
		if c.name != "" && c.Problem() == nil && !schema && c.sheet == 0 {
			loose.Add(c.path())
		}
	}
	loose.Sort()
	return loose
}

// path is where a file is. The caller holds mu.
func (c *content) path() string {
	if c.folder.name == "" {
		return c.name
	}
	return c.folder.name + "/" + c.name
}
