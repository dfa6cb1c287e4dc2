package datacenter

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"lorefs/datacenter/internal/splice"
	"lorefs/internal/inflate"
)

// finish returns the edits that make the new file, in the order of their places.
func (s *Splicer) finish() ([]splice.Edit, error) {
	if s.err != nil {
		return nil, s.err
	}
	if err := s.dropLost(); err != nil {
		return nil, err
	}
	if len(s.open) != 1 {
		return nil, fmt.Errorf("datacenter: BUG: %d nodes are not ended", len(s.open)-1)
	}
	for _, r := range []*spliceRuns{&s.attributes, &s.nodes} {
		if r.shared.unused > used(r.counts)/maxUnused {
			return nil, whole("%d of %d elements are unused", r.shared.unused, used(r.counts))
		}
	}
	if s.steps > maxSteps {
		return nil, whole("more than %d children are announced in all", maxSteps)
	}
	if was, end := s.f.placeRegions(nil); end != s.f.stated || was.footer != s.f.regions.footer {
		return nil, fmt.Errorf("datacenter: BUG: the regions end at %#x, not at %#x", end, s.f.stated)
	}
	if _, size := s.f.placeRegions(s); size > maxSize {
		return nil, whole("%d bytes", size)
	}
	return s.allEdits(), nil
}

// allEdits returns all edits.
func (s *Splicer) allEdits() []splice.Edit {
	r, l := &s.f.regions, &s.edits
	if !s.header.Same(s.f.header) {
		l.replace(0, s.f.layout.HeaderSize(), s.header.append(nil, s.f.layout))
	}
	keysEnd := r.keys.off + int64(r.keys.count)*keySize
	_, attributesEnd := placeSegments(r.attributes, keysEnd, s.attributes.size)
	_, nodesEnd := placeSegments(r.nodes, attributesEnd, s.nodes.size)
	s.attributes.edits(l, keysEnd)
	s.nodes.edits(l, attributesEnd)
	s.values.edits(l, nodesEnd)
	return l.sorted()
}

// placeRegions returns the places of the regions of f after a splice or, without one, as they are. It
// also returns the size of the inflated data.
func (f *File) placeRegions(s *Splicer) (regions, int64) {
	r := f.regions
	r.keys.off = f.layout.HeaderSize() + 4
	off := r.keys.off + int64(r.keys.count)*keySize
	if s != nil {
		r.attributes, r.nodes = s.attributes.counts, s.nodes.counts
	}
	r.attributes, off = placeSegments(r.attributes, off, f.layout.AttributeSize())
	r.nodes, off = placeSegments(r.nodes, off, f.layout.NodeSize())
	if s != nil {
		r.values, off = s.values.grown(off)
	} else {
		r.values, off = placeTable(r.values, off)
	}
	r.names, off = placeTable(r.names, off)
	r.footer = off
	r.end = off + footerSize
	return r, r.end
}

// Spliced is a file that a Splicer wrote.
type Spliced struct {
	stream *spliced
	key    Key
	// index is that of the file, but for what is read from it when it is opened. It is made from the
	// index of the former file, so no pass is needed.
	index  index
	sheets []string
}

// spliced returns the description of the file that was written as stream.
func (s *Splicer) spliced(stream *spliced) *Spliced {
	p := &Spliced{stream: stream, key: s.f.key, index: s.successor()}
	p.index.checkpoints, p.index.streamEnd = stream.checkpoints, stream.streamEnd
	for name := range s.sheets {
		p.sheets = append(p.sheets, s.f.spell(name))
	}
	slices.Sort(p.sheets)
	return p
}

// successor returns the index of the new file, but for what belongs to the stream.
func (s *Splicer) successor() index {
	x := index{layout: s.f.layout, header: s.header, tally: s.f.tally}
	x.regions, _ = s.f.placeRegions(s)
	x.entries, x.logical, x.steps, x.maxName = s.entries, s.logical, s.steps, s.maxName
	x.sharedAttributes, x.sharedNodes = s.attributes.shared, s.nodes.shared
	return x
}

// Sheets returns the names of the sheets that differ from those of the former file: of each name, at
// least one.
func (p *Spliced) Sheets() []string { return p.sheets }

// CheckBytes reads back the file. sum is the SHA-256 of what was written. Only if CheckData succeeds as
// well the file is right. They may run at the same time.
func (p *Spliced) CheckBytes(ctx context.Context, r io.ReaderAt, sum [32]byte) error {
	return p.stream.checkBytes(ctx, r, sum)
}

