package dctree

import (
	"context"

	"lorefs/datacenter"
)

// Save saves the draft by store, see [datacenter.Draft.Save]. Nothing can be
// changed meanwhile.
func (e *Editable) Save(ctx context.Context, opts datacenter.WriteOptions, store func(*datacenter.Saving) error) error {
	e.editing.Lock()
	defer e.editing.Unlock()
	for _, k := range e.allHidden() {
		// One that can't be logged stays as it was, as after a crash: it must not keep
		// all else from being saved.
		if err := e.removeAttribute(ctx, k); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return e.draft.Save(opts, store)
}
