package datacenter

import "context"

// MostPrivate is a good number of blocks for a [Private] that is the only one. Most work
// touches few places at a time.
const MostPrivate = 64

// Private is a [File] for one goroutine at a time. It remembers the blocks that it used
// last, so it need not ask the shared cache, with its lock, each time. Nodes and attributes
// that it returns belong to it.
type Private struct {
	*File
	last privateCache
}

// Private returns a Private that remembers the given number of blocks, of a MiB each. They
// stay in memory even if the cache has dropped them.
func (f *File) Private(remembered int) *Private {
	p := &Private{last: privateCache{shared: f.blocks, slots: make([]privateBlock, remembered)}}
	p.File = &File{container: f.container, index: f.index, blocks: &p.last, load: f.load}
	return p
}

// Forget drops the remembered blocks. Call it before you keep a Private for later:
// otherwise the blocks stay in memory.
func (p *Private) Forget() { clear(p.last.slots) }

// privateCache is a BlockCache in front of another one, without a lock.
type privateCache struct {
	shared BlockCache
	slots  []privateBlock
}

type privateBlock struct {
	n    uint64
	data []byte // nil if there is none
}

func (r *privateCache) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	s := &r.slots[n%uint64(len(r.slots))]
	if s.n == n && s.data != nil {
		return s.data, nil
	}
	b, err := r.shared.Block(ctx, n, load)
	if err == nil {
		s.n, s.data = n, b
	}
	return b, err
}
