package datacenter

import "math/bits"

// MostPrivate is a good number of blocks for a [Private] that is the only one. Most work
// touches few places at a time.
const MostPrivate = 64

// Private is a [File] for one goroutine at a time. It remembers the blocks that it used
// last, so it need not ask the shared cache, with its lock, each time. Nodes and attributes
// that it returns belong to it.
type Private struct{ *File }

// Private returns a Private that remembers the given number of blocks, of a MiB each, or less: a power of
// two. They stay in memory even if the cache has dropped them.
func (f *File) Private(remembered int) *Private {
	return &Private{f.remembering(remembered, f.blocks)}
}

// remembering returns f for one goroutine at a time, which remembers so many blocks, and takes others from
// blocks.
func (f *File) remembering(remembered int, blocks BlockCache) *File {
	last := make(lastBlocks, 1<<bits.Len(uint(remembered))>>1)
	return &File{container: f.container, index: f.index, blocks: blocks, last: last, load: f.load}
}

// AllBlocks returns a number of blocks for [File.Private] that is enough for all, if the cache has room
// for all. So to remember them takes no more memory, as long as nobody else uses the cache. Otherwise
// it returns some.
func (f *File) AllBlocks(some int) int {
	count := len(f.points)
	cache, ok := f.blocks.(interface{ Budget() int64 })
	if !ok || cache.Budget() < f.stated+int64(count)*windowSize {
		return some
	}
	return 2 * count
}

// Forget drops the remembered blocks. Call it before you keep a Private for later:
// otherwise the blocks stay in memory.
func (p *Private) Forget() { clear(p.last) }

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
