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
		if err := e.removeAttribute(ctx, k); err != nil {
			return err
		}
	}
	return e.draft.Save(opts, store)
}
