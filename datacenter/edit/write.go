package edit

import (
	"cmp"
	"context"
	"io"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/rewrite"
	"lorefs/datacenter/splice"
)

// Written is the result of writing a Snapshot.
type Written struct {
	s    *Snapshot
	opts datacenter.WriteOptions
	// orders has the places of a draft node's children, in the written order.
	orders map[*draftNode][]int
	// stored has what the draft nodes were to become, if the base was spliced. became has the draft
	// nodes as CompareSpliced found them.
	stored map[*draftNode]*storedRuns
	became map[*draftNode]datacenter.Node
	// moved says where the Rewriter has moved everything. It is nil once Compare has used it, since
	// it is large.
	moved *rewrite.Moved
	// forked was made by PrepareRebase, or is nil.
	forked *rebaser
	// reordered is set if some siblings of the base were not in the order that the format
	// demands. They are written in that order.
	reordered bool
	// Progress, if it is not nil, is called by Compare now and then, by several goroutines, with
	// how much is done, as a number of logical nodes and attributes, and their total.
	Progress func(done, total int64)
}

// Write writes the edited tree as a new file. Existing names keep their order, and new ones
// follow. Siblings keep their order where the format allows it. What the tree does not use
// (placeholders, slack, unused values) is left out, a root of another name is called
// __root__, and equal runs are stored once. Layout, Key and Revision default to the file's.
// The rest of the header is always the file's, whatever opts.Header says.
//
// The work and the memory grow with the stored nodes, not with the logical ones. The same
// edits always give the same bytes.
func (s *Snapshot) Write(ctx context.Context, opts datacenter.WriteOptions, to io.Writer) (*Written, error) {
	s.setDefaults(&opts)
	used, usedKeys := inUse(s.d.first, s.keys, s.states(s.root))
	var names []string
	for i, name := range s.names {
		if used[i+1] { // a name that the base has as well counts once
			names = append(names, name)
		}
	}
	r, err := rewrite.NewRewriter(ctx, s.base, names, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	orders, err := s.writeTo(&draftWriter{ctx: ctx, r: r, base: s.base}, used, usedKeys)
	if err != nil {
		return nil, err
	}
	reordered, err := r.Write(ctx, to)
	if err != nil {
		return nil, err
	}
	return &Written{s: s, opts: opts, orders: orders, moved: r.Moved(), reordered: reordered}, nil
}

// Splice is Write, but it keeps the bytes of the base that the edits don't reach, and changes only
// the others: see [splice.Splicer]. So the work grows with the edits, but for copying the bytes
// of the file. What the base has and the tree does not use stays, and so does the order of siblings
// that the edits don't concern, even if it is not that of their keys. The result must be checked with
// [splice.Spliced.CheckBytes] and CheckData, and then with [Written.CompareSpliced].
//
// If the edits can't be written like that, the error matches [splice.ErrWhole], and nothing was
// written to to.
func (s *Snapshot) Splice(ctx context.Context, opts datacenter.WriteOptions, to io.Writer) (*Written, *splice.Spliced, error) {
	base := datacenter.Of(s.base.Form().Holding())
	r, err := splice.NewSplicer(base, opts)
	if err != nil {
		return nil, nil, err
	}
	s.setDefaults(&opts)
	used, usedKeys := inUse(s.d.first, s.keys, s.states(s.root))
	loading, stop := context.WithCancel(ctx)
	n := &draftWriter{ctx: ctx, r: r, splicer: r, base: base, stored: map[*draftNode]*storedRuns{}, ahead: splice.NewLoader(base), loading: loading}
	defer n.ahead.Wait()
	defer stop()
	orders, err := s.writeTo(n, used, usedKeys)
	if err != nil {
		return nil, nil, err
	}
	spliced, err := r.Write(ctx, to)
	if err != nil {
		return nil, nil, err
	}
	return &Written{s: s, opts: opts, orders: orders, stored: n.stored}, spliced, nil
}

// writeTo gives all nodes to w, and returns the places of the draft nodes' children.
func (s *Snapshot) writeTo(w *draftWriter, usedNames, usedKeys []bool) (map[*draftNode][]int, error) {
	w.s, w.orders = s, map[*draftNode][]int{}
	w.translate(usedNames, usedKeys)
	root := s.at(s.root)
	if w.stored != nil {
		w.stored[s.root] = &storedRuns{}
	}
	attrs, err := w.attributes(s.root, &root)
	if err != nil {
		return nil, err
	}
	children, err := w.children(s.root, &root)
	if err != nil {
		return nil, err
	}
	w.r.Root(s.root.base, w.keys[root.key], root.flags, attrs, children)
	return w.orders, nil
}

// setDefaults fills in missing options from the file.
func (s *Snapshot) setDefaults(opts *datacenter.WriteOptions) {
	opts.Header = s.base.Header()
	if opts.Revision != nil {
		opts.Header.Revision = *opts.Revision
	}
	if opts.Layout == datacenter.LayoutAuto {
		opts.Layout = s.base.Layout()
	}
	if opts.Key == nil {
		key := s.base.Key()
		opts.Key = &key
	}
}

// nodeWriter writes the nodes of a draft: a [rewrite.Rewriter] or a [splice.Splicer].
type nodeWriter interface {
	Name(name string) uint16
	Key(k datacenter.KeyNames) uint16
	Node(n datacenter.Node) (form.Node, error)
	Attributes(n datacenter.Node) ([]form.Attribute, error)
	Attribute(name uint16, a datacenter.Attribute) (form.Attribute, error)
	Value(name uint16, v datacenter.Value) (form.Attribute, error)
	Begin(was datacenter.Node, name, key uint16, flags datacenter.KeyFlags, attrs []form.Attribute) (form.Node, error)
	BeginSame(was datacenter.Node, name, key uint16, flags datacenter.KeyFlags) (form.Node, error)
	End(was datacenter.Node, n *form.Node, children []form.Node) error
	Compare(x, y form.Node) int
	Root(was datacenter.Node, key uint16, flags datacenter.KeyFlags, attrs []form.Attribute, children []form.Node)
}

// storedRuns are the runs of a draft node, in the order of its attributes and that of the file.
type storedRuns struct {
	attrs []form.Attribute // nil if they stay
	kids  []form.Node
	// addrs are the addresses of attrs in the new file. CompareSpliced fills them in.
	addrs []datacenter.Address
}

// draftWriter makes nodes of the new file from draft nodes.
type draftWriter struct {
	ctx context.Context
	s   *Snapshot
	r   nodeWriter
	// splicer is r, or nil if that is a Rewriter.
	splicer *splice.Splicer
	// base is the Snapshot's, or another form of it.
	base *datacenter.File
	// stored is not nil if r is a Splicer. Then siblings that the edits don't concern keep their order.
	stored map[*draftNode]*storedRuns
	// ahead loads what is read of the sheets before the one with the number loaded, as long as loading
	// goes on. When the sheet with the number more comes, it has to load more.
	ahead        *splice.Loader
	loading      context.Context
	loaded, more int
	orders       map[*draftNode][]int
	// runs has the children of the nodes that were begun, one node behind the other.
	runs []writtenChild

	names []uint16 // the new file's name indexes by the Draft's
	keys  []uint16 // the same for key indexes; 0 for definitions that no draft node has
}

// translate fills in names and keys.
func (w *draftWriter) translate(usedNames, usedKeys []bool) {
	w.names = make([]uint16, len(usedNames))
	for i, name := range w.s.names {
		if usedNames[i+1] {
			w.names[i+1] = w.r.Name(name)
		}
	}
	w.keys = make([]uint16, len(w.s.keys))
	for i, k := range w.s.keys {
		if !usedKeys[i] {
			continue
		}
		for j, name := range k {
			k[j] = w.names[name] // 0 stays 0
		}
		w.keys[i] = w.r.Key(k)
	}
}

// node stores the runs of a draft node and its subtree.
func (w *draftWriter) node(n *draftNode) (form.Node, error) {
	x := w.s.at(n)
	if err := w.ctx.Err(); err != nil {
		return form.Node{}, err
	}
	// Attributes come first, as in the Rewriter: the written bytes must not depend on which
	// nodes are draft nodes.
	raw, err := w.begin(n, &x)
	if err != nil {
		return raw, err
	}
	children, err := w.children(n, &x)
	if err != nil {
		return raw, err
	}
	err = w.r.End(n.base, &raw, children)
	return raw, err
}

// begin begins a draft node, with its attributes.
func (w *draftWriter) begin(n *draftNode, x *nodeState) (form.Node, error) {
	if w.stored != nil {
		w.stored[n] = &storedRuns{}
	}
	was, name, key := n.base, w.names[x.name], w.keys[x.key]
	if !x.changed {
		return w.r.BeginSame(was, name, key, x.flags)
	}
	attrs, err := w.attributes(n, x)
	if err != nil {
		return form.Node{}, err
	}
	return w.r.Begin(was, name, key, x.flags, attrs)
}

func (w *draftWriter) attributes(n *draftNode, x *nodeState) ([]form.Attribute, error) {
	if !x.changed {
		return w.r.Attributes(n.base)
	}
	var live []int
	for i := range x.attrs {
		if !x.attrs[i].dead {
			live = append(live, i)
		}
	}
	run := make([]form.Attribute, len(live))
	for _, i := range w.byName(x, live) {
		raw, err := w.attribute(&x.attrs[live[i]])
		if err != nil {
			return nil, err
		}
		run[i] = raw
	}
	if w.stored != nil {
		w.stored[n].attrs = run
	}
	return run, nil
}

// byName returns the places in live in the order of the written names. New values get their places
// in the file as they come, and a replay may have the attributes in another order: nobody remembers
// there which was renamed.
func (w *draftWriter) byName(x *nodeState, live []int) []int {
	order := make([]int, len(live))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(w.names[x.attrs[live[i]].name], w.names[x.attrs[live[j]].name])
	})
	return order
}

