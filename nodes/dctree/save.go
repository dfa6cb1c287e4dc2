package dctree

import (
	"context"

	"lorefs/datacenter"
)

// Save has store save the draft. Nothing can be changed meanwhile.
func (e *Editable) Save(ctx context.Context, store func(*datacenter.Snapshot) error) error {
	e.editing.Lock()
	defer e.editing.Unlock()
	for _, k := range e.allHidden() {
		// One that can't be logged stays as it was, as after a crash: it must not keep
		// all else from being saved.
		if err := e.removeAttribute(ctx, k); err != nil && ctx.Err() != nil {
			return err
		}
	}
	s := e.draft.Freeze()
	defer s.Close()
	return store(s)
}
