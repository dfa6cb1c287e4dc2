package dctree

import "context"

// RemoveHidden removes the attributes whose files were renamed to scratch files. It is called
// ahead of the last save: until then, somebody may be about to write them anew.
func (e *Editable) RemoveHidden(ctx context.Context) error {
	e.editing.Lock()
	defer e.editing.Unlock()
	for _, k := range e.allHidden() {
		// One that can't be logged stays as it was, as after a crash: it must not keep
		// all else from being saved.
		if err := e.removeAttribute(ctx, k); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}
