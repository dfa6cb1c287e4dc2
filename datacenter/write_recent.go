package datacenter

import "sync"

// recentBlocks is a BlockCache in front of another, for one goroutine that goes
// through a file. It gives the blocks that were read last without locking, and
// has the next one loaded meanwhile.
type recentBlocks struct {
	BlockCache
	recent [8]struct {
		number uint64
		data   []byte
	}
	// asked tells of which blocks the next has been asked for.
	asked   []bool
	loading *sync.WaitGroup
}

// Block is of [BlockCache].
func (c *recentBlocks) Block(n uint64, load func(n uint64) ([]byte, error)) ([]byte, error) {
	r := &c.recent[n%uint64(len(c.recent))]
	if r.data != nil && r.number == n {
		return r.data, nil
	}
	data, err := c.BlockCache.Block(n, load)
	if err != nil {
		return nil, err
	}
	r.number, r.data = n, data
	if next := n + 1; next < uint64(len(c.asked)) && !c.asked[n] {
		c.asked[n] = true
		c.loading.Go(func() {
			// If this fails, so will the reading of the block, which reports it.
			_, _ = c.BlockCache.Block(next, load)
		})
	}
	return data, nil
}

// ReadAhead gives f for one goroutine that goes through it. What is loaded ahead is waited
// for by loading: f's source must not be closed before.
func (f *File) ReadAhead(loading *sync.WaitGroup) *File {
	return &File{container: f.container, index: f.index, load: f.load, blocks: &recentBlocks{
		BlockCache: f.blocks, asked: make([]bool, len(f.points)), loading: loading,
	}}
}
