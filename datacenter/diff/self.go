package diff

import (
	"strconv"

	"lorefs/datacenter"
)

// The types of values that are not those of attributes, and the one whose text is
// quoted.
const (
	typeKeys   = "keys"
	typeFlags  = "flags"
	typeString = "string"
)

// self tells what differs between two nodes themselves.
func (c *comparer) self(x, y datacenter.Node) error {
	if c.visitor != nil {
		return c.visitSelf(x, y)
	}
	if !c.opts.IgnoreFlags && x.Flags() != y.Flags() {
		if err := c.emitNode(FlagsChanged, flagsValue(x), flagsValue(y)); err != nil {
			return err
		}
	}
	if !c.opts.IgnoreKeys && c.a.keysOf(x) != c.b.keysOf(y) {
		if err := c.emitNode(KeysChanged, keysValue(x), keysValue(y)); err != nil {
			return err
		}
	}
	if x.AttributeCount() == y.AttributeCount() {
		if same, err := c.sameAttributes(x, y); same || err != nil {
			return err
		}
	}
	return c.attributes(x, y)
}

func flagsValue(n datacenter.Node) Value {
	return Value{Type: typeFlags, Text: strconv.Itoa(int(n.Flags()))}
}

func keysValue(n datacenter.Node) Value { return Value{Type: typeKeys, Text: n.Keys().String()} }

// attributes tells what differs between the attributes of two nodes.
func (c *comparer) attributes(x, y datacenter.Node) error {
	if err := c.readAttributes(x, y); err != nil {
		return err
	}
	for i, j := 0, 0; i < len(c.x) || j < len(c.y); {
		var err error
		switch {
		case j == len(c.y) || i < len(c.x) && c.x[i].name < c.y[j].name:
			err = c.loneAttribute(c.a, x, c.x[i].Attribute, AttributeRemoved)
			i++
		case i == len(c.x) || c.y[j].name < c.x[i].name:
			err = c.loneAttribute(c.b, y, c.y[j].Attribute, AttributeAdded)
			j++
		default:
			err = c.attribute(x, y, c.x[i].Attribute, c.y[j].Attribute)
			i++
			j++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loneAttribute tells of an attribute that only one side has.
func (c *comparer) loneAttribute(s *side, n datacenter.Node, a datacenter.Attribute, kind Kind) error {
	path, err := s.path.Attribute(n, a.NameIndex())
	if err != nil {
		return err
	}
	v, err := valueOf(a)
	if err != nil {
		return err
	}
	d := Difference{Kind: kind, Path: path, New: v}
	if kind == AttributeRemoved {
		d.Old, d.New = v, Value{}
	}
	return c.emit(d)
}

// attribute compares p, of x, with q, of y.
func (c *comparer) attribute(x, y datacenter.Node, p, q datacenter.Attribute) error {
	if same, err := c.sameValue(p, q); same || err != nil {
		return err
	}
	d := Difference{Kind: AttributeChanged}
	var err error
	if d.Path, err = c.a.path.Attribute(x, p.NameIndex()); err != nil {
		return err
	}
	now, err := c.b.path.Attribute(y, q.NameIndex())
	if err != nil {
		return err
	}
	if now != d.Path {
		d.NewPath = now
	}
	if d.Old, err = valueOf(p); err != nil {
		return err
	}
	if d.New, err = valueOf(q); err != nil {
		return err
	}
	return c.emit(d)
}

func valueOf(a datacenter.Attribute) (Value, error) {
	text, err := a.AppendText(nil)
	return Value{Type: a.Type().String(), Text: string(text)}, err
}
