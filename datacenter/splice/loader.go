package splice

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/internal/cores"
	"lorefs/internal/wtf8"
)

// Loader loads blocks of a file that will be read next, on all cores and in the background. Whoever
// goes through nodes in many places of the file would otherwise inflate one block after another.
type Loader struct {
	f      *form.File
	blocks map[uint64]bool
	texts  map[string]bool
	work   sync.WaitGroup
}

// NewLoader returns a Loader of f.
func NewLoader(f *datacenter.File) *Loader {
	return &Loader{f: f.Form(), blocks: map[uint64]bool{}, texts: map[string]bool{}}
}

// Attributes adds the blocks of a node's attributes.
func (l *Loader) Attributes(n datacenter.Node) { l.StoredAttributes(*n.Form()) }

// StoredAttributes is Attributes for a stored node. It adds nothing for a run that the file lacks.
func (l *Loader) StoredAttributes(n form.Node) {
	l.run(l.f.Regions.Attributes, n.AttrAddr, n.AttrCount, l.f.Layout.AttributeSize())
}

// Children adds the blocks of a node's children, without what is below them.
func (l *Loader) Children(n datacenter.Node) {
	l.run(l.f.Regions.Nodes, n.Form().ChildAddr, n.Form().ChildCount, l.f.Layout.NodeSize())
}

// Value adds what is read to find out whether the file has a value: of a string, its bucket and the
// text that is there.
func (l *Loader) Value(v datacenter.Value) {
	if v.Type() == form.String {
		l.texts[v.Text()] = true
	}
}

func (l *Loader) run(segs []form.Segment, addr form.Address, count uint16, size int64) {
	off, err := form.Run(segs, addr, int(count), size)
	if count == 0 || err != nil { // whoever reads it will report the error
		return
	}
	last, _ := l.f.BlockAt(off + int64(count)*size - 1)
	for n, _ := l.f.BlockAt(off); n <= last; n++ {
		l.blocks[n] = true
	}
}

// Len returns how many blocks and strings were added since the last Load.
func (l *Loader) Len() int { return len(l.blocks) + len(l.texts) }

// Load begins to load what was added. What can't be read is left to whoever reads it.
func (l *Loader) Load(ctx context.Context) {
	list, texts := slices.Sorted(maps.Keys(l.blocks)), l.byBucket()
	clear(l.blocks)
	clear(l.texts)
	var next atomic.Int64
	for range min(cores.Count(), len(list)+len(texts)) {
		l.work.Go(func() {
			_ = cores.Take(ctx, &next, len(list)+len(texts), func(i int) error {
				if i < len(list) {
					_, _ = l.f.Block(list[i])
				} else {
					l.find(texts[i-len(list)])
				}
				return nil
			})
		})
	}
}

// wantedText is a string to look for.
type wantedText struct {
	hash  uint32
	units []byte
}

// byBucket returns the strings that were added, those of a bucket together. It is read once for all
// of them: a file may have all its strings in one.
func (l *Loader) byBucket() [][]wantedText {
	v := newSplicedValues(l.f)
	buckets := map[uint32][]wantedText{}
	for text := range l.texts {
		units := wtf8.AppendUTF16(nil, text)
		if hash, _, err := form.HashUnits(units); err == nil {
			b := v.bucket(hash)
			buckets[b] = append(buckets[b], wantedText{hash, units})
		}
	}
	return slices.Collect(maps.Values(buckets))
}

// find looks for strings of one bucket.
func (l *Loader) find(texts []wantedText) {
	v := newSplicedValues(l.f)
	for _, t := range texts {
		_, _, _ = v.find(t.hash, t.units)
	}
}

// Wait waits until nothing is loaded any more.
func (l *Loader) Wait() { l.work.Wait() }
