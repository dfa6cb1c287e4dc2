package datacenter

import (
	"context"
	"sync/atomic"
)

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

// uncached is a BlockCache that keeps nothing.
type uncached struct{}

// Block implements [BlockCache].
func (uncached) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	return load(ctx, n)
}

// Holding returns f for work that goes over the file several times, at once. Some of the blocks
// that the work uses stay in memory as long as what is returned. Nodes and attributes that it returns
// belong to it.
func (f *File) Holding() *File {
	held := newHeldBlocks(f.blocks, len(f.points), maxHeld)
	return &File{container: f.container, index: f.index, load: f.load, blocks: held}
}

// In returns n as a node of f, which is the node's file or another form of it.
func (n Node) In(f *File) Node {
	n.file = f
	return n
}
