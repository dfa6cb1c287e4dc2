package dctree

import (
	"context"

	"lorefs/datacenter"
)

// Save saves the draft by store, see [datacenter.Draft.Save]. Nothing can be
// changed meanwhile. An attribute whose file was renamed to a scratch file is removed.
func (e *Editable) Save(ctx context.Context, opts datacenter.WriteOptions, store func(*datacenter.Saving) error) error {
	if err := e.RemoveHidden(ctx); err != nil {
		return err
	}
	return e.Alone(func() error { return e.edits.draft.Save(opts, store) })
}
