package datacenter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lorefs/internal/wtf8"
)

// ErrDiffers means that a file does not hold what was to be written to it.
var ErrDiffers = errors.New("it is not what was to be written")

// Compare tells whether g, opened anew from what Write wrote, holds the edited
// tree: every name, key, flag, value and the order of siblings, whatever the
// layout. What the two files share among parents is compared once, so the work
// grows with the stored nodes. A difference matches [ErrDiffers] and names the
// node.
func (w *Written) Compare(ctx context.Context, g *File) error {
	want := w.opts.Header
	want.Version = w.opts.Layout.Version()
	if w.opts.Layout == LayoutV3 {
		want.Revision = g.header.Revision // it has no room for one
	}
	// As bytes: a timestamp may be no number, which equals nothing.
	if !bytes.Equal(g.header.append(nil, LayoutV6X64), want.append(nil, LayoutV6X64)) {
		return fmt.Errorf("%w: the header is %+v, not %+v", ErrDiffers, g.header, want)
	}
	if n := int64(g.entries[0]); n != w.s.entries {
		return fmt.Errorf("%w: %d nodes and attributes, not %d", ErrDiffers, n, w.s.entries)
	}
	root, err := g.Root()
	if err != nil {
		return err
	}
	return w.compareSheets(ctx, g, root)
}

// comparer compares the runs of the file of a Draft with those of another, g.
type comparer struct {
	ctx  context.Context
	w    *Written
	s    *Snapshot
	f, g *File
	// names and fNames are g's name indexes by the Draft's and by f's: 0 for a name that g
	// has not. keys and fKeys are their key definitions as g would have them, without gaps,
	// and gKeys g's.
	names, fNames      []uint16
	keys, fKeys, gKeys []keyNames
	order              *siblingOrder
	*equals
	// x and y are scratch, one for each file, and levels one for each depth.
	x, y   []rawAttribute
	levels [][]Node
	depth  int
}

func newComparer(ctx context.Context, w *Written, g *File, eq *equals, loading *sync.WaitGroup) *comparer {
	s, f := w.s, w.s.base
	c := &comparer{
		ctx: ctx, w: w, s: s, f: f.forOne(loading), g: g.forOne(loading),
		names: make([]uint16, len(s.names)+1), fNames: make([]uint16, len(f.names)+1), equals: eq, order: newSiblingOrder(f),
	}
	index := make(map[string]uint16, len(g.names))
	for i, name := range g.names {
		index[name] = uint16(i + 1)
	}
	for i, name := range s.names {
		c.names[i+1] = index[name]
	}
	for i, name := range f.names {
		c.fNames[i+1] = index[name]
	}
	for _, k := range s.keys {
		c.keys = append(c.keys, asWritten(k, c.names))
	}
	for _, k := range f.keys {
		c.fKeys = append(c.fKeys, asWritten(k, c.fNames))
	}
	for _, k := range g.keys {
		c.gKeys = append(c.gKeys, slide(k))
	}
	return c
}

// asWritten is a key definition as the file that was written would have it, whose name
// indexes are given.
func asWritten(k keyNames, names []uint16) keyNames {
	for i, name := range k {
		if name == 0 {
			continue
		}
		if k[i] = names[name]; k[i] == 0 {
			return keyNames{0, 1} // as slide gives none: g has not that name
		}
	}
	return slide(k)
}

// keyAt is a key definition; one that does not exist is empty.
func keyAt(keys []keyNames, key uint16) (k keyNames) {
	if int(key) < len(keys) {
		k = keys[key]
	}
	return k
}

func differs(n Node, format string, args ...any) error {
	return fmt.Errorf("%w: node %v %s: %w", ErrDiffers, n.addr, n.Name(), fmt.Errorf(format, args...))
}

// draftNode compares a draft node with what became of it.
func (c *comparer) draftNode(n *draftNode, y Node) error {
	x := c.s.at(n)
	if err := c.draftSelf(n, &x, y); err != nil {
		return err
	}
	pairs, err := c.w.pair(n, &x, y)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if err := c.draftChild(p.x, p.y); err != nil {
			return err
		}
	}
	return nil
}

// draftSelf is draftNode without the children.
func (c *comparer) draftSelf(n *draftNode, x *nodeState, y Node) error {
	same := y.raw.name == c.names[x.name]
	if n == c.s.root {
		same = y.Name() == rootName // the file's may have another
	}
	if !same || y.raw.flags != uint8(x.flags) || c.keys[x.key] != keyAt(c.gKeys, y.raw.key) {
		return differs(y, "want %s with the keys %v and the flags %d", c.s.name(x.name), c.s.definition(x.key), x.flags)
	}
	return c.draftAttributes(n, x, y)
}

func (c *comparer) draftChild(k *draftChild, y Node) error {
	if k.node != nil {
		return c.draftNode(k.node, y)
	}
	x, err := c.f.Node(k.addr)
	if err != nil {
		return err
	}
	return c.stored(x, y)
}

