package datacenter

import (
	"context"
	"sync"
)

// recentBlocks is a BlockCache in front of another one, for one goroutine that reads a file
// from start to end. It returns the blocks read last without a lock and loads the next
// block in the background.
type recentBlocks struct {
	BlockCache
	recent [8]struct {
		number uint64
		data   []byte
	}
	// asked says for which blocks the next block has been requested.
	asked   []bool
	loading *sync.WaitGroup
}

// Block implements [BlockCache].
func (c *recentBlocks) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	r := &c.recent[n%uint64(len(c.recent))]
	if r.data != nil && r.number == n {
		return r.data, nil
	}
	data, err := c.BlockCache.Block(ctx, n, load)
	if err != nil {
		return nil, err
	}
	r.number, r.data = n, data
	if next := n + 1; next < uint64(len(c.asked)) && !c.asked[n] {
		c.asked[n] = true
		c.loading.Go(func() {
			// If this fails, reading the block fails as well and reports the error.
			_, _ = c.BlockCache.Block(ctx, next, load)
		})
	}
	return data, nil
}

// ReadAhead returns f for one goroutine that reads it from start to end. It adds the blocks
// that load in the background to loading: wait for it before you close f's source.
func (f *File) ReadAhead(loading *sync.WaitGroup) *File {
	return &File{container: f.container, index: f.index, load: f.load, blocks: &recentBlocks{
		BlockCache: f.blocks, asked: make([]bool, len(f.points)), loading: loading,
	}}
}
