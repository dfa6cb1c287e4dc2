package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/compare"
	"lorefs/internal/cores"
)

// ErrDiffers means that a file is not what should have been written.
var ErrDiffers = errors.New("it is not what was to be written")

// Compare checks that g, opened anew from what Write wrote, holds the edited tree: every
// name, key, flag and value, and the order of siblings, whatever the layout. Runs that
// parents share in both files are compared once, so the work grows with the stored nodes.
// The error for a difference matches [ErrDiffers] and names the node.
func (w *Written) Compare(ctx context.Context, g *datacenter.File) error {
	return w.compare(&comparer{ctx: ctx, w: w, f: w.s.base, g: g})
}

// CompareSpliced is [Written.Compare] for g, which is [datacenter.Spliced.Wanted] or the file that
// Splice wrote. The check of the splice proves that g has all bytes of the base that were not
// changed on purpose. So a node that was not edited is equal with its subtree if it is stored as
// the base has it, and the work grows with the edits. The base is not read: Splice has noted how
// the children of the draft nodes are stored.
func (w *Written) CompareSpliced(ctx context.Context, g *datacenter.File) error {
	w.became = map[*draftNode]datacenter.Node{}
	return w.compare(&comparer{ctx: ctx, w: w, f: w.s.base, g: g, spliced: &sync.Mutex{}})
}

// compare compares the root and then, on all cores, the sheets. Each goroutine takes the next one.
// All share what they find to be equal.
func (w *Written) compare(c *comparer) error {
	if err := w.compareCounts(c.g); err != nil {
		return err
	}
	c.prepare()
	var loading sync.WaitGroup
	defer loading.Wait()
	first := c.beside(c.ctx, &loading)
	root, err := first.g.Root()
	if err != nil {
		return err
	}
	sheets, err := first.self(w.s.root, root)
	if err != nil {
		return err
	}
	from, err := c.prove()
	if err != nil {
		return err
	}
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(c.ctx)
	for range min(cores.Count(), len(sheets)) {
		c := c.beside(ctx, &loading)
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(sheets)); i = next.Add(1) - 1 {
				p := sheets[i]
				if err := c.child(p); err != nil {
					return err
				}
				compared := done.Add(int64(p.y.Entries()))
				w.tell(from + (1-from)*float64(compared)/float64(w.s.entries))
			}
			return nil
		})
	}
	return group.Wait()
}

// compareCounts compares the header and the number of entries.
func (w *Written) compareCounts(g *datacenter.File) error {
	want := w.opts.Header
	want.Version = w.opts.Layout.Version()
	if w.opts.Layout == datacenter.LayoutV3 {
		want.Revision = g.Header().Revision // the layout has no room for a revision
	}
	if !g.Header().Same(want) {
		return fmt.Errorf("%w: the header is %+v, not %+v", ErrDiffers, g.Header(), want)
	}
	if n := entriesOf(g); n != w.s.entries {
		return fmt.Errorf("%w: %d nodes and attributes, not %d", ErrDiffers, n, w.s.entries)
	}
	return nil
}

// entriesOf returns the number of logical nodes and attributes of a file.
func entriesOf(f *datacenter.File) int64 { return f.Counts().Nodes + f.Counts().Attributes }

// tell calls Progress with a part of all entries.
func (w *Written) tell(part float64) {
	if w.Progress != nil {
		w.Progress(int64(part*float64(w.s.entries)), w.s.entries)
	}
}

// comparer compares a Draft with g, the file to which it was written. It is for use by one goroutine.
type comparer struct {
	*compare.Comparer
	ctx  context.Context
	w    *Written
	f, g *datacenter.File // f is the base
	// spliced guards what the comparers note in w. It is nil if g was written as a whole.
	spliced *sync.Mutex
	// names has g's name index for each of the Draft's.
	names []uint16
	// keys are the key definitions of the Draft, and gKeys those of g.
	keys, gKeys []datacenter.KeyDefinition
}

// prepare fills in what depends only on the two files.
func (c *comparer) prepare() {
	s := c.w.s
	c.names, c.gKeys = c.g.Form().NameIndexes(s.names), c.g.KeyDefinitions()
	for i := range s.keys {
		c.keys = append(c.keys, s.definition(uint16(i)))
	}
	c.Comparer = compare.NewComparer(c.ctx, c.f, c.g)
	c.Reordered = c.w.reordered
}

// beside returns a copy for another goroutine. One that goes through all of the files reads ahead.
func (c *comparer) beside(ctx context.Context, loading *sync.WaitGroup) *comparer {
	x := *c
	if c.spliced == nil {
		x.f, x.g = datacenter.Of(c.f.Form().ReadAhead(loading)), datacenter.Of(c.g.Form().ReadAhead(loading))
	}
	x.ctx, x.Comparer = ctx, c.Beside(ctx, x.f, x.g)
	return &x
}

// proving is the part of the time that proving takes.
const proving = 0.95

// prove proves that what was moved is equal, so that the comparer need only look at draft nodes. It returns
// the part of the time that has passed then.
func (c *comparer) prove() (passed float64, err error) {
	moved := c.w.moved
	if c.w.moved = nil; moved == nil {
		return 0, nil
	}
	_, err = c.Prove(c.f, c.g, moved, func(part float64) { c.w.tell(proving * part) })
	return proving, err
}

