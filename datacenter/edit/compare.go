package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lorefs/datacenter"
)

// ErrDiffers means that a file is not what should have been written.
var ErrDiffers = errors.New("it is not what was to be written")

// Compare checks that g, opened anew from what Write wrote, holds the edited tree: every
// name, key, flag and value, and the order of siblings, whatever the layout. Runs that
// parents share in both files are compared once, so the work grows with the stored nodes.
// The error for a difference matches [ErrDiffers] and names the node.
func (w *Written) Compare(ctx context.Context, g *datacenter.File) error {
	if err := w.compareCounts(g); err != nil {
		return err
	}
	return w.compareSheets(ctx, g)
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

// comparer compares a Draft with g, the file to which it was written.
type comparer struct {
	*datacenter.Comparer
	w    *Written
	s    *Snapshot
	f, g *datacenter.File
	// names has g's name index for each of the Draft's.
	names []uint16
	// keys are the key definitions of the Draft, and gKeys those of g.
	keys, gKeys []datacenter.KeyDefinition
}

// newComparer returns a comparer that reads the base as f.
func newComparer(ctx context.Context, w *Written, f, g *datacenter.File) *comparer {
	c := &comparer{
		w: w, s: w.s, f: f, g: g,
		names: g.NameIndexes(w.s.names), gKeys: g.KeyDefinitions(),
	}
	for i := range w.s.keys {
		c.keys = append(c.keys, w.s.definition(uint16(i)))
	}
	c.Comparer = datacenter.NewComparer(ctx, c.f, c.g)
	c.Reordered = w.reordered
	return c
}

// beside returns a copy for another goroutine.
func (c *comparer) beside(ctx context.Context, g *datacenter.File, loading *sync.WaitGroup) *comparer {
	x := *c
	x.f, x.g = c.s.base.ReadAhead(loading), g.ReadAhead(loading)
	x.Comparer = c.Beside(ctx, x.f, x.g)
	return &x
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

// draftNode compares a draft node with the node of g that it became.
func (c *comparer) draftNode(n *draftNode, y datacenter.Node) error {
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
func (c *comparer) draftSelf(n *draftNode, x *nodeState, y datacenter.Node) error {
	if err := c.label(n, x, y); err != nil {
		return err
	}
	return c.draftAttributes(n, x, y)
}

// label compares the name, the keys and the flags of a draft node.
func (c *comparer) label(n *draftNode, x *nodeState, y datacenter.Node) error {
	same := y.NameIndex() == c.names[x.name]
	if n == c.s.root {
		same = y.Name() == datacenter.RootName // the root of the file may have another name
	}
	if !same || y.Flags() != x.flags || !slices.Equal(c.keys[x.key], c.keysOf(y)) {
		return differs(y, "want %s with the keys %v and the flags %d", c.s.name(x.name), c.s.definition(x.key), x.flags)
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

func (c *comparer) draftChild(k *draftChild, y datacenter.Node) error {
	if k.node != nil {
		return c.draftNode(k.node, y)
	}
	x, err := c.f.Node(k.addr)
	if err != nil {
		return err
	}
	return c.told(c.Same(x, y))
}

// draftAttributes compares the attributes of a draft node.
func (c *comparer) draftAttributes(n *draftNode, x *nodeState, y datacenter.Node) error {
	if !x.changed {
		return c.told(c.SameAttributes(n.base, y))
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

func (c *comparer) draftAttribute(a *draftAttribute, y datacenter.Node, got datacenter.Attribute) error {
	if !a.changed {
		want, err := c.f.Attribute(a.addr)
		if err != nil {
			return err
		}
		if same, err := c.SameValue(want, got); same || err != nil {
			return err
		}
		return differs(y, "%s is not what it was", got.Name())
	}
	return newValue(a, y, got)
}

// newValue compares the value of a changed attribute.
func newValue(a *draftAttribute, y datacenter.Node, got datacenter.Attribute) error {
	v, err := got.Value()
	if err != nil {
		return err
	}
	if v != a.value {
		return differs(y, "%s is not %q", got.Name(), a.value.Text())
	}
	return nil
}
