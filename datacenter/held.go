package datacenter

import (
	"context"
	"sync"
	"sync/atomic"
)

// maxHeld is how many bytes of blocks a heldBlocks holds. Saving a thousand values takes about half
// of the blocks of a real file, 130 MB.
const maxHeld = 192 << 20

// heldBlocks holds blocks for work that goes over a file several times. A cache that is smaller than
// what the work needs, and drops what was used longest ago, would drop each block before its next
// use. So heldBlocks holds the blocks that come first, and never drops one.
type heldBlocks struct {
	mu     sync.RWMutex // guards what follows; never held while a block is loaded
	blocks [][]byte     // nil where a block is not held
	room   int64
}

func newHeldBlocks(count int) *heldBlocks {
	return &heldBlocks{blocks: make([][]byte, count), room: maxHeld}
}

// get returns a block, or nil.
func (h *heldBlocks) get(n uint64) []byte {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if n >= uint64(len(h.blocks)) {
		return nil
	}
	return h.blocks[n]
}

// add holds a block if there is room.
func (h *heldBlocks) add(n uint64, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n < uint64(len(h.blocks)) && h.blocks[n] == nil && int64(cap(b)) <= h.room {
		h.blocks[n] = b
		h.room -= int64(cap(b))
	}
}

// holding is a BlockCache that takes from another one what is not held, and holds it.
type holding struct {
	held   *heldBlocks
	behind BlockCache
}

// Block implements [BlockCache].
func (c holding) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if b := c.held.get(n); b != nil {
		return b, nil
	}
	b, err := c.behind.Block(ctx, n, load)
	if err == nil {
		c.held.add(n, b)
	}
	return b, err
}

// uncached is a BlockCache that keeps nothing.
type uncached struct{}

// Block implements [BlockCache].
func (uncached) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	return load(ctx, n)
}

// Holding returns f for work that goes over the file several times, at once. Some of the blocks
// that the work uses stay in memory as long as what is returned. Nodes and attributes that it returns
// belong to it.
func (f *File) Holding() *File { return f.holding(newHeldBlocks(len(f.points))) }

func (f *File) holding(h *heldBlocks) *File {
	return &File{container: f.container, index: f.index, load: f.load, blocks: holding{h, f.blocks}}
}

// In returns n as a node of f, which is the node's file or another form of it.
func (n Node) In(f *File) Node {
	n.file = f
	return n
}

// passedBlocks is a BlockCache that holds blocks of the first pass until they are first read, and
// leaves them to another one then.
type passedBlocks struct {
	BlockCache
	blocks []atomic.Pointer[[]byte] // nil where a block is not held
}

func newPassedBlocks(behind BlockCache, count int64) *passedBlocks {
	return &passedBlocks{BlockCache: behind, blocks: make([]atomic.Pointer[[]byte], count)}
}

func (p *passedBlocks) add(n uint64, b []byte) { p.blocks[n].Store(&b) }

// Block implements [BlockCache].
func (p *passedBlocks) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if n < uint64(len(p.blocks)) && p.blocks[n].Load() != nil {
		if b := p.blocks[n].Swap(nil); b != nil {
			load = func(context.Context, uint64) ([]byte, error) { return *b, nil }
		}
	}
	return p.BlockCache.Block(ctx, n, load)
}
