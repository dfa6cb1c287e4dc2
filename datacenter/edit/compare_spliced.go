package edit

import (
	"context"

	"lorefs/datacenter"
)

// CompareSpliced is [Written.Compare] for g, opened from what Splice wrote after that was checked:
// then g has all bytes of the base that were not changed on purpose. So a node that was not edited
// is equal with its subtree if it is stored with the same runs, and the work grows with the edits.
func (w *Written) CompareSpliced(ctx context.Context, g *datacenter.File) error {
	if err := w.compareCounts(g); err != nil {
		return err
	}
	root, err := g.Root()
	if err != nil {
		return err
	}
	c := newComparer(ctx, w, w.s.base, g)
	c.spliced = true
	return c.draftNode(w.s.root, root)
}
