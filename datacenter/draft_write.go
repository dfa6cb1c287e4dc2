package datacenter

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"lorefs/internal/wtf8"
)

// Saving is a Draft while it is being saved: nobody can edit it meanwhile.
type Saving struct {
	d    *Draft
	opts WriteOptions
	// orders are the places of a draft node's children in the written order; nil
	// as long as nothing was written.
	orders map[*draftNode][]int
	// reordered is set if some siblings of the file were not in the order that
	// the format demands, and are now.
	reordered bool
}

// Save calls store, which has to write the Draft to a file by [Saving.Write]
// and should look at the outcome with [Saving.Compare]. If store succeeds, all
// edits made so far count as saved, and later records are for the new file; it may
// leave Write out only if nothing is [Draft.Pending]. The Draft itself goes on
// reading from the old file. The defaults of Layout, Key and Revision are the file's, as
// is the rest of the header, whatever opts.Header says.
func (d *Draft) Save(opts WriteOptions, store func(s *Saving) error) error {
	d.editing.Lock()
	defer d.editing.Unlock()
	opts.Header = d.file.header
	if opts.Revision != nil {
		opts.Header.Revision = *opts.Revision
	}
	if opts.Layout == LayoutAuto {
		opts.Layout = d.file.layout
	}
	if opts.Key == nil {
		opts.Key = &d.file.key
	}
	s := &Saving{d: d, opts: opts}
	if err := store(s); err != nil {
		return err
	}
	return s.finish()
}

// Write writes the edited tree as a new file: names that exist keep their order, new
// ones come behind them. Siblings keep their order where it is the one that the format
// demands. What the tree does not use (placeholders, slack, values nobody refers to) is
// left out, a root of another name is called __root__, and equal runs are stored once.
//
// The work and the memory grow with the stored nodes, not with the logical ones. The
// same edits give the same bytes each time.
func (s *Saving) Write(ctx context.Context, w io.Writer) error {
	d := s.d
	s.orders = nil
	used, usedKeys := d.inUse()
	names := make([]string, 0, len(d.names))
	for i, name := range d.names {
		if used[i+1] {
			names = append(names, name)
		}
	}
	b, err := NewBuilder(names, s.opts)
	if err != nil {
		return err
	}
	defer b.abandon()
	dw := &draftWriter{ctx: ctx, d: d, b: b, r: newRepacker(ctx, d.file, b), orders: map[*draftNode][]int{}}
	dw.translate(used, usedKeys)
	top := b.top()
	top.raw.flags, top.raw.key = uint8(d.root.flags), dw.keys[d.root.key]
	if top.attrs, err = dw.attributes(d.root); err != nil {
		return err
	}
	if top.children, err = dw.children(d.root); err != nil {
		return err
	}
	if err := b.Write(ctx, w); err != nil {
		return err
	}
	s.orders, s.reordered = dw.orders, b.reordered
	return nil
}

// draftWriter moves draft nodes to a Builder, and what they have of the file by
// way of a repacker.
type draftWriter struct {
	ctx    context.Context
	d      *Draft
	b      *Builder
	r      *repacker
	orders map[*draftNode][]int

	names []uint16 // the Builder's name indexes by the Draft's
	keys  []uint16 // key indexes likewise; 0 for definitions that no draft node has
}

