package datacenter

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
	return &Private{Of(f.in.Remembering(remembered, f.in.Blocks))}
}

// Forget drops the remembered blocks. Call it before you keep a Private for later:
// otherwise the blocks stay in memory.
func (p *Private) Forget() { p.in.Forget() }
