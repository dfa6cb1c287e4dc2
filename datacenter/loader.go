package datacenter

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/internal/cores"
)

// Loader loads blocks of a file that will be read next, on all cores. Whoever goes through nodes in
// many places of the file would otherwise inflate one block after another.
type Loader struct {
	f      *File
	blocks map[uint64]bool
}

// NewLoader returns a Loader of f.
func NewLoader(f *File) *Loader { return &Loader{f: f, blocks: map[uint64]bool{}} }

// Attributes adds the blocks of a node's attributes.
func (l *Loader) Attributes(n Node) {
	l.run(l.f.regions.attributes, n.raw.attrAddr, n.raw.attrCount, l.f.layout.AttributeSize())
}

// Children adds the blocks of a node's children, without what is below them.
func (l *Loader) Children(n Node) {
	l.run(l.f.regions.nodes, n.raw.childAddr, n.raw.childCount, l.f.layout.NodeSize())
}

func (l *Loader) run(segs []segment, addr Address, count uint16, size int64) {
	off, err := run(segs, addr, int(count), size)
	if count == 0 || err != nil { // whoever reads it will report the error
		return
	}
	last, _ := l.f.blockAt(off + int64(count)*size - 1)
	for n, _ := l.f.blockAt(off); n <= last; n++ {
		l.blocks[n] = true
	}
}

// Len returns how many blocks were added since the last Load.
func (l *Loader) Len() int { return len(l.blocks) }

// Load loads the blocks that were added. What can't be read is left to whoever reads it.
func (l *Loader) Load(ctx context.Context) {
	list := slices.Sorted(maps.Keys(l.blocks))
	clear(l.blocks)
	var group errgroup.Group
	var next atomic.Int64
	for range min(cores.Count(), len(list)) {
		group.Go(func() error {
			return share(ctx, &next, len(list), func(i int) error {
				_, err := l.f.block(list[i])
				return err
			})
		})
	}
	_ = group.Wait()
}