// translate fills in names and keys.
func (w *draftWriter) translate(usedNames, usedKeys []bool) {
	d := w.d
	w.names = make([]uint16, len(usedNames))
	for i, name := range d.names {
		if usedNames[i+1] {
			w.names[i+1] = w.b.name(name)
		}
	}
	w.keys = make([]uint16, len(d.keys))
	for i, k := range d.keys {
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
	raw := rawNode{name: w.names[n.name], flags: uint8(n.flags), key: w.keys[n.key]}
	if err := w.ctx.Err(); err != nil {
		return raw, err
	}
	// First the attributes, as a repacker does: what is written shall not depend on
	// which nodes happen to be draft nodes.
	attrs, err := w.attributes(n)
	if err != nil {
		return raw, err
	}
	if raw.attrAddr, err = w.b.addAttributes(attrs); err != nil {
		return raw, err
	}
	children, err := w.children(n)
	if err != nil {
		return raw, err
	}
	raw.attrCount, raw.childCount = uint16(len(attrs)), uint16(len(children))
	raw.childAddr, err = w.b.addChildren(children)
	return raw, err
}

func (w *draftWriter) attributes(n *draftNode) ([]rawAttribute, error) {
	if !n.changed {
		return w.r.attributes(n.base, nil)
	}
	var run []rawAttribute
	for i := range n.attrs {
		if n.attrs[i].dead {
			continue
		}
		raw, err := w.attribute(&n.attrs[i])
		if err != nil {
			return nil, err
		}
		raw.name = w.names[n.attrs[i].name]
		run = append(run, raw)
	}
	return run, nil
}

// attribute gives one as it is stored then, but for its name.
func (w *draftWriter) attribute(a *draftAttribute) (rawAttribute, error) {
	if !a.changed {
		stored, err := w.d.file.Attribute(a.addr)
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
func (w *draftWriter) children(n *draftNode) ([]rawNode, error) {
	run := make([]writtenChild, 0, len(n.kidAt))
	for i := range n.kids {
		if n.kids[i].dead {
			continue
		}
		raw, err := w.child(&n.kids[i])
		if err != nil {
			return nil, err
		}
		run = append(run, writtenChild{raw, i})
	}
	slices.SortStableFunc(run, func(x, y writtenChild) int {
		return cmp.Or(cmp.Compare(x.raw.name, y.raw.name), cmp.Compare(n.kids[x.place].rank, n.kids[y.place].rank))
	})
	nodes, order := make([]rawNode, len(run)), make([]int, len(run))
	for i, c := range run {
		nodes[i] = c.raw
	}
	sortSiblings(run, func(x, y writtenChild) int { return w.b.compareNodes(x.raw, y.raw) })
	for i, c := range run {
		order[i] = c.place
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
	stored, err := w.d.file.Node(k.addr)
	if err != nil {
		return rawNode{}, err
	}
	return w.r.node(stored, 0)
}

// finish notes that all is saved, and what number each draft node has in the new
// file.
func (s *Saving) finish() error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.orders == nil {
		if d.edits != d.saved {
			return errors.New("datacenter: BUG: edits count as saved, but nothing was written")
		}
		return nil
	}
	s.number(d.root, 0)
	d.commits++
	d.saved = d.edits
	return nil
}

// number gives saved numbers to n and what hangs below it, and gives what comes
// behind.
func (s *Saving) number(n *draftNode, number Number) Number {
	n.saved = number
	attrs, _ := n.counts()
	number += 1 + Number(attrs)
	for _, i := range s.orders[n] {
		k := &n.kids[i]
		k.saved = number
		if k.node != nil {
			number = s.number(k.node, number)
		} else {
			number += Number(s.d.file.entries[s.d.file.number(k.addr)])
		}
	}
	n.rerank(s.orders[n])
	return number
}

// savedNumbers gives saved numbers to the children of n, which has just become a
// draft node and was written as the file has it.
func (d *Draft) savedNumbers(n *draftNode) error {
	order, err := d.writtenOrder(n.base)
	if err != nil {
		return err
	}
	number := n.saved + 1 + Number(n.baseAttrs)
	for _, i := range order {
		n.kids[i].saved = number
		number += Number(d.file.entries[d.file.number(n.kids[i].addr)])
	}
	n.rerank(order)
	return nil
}

// writtenOrder gives the places of a stored node's children in the order that
// the format demands, which is the one they are written in.
func (d *Draft) writtenOrder(n Node) ([]int, error) {
	var children []Node
	for c, err := range n.Children() {
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	s := d.newSiblingOrder()
	sortSiblings(children, s.compare)
	order := make([]int, len(children))
	for i, c := range children {
		order[i] = n.ChildIndex(c)
	}
	return order, s.err
}

func (d *Draft) newSiblingOrder() *siblingOrder {
	return &siblingOrder{file: d.file, root: d.index[rootName], value: d.index[valueName]}
}
