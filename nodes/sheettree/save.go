package sheettree

import (
	"context"

	"lorefs/datacenter"
)

// Save saves the draft by the Editor. Nothing can be changed here meanwhile. A sheet
// whose file was renamed to a scratch file is removed, unless a text was refused that was
// to be it.
func (e *Editable) Save(ctx context.Context, store func(*datacenter.Snapshot) error) error {
	if err := e.RemoveHidden(ctx); err != nil {
		return err
	}
	return e.Alone(func() error { return e.edits.opts.Editor.Save(ctx, store) })
}
