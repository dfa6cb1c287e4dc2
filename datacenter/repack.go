package datacenter

import (
	"context"
	"io"
)

// Repack writes what f holds as a new file: the same tree, with the header, the
// order of the names and the key definitions kept. Siblings keep their order
// where it is the one that the format demands. What the tree does not use
// (placeholders, slack, values nobody refers to) is left out, a root of another
// name is called __root__, and equal runs are stored once. opts.Header is
// ignored; the default of opts.Layout is f's.
//
// The work and the memory grow with the stored nodes, not with the logical
// ones. The same file gives the same bytes each time.
func (f *File) Repack(ctx context.Context, w io.Writer, opts WriteOptions) error {
	opts.Header = f.header
	if opts.Layout == LayoutAuto {
		opts.Layout = f.layout
	}
	if opts.Key == nil {
		opts.Key = &f.key
	}
	b, err := NewBuilder(f.names, opts)
	if err != nil {
		return err
	}
	r := newRepacker(ctx, f, b)
	root, err := f.Root()
	if err != nil {
		return err
	}
	top := b.top()
	top.raw.flags, top.raw.key = root.raw.flags, r.keyOf(root)
	if top.attrs, err = r.attributes(root, nil); err != nil {
		return err
	}
	if top.children, err = r.children(root, nil, 0); err != nil {
		return err
	}
	return b.Write(ctx, w)
}

// repacker moves stored runs from a file to a Builder, each once.
type repacker struct {
	ctx context.Context
	f   *File
	b   *Builder

	names []uint16 // new name indexes by old ones
	keys  []uint16 // new key indexes by old ones
	// What has been moved, by its place in the file.
	strings   map[Address]rawAttribute // the attribute that refers to the new place
	attrRuns  movedRuns
	childRuns movedRuns

	attrs  []rawAttribute // scratch
	levels [][]rawNode    // scratch, one for each depth
}

// runKey is a run of a file, movedRun one of what is being built: it has fewer
// elements if there were placeholders.
type (
	runKey struct {
		addr  Address
		count uint16
	}
	movedRun struct {
		addr  Address
		count uint16
	}
)

// movedRuns remembers where runs went. Nearly always one run begins at one
// place, so the first to come is kept by that place, without a map.
type movedRuns struct {
	base   []int64 // of each segment, the number of its first element
	counts []uint16
	moved  []movedRun
	others map[runKey]movedRun
}

func newMovedRuns(segs []segment) movedRuns {
	base := segmentBases(segs)
	n := base[len(segs)]
	return movedRuns{base: base, counts: make([]uint16, n), moved: make([]movedRun, n), others: map[runKey]movedRun{}}
}

// get finds a run, which has one element or more.
func (m *movedRuns) get(k runKey) (movedRun, bool) {
	i := m.base[k.addr.Segment] + int64(k.addr.Element)
	if m.counts[i] == k.count {
		return m.moved[i], true
	}
	r, ok := m.others[k]
	return r, ok
}

func (m *movedRuns) put(k runKey, r movedRun) {
	i := m.base[k.addr.Segment] + int64(k.addr.Element)
	if m.counts[i] == 0 {
		m.counts[i], m.moved[i] = k.count, r
		return
	}
	m.others[k] = r
}

func newRepacker(ctx context.Context, f *File, b *Builder) *repacker {
	r := &repacker{
		ctx: ctx, f: f, b: b,
		names:    make([]uint16, len(f.names)+1),
		strings:  map[Address]rawAttribute{},
		attrRuns: newMovedRuns(f.regions.attributes), childRuns: newMovedRuns(f.regions.nodes),
	}
	for i, name := range f.names {
		r.names[i+1] = b.name(name)
	}
	for _, k := range f.keys {
		for i, n := range k {
			if int(n) < len(r.names) {
				k[i] = r.names[n]
			}
		}
		r.keys = append(r.keys, b.keyOf(k))
	}
	return r
}

// keyOf is the new key index of a node; one that does not exist becomes empty.
func (r *repacker) keyOf(n Node) uint16 {
	if int(n.raw.key) < len(r.keys) {
		return r.keys[n.raw.key]
	}
	return 0
}

// node moves a node's runs, and gives the node as it is stored then.
func (r *repacker) node(n Node, depth int) (rawNode, error) {
	raw := rawNode{name: r.names[n.raw.name], flags: n.raw.flags, attrAddr: absent, childAddr: absent}
	raw.key = r.keyOf(n)
	var err error
	if raw.attrCount = n.raw.attrCount; raw.attrCount > 0 {
		if raw.attrAddr, err = r.attrRun(n); err != nil {
			return raw, err
		}
	}
	if n.raw.childCount > 0 {
		var moved movedRun
		moved, err = r.childRun(n, depth)
		raw.childAddr, raw.childCount = moved.addr, moved.count
	}
	return raw, err
}

func (r *repacker) attrRun(n Node) (Address, error) {
	k := runKey{n.raw.attrAddr, n.raw.attrCount}
	if moved, ok := r.attrRuns.get(k); ok {
		return moved.addr, nil
	}
	var err error
	if r.attrs, err = r.attributes(n, r.attrs[:0]); err != nil {
		return absent, err
	}
	addr, err := r.b.addAttributes(r.attrs)
	if err == nil {
		r.attrRuns.put(k, movedRun{addr, k.count})
	}
	return addr, err
}

// attributes appends the attributes of n as they are stored then.
func (r *repacker) attributes(n Node, dst []rawAttribute) ([]rawAttribute, error) {
	for a, err := range n.Attributes() {
		if err != nil {
			return dst, err
		}
		raw := a.raw()
		if a.typ == String {
			if raw, err = r.string(a); err != nil {
				return dst, err
			}
		}
		raw.name = r.names[a.name]
		dst = append(dst, raw)
	}
	return dst, nil
}

// string moves a string, and gives an attribute that refers to it.
func (r *repacker) string(a Attribute) (rawAttribute, error) {
	if raw, ok := r.strings[a.Value()]; ok {
		return raw, nil
	}
	units, err := r.f.stringUnits(r.f.regions.values.data, a.Value())
	if err != nil {
		return rawAttribute{}, a.bad("%w", err)
	}
	addr, err := r.b.values.add(units)
	if err != nil {
		return rawAttribute{}, a.bad("%w", err)
	}
	r.b.values.units = appendUnits(r.b.values.units[:0], units)
	raw := stringAttribute(addr, HashValue(r.b.values.units))
	r.strings[a.Value()] = raw
	return raw, nil
}

func (r *repacker) childRun(n Node, depth int) (movedRun, error) {
	k := runKey{n.raw.childAddr, n.raw.childCount}
	if moved, ok := r.childRuns.get(k); ok {
		return moved, nil
	}
	if err := r.ctx.Err(); err != nil {
		return movedRun{}, err
	}
	if depth == len(r.levels) {
		r.levels = append(r.levels, nil)
	}
	run, err := r.children(n, r.levels[depth][:0], depth+1)
	if err != nil {
		return movedRun{}, err
	}
	r.levels[depth] = run
	addr, err := r.b.addChildren(run)
	if err != nil {
		return movedRun{}, err
	}
	moved := movedRun{addr, uint16(len(run))}
	r.childRuns.put(k, moved)
	return moved, nil
}

// children appends the children of n as they are stored then.
func (r *repacker) children(n Node, dst []rawNode, depth int) ([]rawNode, error) {
	for c, err := range n.Children() {
		if err != nil {
			return dst, err
		}
		raw, err := r.node(c, depth)
		if err != nil {
			return dst, err
		}
		dst = append(dst, raw)
	}
	return dst, nil
}
