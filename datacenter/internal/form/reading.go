package form

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"lorefs/internal/inflate"
)

// A file reads its blocks from a cache that it may share with others. What follows stands in front of that cache,
// for work that knows what it will read:
//
//	remembering   the last blocks, for one goroutine, without a lock
//	Holding       the first blocks, as many as there is room for, for work that comes back to them
//	ReadAhead     remembers, and loads the next blocks in the background

// Remembering returns f for one goroutine at a time, which remembers so many blocks, and takes others from
// blocks.
func (f *File) Remembering(remembered int, blocks BlockCache) *File {
	last := make(lastBlocks, 1<<bits.Len(uint(remembered))>>1)
	return &File{Container: f.Container, Index: f.Index, Blocks: blocks, last: last, load: f.load}
}

// AllBlocks returns a number of blocks for remembering that is enough for all, if the cache has room
// for all. So to remember them takes no more memory, as long as nobody else uses the cache. Otherwise
// it returns some.
func (f *File) AllBlocks(some int) int {
	count := len(f.Points)
	cache, ok := f.Blocks.(interface{ Budget() int64 })
	if !ok || cache.Budget() < f.Stated+int64(count)*WindowSize {
		return some
	}
	return 2 * count
}

// Forget drops the remembered blocks.
func (f *File) Forget() { clear(f.last) }

// lastBlocks remembers blocks, each in the place that its number names.
type lastBlocks []usedBlock

type usedBlock struct {
	n    uint64
	data []byte // nil if there is none
}

// get returns a block, or nil.
func (l lastBlocks) get(n uint64) []byte {
	if i := n & uint64(len(l)-1); i < uint64(len(l)) && l[i].n == n {
		return l[i].data
	}
	return nil
}

func (l lastBlocks) keep(n uint64, b []byte) {
	if len(l) > 0 {
		l[n&uint64(len(l)-1)] = usedBlock{n, b}
	}
}

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
	return f.Remembering(remembered, &loadingAhead{BlockCache: f.Blocks, asked: make([]bool, len(f.Points)), loading: loading})
}

// maxHeld is how many bytes of blocks a heldBlocks holds. Saving a thousand values takes about half
// of the blocks of a real file, 130 MB.
const maxHeld = 192 << 20

// heldBlocks is a BlockCache in front of another one. It is for work that goes over a file several times. A
// cache that is smaller than what the work needs, and drops what was used longest ago, would drop each block
// before its next use. So heldBlocks holds the blocks that come first, and never drops one.
type heldBlocks struct {
	behind BlockCache
	blocks []atomic.Pointer[[]byte] // nil where a block is not held
	room   atomic.Int64
	// once is set for blocks of the first pass. They are held until they are first read, and left to
	// the cache behind then.
	once bool
}

func newHeldBlocks(behind BlockCache, count int, room int64) *heldBlocks {
	h := &heldBlocks{behind: behind, blocks: make([]atomic.Pointer[[]byte], count)}
	h.room.Store(room)
	return h
}

// add holds a block if there is room.
func (h *heldBlocks) add(n uint64, b []byte) {
	if n >= uint64(len(h.blocks)) {
		return
	}
	size := int64(cap(b))
	if h.room.Add(-size) < 0 || !h.blocks[n].CompareAndSwap(nil, &b) {
		h.room.Add(size)
	}
}

// Block implements [BlockCache].
func (h *heldBlocks) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if n < uint64(len(h.blocks)) {
		held := h.blocks[n].Load()
		switch {
		case held != nil && !h.once:
			return *held, nil
		case held != nil && h.blocks[n].CompareAndSwap(held, nil):
			load = func(context.Context, uint64) ([]byte, error) { return *held, nil }
		}
	}
	b, err := h.behind.Block(ctx, n, load)
	if err == nil && !h.once {
		h.add(n, b)
	}
	return b, err
}

// Uncached is a BlockCache that keeps nothing.
type Uncached struct{}

// Block implements [BlockCache].
func (Uncached) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	return load(ctx, n)
}

// Holding returns f for work that goes over the file several times, at once. Some of the blocks
// that the work uses stay in memory as long as what is returned. Nodes and attributes that it returns
// belong to it.
func (f *File) Holding() *File {
	held := newHeldBlocks(f.Blocks, len(f.Points), maxHeld)
	return &File{Container: f.Container, Index: f.Index, load: f.load, Blocks: held}
}

// WithData returns f with other data of size bytes than what lies in the file. read returns a part of that, and is
// called for pieces of one size, which are held.
func (f *File) WithData(size, piece int64, read func(from, to int64) ([]byte, error)) *File {
	g := &File{Container: f.Container, Index: f.Index}
	g.Checkpoints = Checkpoints{bare: true}
	for off := int64(0); off < size; off += piece {
		g.Points = append(g.Points, inflate.Point{Out: off})
	}
	g.Locate(size)
	g.load = func(_ context.Context, n uint64) ([]byte, error) {
		if n >= uint64(len(g.Points)) {
			return nil, Badf(size, "beyond the data's %d bytes", size)
		}
		return read(g.Points[n].Out, min(g.Points[n].Out+piece, size))
	}
	g.Blocks = newHeldBlocks(Uncached{}, len(g.Points), maxHeld)
	return g
}
