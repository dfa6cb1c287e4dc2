package datacenter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// comparer compares a Draft with the file, g, that it was written to.
type comparer struct {
	*Comparer
	w *Written
	s *Snapshot
	// names are g's name indexes by the Draft's, and keys its key definitions as g has them.
	names []uint16
	keys  []keyNames
}

func newComparer(ctx context.Context, w *Written, g *File, eq *equals, loading *sync.WaitGroup) *comparer {
	s := w.s
	c := &comparer{Comparer: newRunComparer(ctx, s.base.forOne(loading), g.forOne(loading), eq), w: w, s: s, names: namesIn(g, s.names)}
	for _, k := range s.keys {
		c.keys = append(c.keys, asWritten(k, c.names))
	}
	if w.reordered {
		c.order = newSiblingOrder(s.base)
	}
	return c
}

// told makes an error of what a Comparer found out.
func (c *comparer) told(same bool, err error) error {
	if err != nil || same {
		return err
	}
	return differs(c.at, c.format, c.args...)
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
	return c.told(c.Same(x, y))
}

// draftAttributes compares those of a draft node.
func (c *comparer) draftAttributes(n *draftNode, x *nodeState, y Node) error {
	if !x.changed {
		return c.told(c.SameAttributes(c.s.baseOf(n), y))
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
		return c.told(c.attribute(want.raw(), got.raw(), y))
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
