package diff

import "lorefs/datacenter"

// self compares two nodes themselves.
func (c *comparer) self(x, y datacenter.Node) error {
	if c.visitor != nil {
		return c.visitSelf(x, y)
	}
	if !c.SameFlags(x, y) {
		if err := c.emitNode(FlagsChanged, FlagsValue(x.Flags()), FlagsValue(y.Flags())); err != nil {
			return err
		}
	}
	if !c.SameKeys(x, y) {
		if err := c.emitNode(KeysChanged, KeysValue(x.Keys()), KeysValue(y.Keys())); err != nil {
			return err
		}
	}
	if same, err := c.SameAttributes(x, y); same || err != nil {
		return err
	}
	return c.attributes(x, y)
}

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
			err = c.loneAttribute(c.a, x, c.x[i].Attribute)
			i++
		case i == len(c.x) || c.y[j].name < c.x[i].name:
			err = c.loneAttribute(c.b, y, c.y[j].Attribute)
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
func (c *comparer) loneAttribute(s *side, n datacenter.Node, a datacenter.Attribute) error {
	path, err := s.path.Attribute(n, a.NameIndex())
	if err != nil {
		return err
	}
	old, err := a.Value()
	if err != nil {
		return err
	}
	var now datacenter.Value
	if s == c.b {
		old, now = now, old
	}
	return c.emit(OfAttribute(path, old, now))
}

// attribute compares the attributes p of x and q of y.
func (c *comparer) attribute(x, y datacenter.Node, p, q datacenter.Attribute) error {
	if same, err := c.SameValue(p, q); same || err != nil {
		return err
	}
	path, err := c.a.path.Attribute(x, p.NameIndex())
	if err != nil {
		return err
	}
	newPath, err := c.b.path.Attribute(y, q.NameIndex())
	if err != nil {
		return err
	}
	old, err := p.Value()
	if err != nil {
		return err
	}
	now, err := q.Value()
	if err != nil {
		return err
	}
	d := OfAttribute(path, old, now)
	if newPath != path {
		d.NewPath = newPath
	}
	return c.emit(d)
}