// attribute returns the stored form of an attribute.
func (w *draftWriter) attribute(a *draftAttribute) (form.Attribute, error) {
	if !a.changed {
		stored, err := w.base.Attribute(a.addr)
		if err != nil {
			return form.Attribute{}, err
		}
		return w.r.Attribute(w.names[a.name], stored)
	}
	return w.r.Value(w.names[a.name], a.value)
}

// children returns the children of n, and stores the order in which the Rewriter will put
// them. Children that compare equal keep their order.
func (w *draftWriter) children(n *draftNode, x *nodeState) ([]form.Node, error) {
	first := len(w.runs)
	for i := range x.kids {
		if x.kids[i].dead {
			continue
		}
		if n == w.s.root && w.ahead != nil {
			w.load(x.kids, i)
		}
		raw, err := w.child(&x.kids[i])
		if err != nil {
			return nil, err
		}
		w.runs = append(w.runs, writtenChild{raw, i, w.stored != nil && w.isSettled(&x.kids[i], raw)})
	}
	run := w.runs[first:]
	sortSiblings(run, func(p, q writtenChild) int {
		if p.raw.Name != q.raw.Name {
			return int(p.raw.Name) - int(q.raw.Name)
		}
		return cmp.Compare(x.kids[p.place].rank, x.kids[q.place].rank)
	})
	w.sort(run, x.kids)
	nodes, order := make([]form.Node, len(run)), make([]int, len(run))
	for i, c := range run {
		nodes[i], order[i] = c.raw, c.place
	}
	w.runs = w.runs[:first]
	w.orders[n] = order
	if w.stored != nil {
		w.stored[n].kids = nodes
	}
	return nodes, nil
}

