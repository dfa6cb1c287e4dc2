package datacenter

import (
	"cmp"
	"context"
	"io"
	"slices"

	"lorefs/internal/wtf8"
)

// Written is what a Snapshot was written as.
type Written struct {
	s    *Snapshot
	opts WriteOptions
	// orders are the places of a draft node's children in the written order.
	orders map[*draftNode][]int
	// reordered is set if some siblings of the base were not in the order that
	// the format demands, and are now.
	reordered bool
}

// Write writes the edited tree as a new file: names that exist keep their order, new
// ones come behind them. Siblings keep their order where it is the one that the format
// demands. What the tree does not use (placeholders, slack, values nobody refers to) is
// left out, a root of another name is called __root__, and equal runs are stored once.
// The defaults of Layout, Key and Revision are the file's, as is the rest of the header,
// whatever opts.Header says.
//
// The work and the memory grow with the stored nodes, not with the logical ones. The
// same edits give the same bytes each time.
func (s *Snapshot) Write(ctx context.Context, opts WriteOptions, to io.Writer) (*Written, error) {
	s.setDefaults(&opts)
	used, usedKeys := inUse(s.d.first, s.keys, s.states(s.root))
	names := slices.Clone(s.base.names)
	for i, name := range s.names {
		if used[i+1] { // if the base has it as well, it counts once
			names = append(names, name)
		}
	}
	b, err := NewBuilder(names, opts)
	if err != nil {
		return nil, err
	}
	defer b.abandon()
	w := &draftWriter{ctx: ctx, s: s, b: b, r: newRepacker(ctx, s.base, b), orders: map[*draftNode][]int{}}
	w.translate(used, usedKeys)
	root, top := s.at(s.root), b.top()
	top.raw.flags, top.raw.key = uint8(root.flags), w.keys[root.key]
	if top.attrs, err = w.attributes(s.root, &root); err != nil {
		return nil, err
	}
	if top.children, err = w.children(s.root, &root); err != nil {
		return nil, err
	}
	if err := b.Write(ctx, to); err != nil {
		return nil, err
	}
	return &Written{s, opts, w.orders, b.reordered}, nil
}

// setDefaults takes what opts leaves open from the file.
func (s *Snapshot) setDefaults(opts *WriteOptions) {
	opts.Header = s.base.header
	if opts.Revision != nil {
		opts.Header.Revision = *opts.Revision
	}
	if opts.Layout == LayoutAuto {
		opts.Layout = s.base.layout
	}
	if opts.Key == nil {
		opts.Key = &s.base.key
	}
}

// draftWriter moves draft nodes to a Builder, and what they have of the file by
// way of a repacker.
type draftWriter struct {
	ctx    context.Context
	s      *Snapshot
	b      *Builder
	r      *repacker
	orders map[*draftNode][]int

	names []uint16 // the Builder's name indexes by the Draft's
	keys  []uint16 // key indexes likewise; 0 for definitions that no draft node has
}

// translate fills in names and keys.
func (w *draftWriter) translate(usedNames, usedKeys []bool) {
	w.names = make([]uint16, len(usedNames))
	for i, name := range w.s.names {
		if usedNames[i+1] {
			w.names[i+1] = w.b.name(name)
		}
	}
	w.keys = make([]uint16, len(w.s.keys))
	for i, k := range w.s.keys {
		if !usedKeys[i] {
			continue
		}
		for j, name := range k {
			k[j] = w.names[name] // of none, 0
		}
		w.keys[i] = w.b.keyOf(k)
	}
}

// node stores the runs of a draft node and of all below it.
func (w *draftWriter) node(n *draftNode) (rawNode, error) {
	x := w.s.at(n)
	raw := rawNode{name: w.names[x.name], flags: uint8(x.flags), key: w.keys[x.key]}
	if err := w.ctx.Err(); err != nil {
		return raw, err
	}
	// First the attributes, as a repacker does: what is written shall not depend on
	// which nodes happen to be draft nodes.
	attrs, err := w.attributes(n, &x)
	if err != nil {
		return raw, err
	}
	if raw.attrAddr, err = w.b.addAttributes(attrs); err != nil {
		return raw, err
	}
	children, err := w.children(n, &x)
	if err != nil {
		return raw, err
	}
	raw.attrCount, raw.childCount = uint16(len(attrs)), uint16(len(children))
	raw.childAddr, err = w.b.addChildren(children)
	return raw, err
}

func (w *draftWriter) attributes(n *draftNode, x *nodeState) ([]rawAttribute, error) {
	if !x.changed {
		return w.r.attributes(w.s.baseOf(n), nil)
	}
	var run []rawAttribute
	for i := range x.attrs {
		if x.attrs[i].dead {
			continue
		}
		raw, err := w.attribute(&x.attrs[i])
		if err != nil {
			return nil, err
		}
		raw.name = w.names[x.attrs[i].name]
		run = append(run, raw)
	}
	return run, nil
}

// attribute gives one as it is stored then, but for its name.
func (w *draftWriter) attribute(a *draftAttribute) (rawAttribute, error) {
	if !a.changed {
		stored, err := w.s.base.Attribute(a.addr)
		if err != nil || stored.typ != String {
			return stored.raw(), err
		}
		return w.r.string(stored)
	}
	if a.value.typ != String {
		return Attribute{typ: a.value.typ, bits: a.value.bits}.raw(), nil
	}
	i, err := w.b.values.intern(wtf8.AppendUTF16(nil, a.value.text))
	if err != nil {
		return rawAttribute{}, err
	}
	return w.b.values.attribute(i), nil
}

// children gives the children of n, and notes the order that the Builder will
// put them in. Those that nothing else tells apart stay in the order in which they come.
func (w *draftWriter) children(n *draftNode, x *nodeState) ([]rawNode, error) {
	run := make([]writtenChild, 0, len(x.kids))
	for i := range x.kids {
		if x.kids[i].dead {
			continue
		}
		raw, err := w.child(&x.kids[i])
		if err != nil {
			return nil, err
		}
		run = append(run, writtenChild{raw, i})
	}
	slices.SortStableFunc(run, func(p, q writtenChild) int {
		return cmp.Or(cmp.Compare(p.raw.name, q.raw.name), cmp.Compare(x.kids[p.place].rank, x.kids[q.place].rank))
	})
	sortSiblings(run, func(x, y writtenChild) int { return w.b.compareNodes(x.raw, y.raw) })
	nodes, order := make([]rawNode, len(run)), make([]int, len(run))
	for i, c := range run {
		nodes[i], order[i] = c.raw, c.place
	}
	w.orders[n] = order
	return nodes, nil
}

// writtenChild is a child as it is stored, and its place in the draft node.
type writtenChild struct {
	raw   rawNode
	place int
}

// sortSiblings sorts as the Builder does. Nearly all runs are in order already, and to
// compare may take reading the file.
func sortSiblings[T any](run []T, compare func(x, y T) int) {
	if !slices.IsSortedFunc(run, compare) {
		slices.SortStableFunc(run, compare)
	}
}

func (w *draftWriter) child(k *draftChild) (rawNode, error) {
	if k.node != nil {
		return w.node(k.node)
	}
	stored, err := w.s.base.Node(k.addr)
	if err != nil {
		return rawNode{}, err
	}
	return w.r.node(stored, 0)
}