// CheckData reads back what was encoded anew, and compares it with what was wanted.
func (p *Spliced) CheckData(ctx context.Context, r io.ReaderAt) error {
	return p.stream.checkData(ctx, r)
}

// Open opens the file, of size bytes, like [Open], but it needs no pass. The index is kept in
// opts.Index.
func (p *Spliced) Open(r io.ReaderAt, size int64, opts Options) (*File, error) {
	setDefaults(&opts)
	c, err := openContainer(r, size, []Key{p.key})
	if err != nil {
		return nil, err
	}
	f := newFile(c, opts.Blocks)
	if f.identity, err = identify(r, size, opts); err != nil {
		return nil, err
	}
	f.index = p.index
	f.locate(f.stated)
	if f.streamEnd != size {
		return nil, badFile(f.streamEnd, "%d bytes: want %d", size, f.streamEnd)
	}
	if err := f.checkIndex(); err != nil {
		return nil, err
	}
	f.remember(opts)
	return f, nil
}

// Wanted returns f, which Open returned, with the data that it should have: that of the former file,
// with the edits. So nothing is read from f. CheckBytes and CheckData find out whether f has that data.
func (p *Spliced) Wanted(f *File) *File {
	size := p.stream.stated
	g := &File{container: f.container, index: f.index}
	g.checkpoints = checkpoints{bare: true}
	const piece = 16 << 10 // only a few nodes of each block are looked at
	for off := int64(0); off < size; off += piece {
		g.points = append(g.points, inflate.Point{Out: off})
	}
	g.locate(size)
	g.load = func(_ context.Context, n uint64) ([]byte, error) {
		if n >= uint64(len(g.points)) {
			return nil, badf(size, "beyond the data's %d bytes", size)
		}
		return p.stream.wanted(g.points[n].Out, min(g.points[n].Out+piece, size))
	}
	g.blocks = newHeldBlocks(uncached{}, len(g.points), maxHeld)
	return g
}

// wanted returns data as it is wanted. Most of it is old data: that is not copied.
func (s *spliced) wanted(from, to int64) ([]byte, error) {
	if old, ok := s.plan.Former(from, to); ok {
		n, i := s.base.blockAt(old)
		b, err := s.base.block(n)
		if err != nil {
			return nil, err
		}
		if end := i + int(to-from); end <= len(b) {
			return b[i:end:end], nil
		}
	}
	return s.plan.Data(nil, from, to)
}

// IsStoredAs reports whether the node has the stored form x.
func (n Node) IsStoredAs(x StoredNode) bool { return n.raw.meaning() == x.meaning() }

// meaning returns the node without an address of nothing.
func (n StoredNode) meaning() StoredNode {
	if n.attrCount == 0 {
		n.attrAddr = absent
	}
	if n.childCount == 0 {
		n.childAddr = absent
	}
	return n
}

// SameStoredAttributes reports whether the attributes of two nodes, of one file or of a file and what
// became of it, are the same run.
func (n Node) SameStoredAttributes(m Node) bool {
	return n.raw.attrCount == m.raw.attrCount && (n.raw.attrCount == 0 || n.raw.attrAddr == m.raw.attrAddr)
}

// IsStoredAs reports whether the attribute has the stored form x, but for the hash of a string.
func (a Attribute) IsStoredAs(x StoredAttribute) bool {
	if x.typeCode != uint8(Int) {
		x.extended = 0
	}
	return a.raw() == x
}

// ChildPlace is where a child is stored.
type ChildPlace struct {
	Address Address
	Entries uint32 // the child's, see [Node.Entries]
}

// ChildPlaces yields the places of the children, without placeholders. It reads the children only if
// the file has placeholders.
func (n Node) ChildPlaces() iter.Seq2[ChildPlace, error] {
	return func(yield func(ChildPlace, error) bool) {
		if !n.file.placeholders {
			for i := range n.raw.childCount {
				addr := Address{n.raw.childAddr.Segment, n.raw.childAddr.Element + i}
				if !yield(ChildPlace{addr, n.file.Entries(addr)}, nil) {
					return
				}
			}
			return
		}
		for c, err := range n.Children() {
			if err != nil {
				yield(ChildPlace{}, err)
				return
			}
			if !yield(ChildPlace{c.addr, c.Entries()}, nil) {
				return
			}
		}
	}
}