// load has two parts of the sheets loaded before they are read: that of sheet i, and the next one.
func (w *draftWriter) load(sheets []draftChild, i int) {
	const few = 24 // blocks and strings, so that a small cache holds both parts
	for i >= w.more && w.loaded < len(sheets) {
		w.more = w.loaded
		for ; w.loaded < len(sheets) && w.ahead.Len() < few; w.loaded++ {
			if k := &sheets[w.loaded]; !k.dead && k.node != nil {
				w.add(k.node)
			}
		}
		w.ahead.Load(w.loading)
	}
}

// add adds a draft node, and what is below it, to what is loaded.
func (w *draftWriter) add(n *draftNode) {
	x, base := w.s.at(n), n.base
	if !isNone(base) {
		w.ahead.Children(base)
		if x.changed {
			w.ahead.Attributes(base)
		}
	}
	if x.changed {
		for i := range x.attrs {
			if a := &x.attrs[i]; a.changed && !a.dead {
				w.ahead.Value(a.value)
			}
		}
	}
	for i := range x.kids {
		if k := &x.kids[i]; !k.dead && k.node != nil {
			w.add(k.node)
		}
	}
}

// writtenChild is a stored child and its place in the draft node.
type writtenChild struct {
	raw   form.Node
	place int
	// settled is set if its place among other settled siblings is that in the base.
	settled bool
}

// isSettled reports whether nothing was changed on which the place of a child depends.
func (w *draftWriter) isSettled(k *draftChild, raw form.Node) bool {
	if !k.stored || k.node == nil {
		return k.stored
	}
	base := k.node.base
	return raw.Name == base.NameIndex() && raw.Key == base.KeyIndex() && !w.s.at(k.node).changed
}

// sortSiblings sorts like the Rewriter. Nearly all runs are in order already, and a
// comparison may have to read the file.
func sortSiblings[T any](run []T, compare func(x, y T) int) {
	if !slices.IsSortedFunc(run, compare) {
		slices.SortStableFunc(run, compare)
	}
}

// sort is sortSiblings for children among kids. It does not compare settled neighbours, since that
// may have to read attributes all over the file.
func (w *draftWriter) sort(run []writtenChild, kids []draftChild) {
	compare := func(x, y writtenChild) int { return w.r.Compare(x.raw, y.raw) }
	for i := 1; i < len(run); i++ {
		x, y := run[i-1], run[i]
		settled := x.settled && y.settled && kids[x.place].addr.Element < kids[y.place].addr.Element
		if !settled && compare(x, y) > 0 {
			w.loadKeys(run)
			slices.SortStableFunc(run, compare)
			return
		}
	}
}

// loadKeys loads what is read to compare all siblings of a run.
func (w *draftWriter) loadKeys(run []writtenChild) {
	if w.stored == nil {
		return
	}
	l := splice.NewLoader(w.base)
	for _, c := range run {
		if c.raw.Key > 0 {
			l.StoredAttributes(c.raw)
		}
	}
	l.Load(w.loading)
	l.Wait()
}

func (w *draftWriter) child(k *draftChild) (form.Node, error) {
	if k.node != nil {
		return w.node(k.node)
	}
	if w.splicer != nil && k.stored {
		if stored, ok := w.splicer.Kept(k.addr); ok {
			return stored, nil
		}
	}
	stored, err := w.base.Node(k.addr)
	if err != nil {
		return form.Node{}, err
	}
	return w.r.Node(stored)
}