// draftAttributes compares those of a draft node.
func (c *comparer) draftAttributes(n *draftNode, x *nodeState, y Node) error {
	if !x.changed {
		return c.attributes(c.s.baseOf(n), y)
	}
	attrs := x.attrCount()
	if attrs != y.AttributeCount() {
		return differs(y, "%d attributes instead of %d", y.AttributeCount(), attrs)
	}
	for i := range x.attrs {
		a := &x.attrs[i]
		if a.dead {
			continue
		}
		got, ok, err := y.Attribute(c.names[a.name])
		if err != nil {
			return err
		}
		if !ok {
			return differs(y, "%s is missing", c.s.name(a.name))
		}
		if err := c.draftAttribute(a, y, got); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparer) draftAttribute(a *draftAttribute, y Node, got Attribute) error {
	if !a.changed {
		want, err := c.f.Attribute(a.addr)
		if err != nil {
			return err
		}
		return c.attribute(want.raw(), got.raw(), y)
	}
	same := got.typ == a.value.typ && (got.typ == String || got.bits == a.value.bits)
	if same && got.typ == String {
		units, err := c.g.stringUnits(c.g.regions.values.data, got.StringAddress())
		if err != nil {
			return err
		}
		same = bytes.Equal(units, wtf8.AppendUTF16(nil, a.value.text))
	}
	if !same {
		return differs(y, "%s is not %q", got.Name(), a.value.Text())
	}
	return nil
}

// stored compares a node of f with one of g, and all below them.
func (c *comparer) stored(x, y Node) error {
	if y.raw.name != c.fNames[x.raw.name] || y.raw.flags != x.raw.flags {
		return differs(y, "want %s with the flags %d", x.Name(), x.raw.flags)
	}
	if keyAt(c.fKeys, x.raw.key) != keyAt(c.gKeys, y.raw.key) {
		return differs(y, "the keys are %v, not %v", y.Keys(), x.Keys())
	}
	if err := c.attributes(x, y); err != nil || x.raw.childCount == 0 && y.raw.childCount == 0 {
		return err
	}
	if x.raw.childCount > 0 && c.children.known(x.childRun(), y.childRun()) {
		return nil
	}
	return c.storedChildren(x, y)
}

func (n Node) childRun() runKey { return runKey{n.raw.childAddr, n.raw.childCount} }
func (n Node) attrRun() runKey  { return runKey{n.raw.attrAddr, n.raw.attrCount} }

func (c *comparer) storedChildren(x, y Node) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	run, err := c.run(x)
	if err != nil {
		return err
	}
	c.depth++
	i := 0
	for child, err := range y.Children() {
		if err != nil {
			return err
		}
		if i == len(run) {
			return differs(y, "more than the %d children that it had", i)
		}
		if err := c.stored(run[i], child); err != nil {
			return err
		}
		i++
	}
	c.depth--
	if i != len(run) {
		return differs(y, "%d children instead of %d", i, len(run))
	}
	if i > 0 {
		c.children.note(x.childRun(), y.childRun())
	}
	return nil
}

// run gives the children of x in the order in which they were written. They are
// in use until the comparison is back at this depth.
func (c *comparer) run(x Node) ([]Node, error) {
	if c.depth == len(c.levels) {
		c.levels = append(c.levels, nil)
	}
	run := c.levels[c.depth][:0]
	for child, err := range x.Children() {
		if err != nil {
			return nil, err
		}
		run = append(run, child)
	}
	c.levels[c.depth] = run
	if !c.w.reordered {
		return run, nil
	}
	order := *c.order
	sortSiblings(run, order.compare)
	return run, order.err
}

// attributes compares two runs.
func (c *comparer) attributes(x, y Node) error {
	count := x.raw.attrCount
	if count != y.raw.attrCount {
		return differs(y, "%d attributes instead of %d", y.raw.attrCount, count)
	}
	if count == 0 || c.attrs.known(x.attrRun(), y.attrRun()) {
		return nil
	}
	var err error
	if c.x, err = c.f.rawRun(x.raw.attrAddr, int(count), c.x[:0]); err != nil {
		return err
	}
	if c.y, err = c.g.rawRun(y.raw.attrAddr, int(count), c.y[:0]); err != nil {
		return err
	}
	for i := range c.x {
		c.x[i].name = c.fNames[c.x[i].name]
	}
	byName := func(p, q rawAttribute) int { return cmp.Compare(p.name, q.name) }
	if !slices.IsSortedFunc(c.x, byName) {
		slices.SortFunc(c.x, byName)
	}
	for i := range c.x {
		if c.x[i].name != c.y[i].name {
			return differs(y, "attribute %d is called %s", i, c.g.names[c.y[i].name-1])
		}
		if err := c.attribute(c.x[i], c.y[i], y); err != nil {
			return err
		}
	}
	c.attrs.note(x.attrRun(), y.attrRun())
	return nil
}

// attribute compares what two attributes hold.
func (c *comparer) attribute(x, y rawAttribute, of Node) error {
	xt, err := x.decodeType()
	if err != nil {
		return err
	}
	yt, _ := y.decodeType() // 0 is no type
	same := xt == yt && (xt == String || x.bits == y.bits)
	if same && xt == String {
		if same, err = c.sameString(x.value(), y.value()); err != nil {
			return err
		}
	}
	if !same {
		return differs(of, "%s is not what it was", c.g.names[y.name-1])
	}
	return nil
}

func (c *comparer) sameString(x, y Address) (bool, error) {
	if c.values.known(x, y) {
		return true, nil
	}
	p, err := c.f.stringUnits(c.f.regions.values.data, x)
	if err != nil {
		return false, err
	}
	q, err := c.g.stringUnits(c.g.regions.values.data, y)
	if err != nil || !bytes.Equal(p, q) {
		return false, err
	}
	c.values.note(x, y)
	return true, nil
}

// rawRun appends the attributes of a run as they are stored.
func (f *File) rawRun(addr Address, count int, dst []rawAttribute) ([]rawAttribute, error) {
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, addr, count, int64(size))
	if err != nil {
		return dst, err
	}
	var scratch [maxAttributeSize]byte
	for i := 0; i < count; {
		b, err := f.elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			return dst, err
		}
		for ; len(b) >= size; b = b[size:] {
			a := parseAttribute(b)
			if a.name == 0 || int(a.name) > len(f.names) {
				return dst, attributeError(addr, off, "name index %d: want 1 to %d", a.name, len(f.names))
			}
			dst = append(dst, a)
			i++
		}
	}
	return dst, nil
}
