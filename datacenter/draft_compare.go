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
func (s *Saving) Compare(ctx context.Context, g *File) error {
	d := s.d
	want := s.opts.Header
	want.Version = s.opts.Layout.Version()
	if s.opts.Layout == LayoutV3 {
		want.Revision = g.header.Revision // it has no room for one
	}
	// As bytes: a timestamp may be no number, which equals nothing.
	if !bytes.Equal(g.header.append(nil, LayoutV6X64), want.append(nil, LayoutV6X64)) {
		return fmt.Errorf("%w: the header is %+v, not %+v", ErrDiffers, g.header, want)
	}
	if n := int64(g.entries[0]); n != d.entries {
		return fmt.Errorf("%w: %d nodes and attributes, not %d", ErrDiffers, n, d.entries)
	}
	root, err := g.Root()
	if err != nil {
		return err
	}
	return s.compareSheets(ctx, g, root)
}

// comparer compares a Draft with the file, g, that it was written to.
type comparer struct {
	*Comparer
	s *Saving
}

func newComparer(ctx context.Context, s *Saving, g *File, eq *equals, loading *sync.WaitGroup) *comparer {
	c := &comparer{newRunComparer(ctx, s.d.file.forOne(loading), g.forOne(loading), s.d.names, s.d.keys, eq), s}
	if s.reordered {
		c.order = s.d.newSiblingOrder()
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
	if err := c.draftSelf(n, y); err != nil {
		return err
	}
	pairs, err := c.s.pair(n, y)
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
func (c *comparer) draftSelf(n *draftNode, y Node) error {
	d := c.s.d
	same := y.raw.name == c.names[n.name]
	if n == d.root {
		same = y.Name() == rootName // the file's may have another
	}
	if !same || y.raw.flags != uint8(n.flags) || !c.sameKeys(n.key, y) {
		return differs(y, "want %s with the keys %v and the flags %d", d.name(n.name), d.definition(n.key), n.flags)
	}
	return c.draftAttributes(n, y)
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
func (c *comparer) draftAttributes(n *draftNode, y Node) error {
	if !n.changed {
		return c.told(c.SameAttributes(n.base, y))
	}
	attrs, _ := n.counts()
	if attrs != y.AttributeCount() {
		return differs(y, "%d attributes instead of %d", y.AttributeCount(), attrs)
	}
	for i := range n.attrs {
		a := &n.attrs[i]
		if a.dead {
			continue
		}
		got, ok, err := y.Attribute(c.names[a.name])
		if err != nil {
			return err
		}
		if !ok {
			return differs(y, "%s is missing", c.s.d.name(a.name))
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
