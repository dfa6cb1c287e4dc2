package datacenter

import (
	"context"
	"sync"
)

// loadingAhead is a BlockCache in front of another one, for one goroutine that reads a file from start
// to end. It loads the next blocks in the background.
type loadingAhead struct {
	BlockCache
	// asked says which blocks have been requested.
	asked   []bool
	loading *sync.WaitGroup
}

// Block implements [BlockCache].
func (c *loadingAhead) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	data, err := c.BlockCache.Block(ctx, n, load)
	if err != nil {
		return nil, err
	}
	if n < uint64(len(c.asked)) {
		c.asked[n] = true
	}
	c.loadAhead(ctx, n+1, load)
	return data, nil
}

// blocksAhead is how many blocks are loaded ahead. Several goroutines that read neighbouring segments are
// near each other in the file: with one block ahead, all would wait for the same.
const blocksAhead = 3

// loadAhead loads the blocks from n on in the background, one after the other.
func (c *loadingAhead) loadAhead(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) {
	end := min(n+blocksAhead, uint64(len(c.asked)))
	for n < end && c.asked[n] {
		n++
	}
	if n >= end {
		return
	}
	for i := n; i < end; i++ {
		c.asked[i] = true
	}
	c.loading.Go(func() {
		for ; n < end; n++ {
			// If this fails, reading the block fails as well and reports the error.
			_, _ = c.BlockCache.Block(ctx, n, load)
		}
	})
}

// ReadAhead returns f for one goroutine that reads it from start to end. It adds the blocks
// that load in the background to loading: wait for it before you close f's source.
func (f *File) ReadAhead(loading *sync.WaitGroup) *File {
	const remembered = 8
	return f.remembering(remembered, &loadingAhead{BlockCache: f.blocks, asked: make([]bool, len(f.points)), loading: loading})
}