// told returns the error for the result of a Comparer.
func (c *comparer) told(same bool, err error) error {
	if err != nil || same {
		return err
	}
	at, what := c.Difference()
	return differs(at, "%w", what)
}

func differs(n datacenter.Node, format string, args ...any) error {
	return fmt.Errorf("%w: node %v %s: %w", ErrDiffers, n.Address(), n.Name(), fmt.Errorf(format, args...))
}

// pair is a child of a draft node and the node that it became.
type pair struct {
	x *draftChild
	y datacenter.Node
}

// child compares a child of a draft node with the node that it became.
func (c *comparer) child(p pair) error {
	y := p.y.In(c.g)
	if p.x.node != nil {
		return c.node(p.x.node, y)
	}
	x, err := c.f.Node(p.x.addr)
	if err != nil {
		return err
	}
	return c.told(c.Same(x, y))
}

// node compares a draft node with the node of g that it became.
func (c *comparer) node(n *draftNode, y datacenter.Node) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	kids, err := c.self(n, y)
	if err != nil {
		return err
	}
	for _, p := range kids {
		if err := c.child(p); err != nil {
			return err
		}
	}
	return nil
}

// self is node without the children, of which it returns those that have to be compared.
func (c *comparer) self(n *draftNode, y datacenter.Node) (kids []pair, err error) {
	x := c.w.s.at(n)
	if c.spliced != nil {
		c.spliced.Lock()
		c.w.became[n] = y
		c.spliced.Unlock()
	}
	if err := c.label(n, &x, y); err != nil {
		return nil, err
	}
	if err := c.attributes(n, &x, y); err != nil {
		return nil, err
	}
	return c.pairs(n, &x, y)
}

// label compares the name, the keys and the flags of a draft node.
func (c *comparer) label(n *draftNode, x *nodeState, y datacenter.Node) error {
	s := c.w.s
	same := y.NameIndex() == c.names[x.name]
	if n == s.root {
		same = y.Name() == datacenter.RootName // the root of the file may have another name
	}
	if !same || y.Flags() != x.flags || !slices.Equal(c.keys[x.key], c.keysOf(y)) {
		return differs(y, "want %s with the keys %v and the flags %d", s.name(x.name), s.definition(x.key), x.flags)
	}
	return nil
}

// keysOf returns the key definition of a node of g.
func (c *comparer) keysOf(y datacenter.Node) datacenter.KeyDefinition {
	if i := int(y.KeyIndex()); i < len(c.gKeys) {
		return c.gKeys[i]
	}
	return nil
}

// attributes compares the attributes of a draft node.
func (c *comparer) attributes(n *draftNode, x *nodeState, y datacenter.Node) error {
	if !x.changed {
		if c.spliced != nil && n.base.Form().HasSameAttributes(y.Form()) {
			return nil
		}
		return c.told(c.SameAttributes(n.base, y))
	}
	if count := x.attrCount(); count != y.AttributeCount() {
		return differs(y, "%d attributes instead of %d", y.AttributeCount(), count)
	}
	var addrs []datacenter.Address
	for i := range x.attrs {
		a := &x.attrs[i]
		if a.dead {
			continue
		}
		got, ok, err := y.Attribute(c.names[a.name])
		if err != nil {
			return err
		}
		if !ok || c.spliced != nil && !got.Form().IsStoredAs(c.w.stored[n].attrs[len(addrs)]) {
			return differs(y, "%s is missing, or stored otherwise", c.w.s.name(a.name))
		}
		addrs = append(addrs, got.Address())
		if err := c.attribute(a, y, got); err != nil {
			return err
		}
	}
	if c.spliced != nil {
		c.w.stored[n].addrs = addrs
	}
	return nil
}

// attribute compares the value of an attribute. If g was spliced, one that stayed was compared as it is
// stored.
func (c *comparer) attribute(a *draftAttribute, y datacenter.Node, got datacenter.Attribute) error {
	if a.changed {
		v, err := got.Value()
		if err == nil && v != a.value {
			err = differs(y, "%s is not %q", got.Name(), a.value.Text())
		}
		return err
	}
	if c.spliced != nil {
		return nil
	}
	want, err := c.f.Attribute(a.addr)
	if err != nil {
		return err
	}
	if same, err := c.SameValue(want, got); same || err != nil {
		return err
	}
	return differs(y, "%s is not what it was", got.Name())
}

// pairs returns the children of a draft node that have to be compared, each with that of y, the node that
// the draft node became: all, or only draft nodes if g was spliced, in which the others are equal if they
// are stored as they should be. It ignores placeholders of y.
func (c *comparer) pairs(n *draftNode, x *nodeState, y datacenter.Node) ([]pair, error) {
	order, i := c.w.orders[n], 0
	var pairs []pair
	for child, err := range y.Children() {
		if err != nil {
			return nil, err
		}
		if i == len(order) {
			return nil, differs(y, "more than the %d children that it had", len(order))
		}
		k := &x.kids[order[i]]
		if c.spliced != nil && !child.Form().IsStoredAs(c.w.stored[n].kids[i]) {
			return nil, differs(child, "it is stored otherwise")
		}
		if c.spliced == nil || k.node != nil {
			pairs = append(pairs, pair{k, child})
		}
		i++
	}
	if i < len(order) {
		return nil, differs(y, "%d children instead of %d", i, len(order))
	}
	return pairs, nil
}
