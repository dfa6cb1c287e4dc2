package casctree_test

import (
	"context"
	"sync/atomic"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/internal/cache"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// counted counts the blocks that are asked for: a search of the local index takes one, or two
// where its entry is the first of a block.
type counted struct {
	cache.All
	asked atomic.Int64
}

func (c *counted) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	c.asked.Add(1)
	return c.All.Block(ctx, n, load)
}

// TestSearches checks that listing a storage, looking all of its names up and listing it again
// searches the local index for each of them once at most, whether it is local or not.
func TestSearches(t *testing.T) {
	l, err := casctest.NewLarge(3000)
	if err != nil {
		t.Fatal(err)
	}
	var blocks counted
	tree := open(t, casctest.FS(l.Files), casc.Options{Blocks: &blocks},
		casctree.Options{ListFiles: []casctree.ListFile{listFile(l.List)}})
	opened := blocks.asked.Load()
	for range 2 {
		for w, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tree.Lookup(t.Context(), w.Parent, w.Name); err != nil {
				t.Error(err)
			}
			if _, err := tree.Attr(t.Context(), w.ID); err != nil {
				t.Error(err)
			}
		}
	}
	named, unnamed, missing := l.Counts()
	if got, most := blocks.asked.Load()-opened, int64(named+unnamed)*11/10; got > most || missing == 0 {
		t.Errorf("%d searches for %d files, of which %d are not local", got, named+unnamed, missing)
	}
}
