package diff

import (
	"strconv"

	"lorefs/datacenter"
)

// The types of values that are not attributes, and the type whose text is quoted.
const (
	typeKeys   = "keys"
	typeFlags  = "flags"
	typeString = "string"
)

// self compares two nodes themselves.
func (c *comparer) self(x, y datacenter.Node) error {
	if c.visitor != nil {
		return c.visitSelf(x, y)
	}
	if !c.SameFlags(x, y) {
		if err := c.emitNode(FlagsChanged, flagsValue(x), flagsValue(y)); err != nil {
			return err
		}
	}
	if !c.SameKeys(x, y) {
		if err := c.emitNode(KeysChanged, keysValue(x), keysValue(y)); err != nil {
			return err
		}
	}
	if same, err := c.SameAttributes(x, y); same || err != nil {
		return err
	}
	return c.attributes(x, y)
}

func flagsValue(n datacenter.Node) Value {
	return Value{Type: typeFlags, Text: strconv.Itoa(int(n.Flags()))}
}

func keysValue(n datacenter.Node) Value { return Value{Type: typeKeys, Text: n.Keys().String()} }

// attributes compares the attributes of two nodes.
func (c *comparer) attributes(x, y datacenter.Node) error {
	var err error
	if c.x, err = c.a.attributes(x, c.x[:0]); err != nil {
		return err
	}
	if c.y, err = c.b.attributes(y, c.y[:0]); err != nil {
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

// loneAttribute reports an attribute that only one side has.
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

// attribute compares the attributes p of x and q of y.
func (c *comparer) attribute(x, y datacenter.Node, p, q datacenter.Attribute) error {
	if same, err := c.SameValue(p, q); same || err != nil {
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
