package datacenter

// MostPrivate is how many blocks a [Private] that is alone may well remember: most work
// goes to few places at a time.
const MostPrivate = 64

// Private is a [File] for one goroutine at a time. It remembers which blocks it
// used last, so that it need not ask the cache, which all wait for, each time. Nodes
// and attributes that come from it belong to it.
type Private struct {
	*File
	last privateCache
}

// Private makes one that remembers so many blocks, of a MiB each. Those it may keep in
// memory though the cache has dropped them.
func (f *File) Private(remembered int) *Private {
	p := &Private{last: privateCache{shared: f.blocks, slots: make([]privateBlock, remembered)}}
	p.File = &File{container: f.container, index: f.index, blocks: &p.last, load: f.load}
	return p
}

// Forget drops the blocks that are remembered. Whoever keeps a Private for later
// has to call it, or they stay in memory.
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

func (r *privateCache) Block(n uint64, load func(n uint64) ([]byte, error)) ([]byte, error) {
	s := &r.slots[n%uint64(len(r.slots))]
	if s.n == n && s.data != nil {
		return s.data, nil
	}
	b, err := r.shared.Block(n, load)
	if err == nil {
		s.n, s.data = n, b
	}
	return b, err
}
