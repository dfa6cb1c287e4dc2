package dctree

import (
	"context"

	"lorefs/datacenter"
)

// Save has store save the draft. Nothing can be changed meanwhile. An attribute whose file
// was renamed to a scratch file is removed.
func (e *Editable) Save(ctx context.Context, store func(*datacenter.Snapshot) error) error {
	if err := e.RemoveHidden(ctx); err != nil {
		return err
	}
	return e.Alone(func() error {
		s := e.edits.draft.Freeze()
		defer s.Close()
		return store(s)
	})
}
