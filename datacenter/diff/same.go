package diff

import (
	"bytes"
	"math"

	"lorefs/datacenter"
)

// sameNode tells whether two nodes of one name are equal, with all below them.
func (c *comparer) sameNode(x, y datacenter.Node) (bool, error) {
	if !c.sameMarks(x, y) || x.AttributeCount() != y.AttributeCount() {
		return false, nil
	}
	if same, err := c.sameAttributes(x, y); !same || err != nil {
		return false, err
	}
	return c.sameChildren(x, y)
}

// sameMarks compares keys and flags.
func (c *comparer) sameMarks(x, y datacenter.Node) bool {
	return (c.opts.IgnoreFlags || x.Flags() == y.Flags()) &&
		(c.opts.IgnoreKeys || c.a.keysOf(x) == c.b.keysOf(y))
}

func (c *comparer) sameChildren(x, y datacenter.Node) (bool, error) {
	if c.equal.Children(x, y) {
		return true, nil
	}
	if err := c.ctx.Err(); err != nil {
		return false, err
	}
	xs, err := c.a.children(x, c.take())
	defer func() { c.give(xs) }()
	if err != nil {
		return false, err
	}
	ys, err := c.b.children(y, c.take())
	defer func() { c.give(ys) }()
	if err != nil || len(xs) != len(ys) {
		return false, err
	}
	for i := range xs {
		if xs[i].name != ys[i].name {
			return false, nil
		}
		if same, err := c.sameNode(xs[i].node, ys[i].node); !same || err != nil {
			return false, err
		}
	}
	c.equal.NoteChildren(x, y)
	return true, nil
}

// sameAttributes compares the attributes of two nodes that have equally many.
func (c *comparer) sameAttributes(x, y datacenter.Node) (bool, error) {
	if c.equal.Attributes(x, y) {
		return true, nil
	}
	if err := c.readAttributes(x, y); err != nil {
		return false, err
	}
	for i := range c.x {
		if c.x[i].name != c.y[i].name {
			return false, nil
		}
		if same, err := c.sameValue(c.x[i].Attribute, c.y[i].Attribute); !same || err != nil {
			return false, err
		}
	}
	c.equal.NoteAttributes(x, y)
	return true, nil
}

func (c *comparer) readAttributes(x, y datacenter.Node) (err error) {
	if c.x, err = c.a.attributes(x, c.x[:0]); err != nil {
		return err
	}
	c.y, err = c.b.attributes(y, c.y[:0])
	return err
}

// sameValue compares types and values; floats as bits, since a NaN equals nothing.
func (c *comparer) sameValue(x, y datacenter.Attribute) (bool, error) {
	if x.Type() != y.Type() {
		return false, nil
	}
	switch x.Type() {
	case datacenter.Int:
		return x.Int() == y.Int(), nil
	case datacenter.Float:
		return math.Float32bits(x.Float()) == math.Float32bits(y.Float()), nil
	case datacenter.Bool:
		return x.Bool() == y.Bool(), nil
	}
	if c.equal.Strings(x, y) {
		return true, nil
	}
	if err := c.readTexts(x, y); err != nil || !bytes.Equal(c.xText, c.yText) {
		return false, err
	}
	c.equal.NoteStrings(x, y)
	return true, nil
}

func (c *comparer) readTexts(x, y datacenter.Attribute) (err error) {
	if c.xText, err = x.AppendText(c.xText[:0]); err != nil {
		return err
	}
	c.yText, err = y.AppendText(c.yText[:0])
	return err
}
