package pack

import (
	"errors"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/spell"
	"lorefs/datacenter/sheets/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// validated is an open node.
type validated struct {
	of *xsd.ElementType // nil if the schema does not know the node
	// last is the place in of.Children of the child that was met last.
	last int
	// met counts each of of.Children, and enough those of the required ones that are there
	// as often as required.
	met    map[int]int
	enough int
}

// needs are the places of a type's required attributes and children.
type needs struct{ attributes, children []int }

// needsOf computes the needs of a type once, and not for each node.
func (v *validator) needsOf(of *xsd.ElementType) *needs {
	n := v.needs[of]
	if n != nil {
		return n
	}
	n = &needs{}
	for i := range of.Attributes {
		if of.Attributes[i].Required {
			n.attributes = append(n.attributes, i)
		}
	}
	for i := range of.Children {
		if of.Children[i].Min > 0 {
			n.children = append(n.children, i)
		}
	}
	v.needs[of] = n
	return n
}

// begin checks a node's name, place and attributes.
func (v *validator) begin() error {
	n := v.p.Node()
	of, err := v.enter(n)
	if err != nil {
		return err
	}
	v.push(of)
	if err := v.count(n, of); err != nil {
		return err
	}
	if of == nil {
		return nil
	}
	if err := v.required(n, of); err != nil {
		return err
	}
	for i := range n.Attributes {
		if err := v.attribute(&n.Attributes[i], of); err != nil {
			return err
		}
	}
	return nil
}

// push opens a node. It reuses the memory of a node of the same depth.
func (v *validator) push(of *xsd.ElementType) {
	const most = 1 << 10 // clearing a larger map takes long each time
	n := validated{of: of}
	if len(v.open) < cap(v.open) {
		n.met = v.open[:len(v.open)+1][len(v.open)].met
	}
	if n.met == nil || len(n.met) > most {
		n.met = map[int]int{}
	}
	clear(n.met)
	v.open = append(v.open, n)
}

// enter returns the type of a node, or nil if the schema does not know it.
func (v *validator) enter(n *xmlsheet.Node) (*xsd.ElementType, error) {
	if len(v.open) == 0 {
		return v.sheet(n)
	}
	parent := &v.open[len(v.open)-1]
	if parent.of == nil {
		return nil, nil
	}
	i := parent.of.ChildIndex(n.Name, parent.last)
	if i < 0 {
		return nil, v.problem(n.Offset, false, "the element %s is not in the schema", shown.Quote(n.Name))
	}
	c := &parent.of.Children[i]
	if i < parent.last {
		err := v.problem(n.Offset, false, "the element %s has to be before %s", shown.Quote(n.Name), shown.Quote(parent.of.Children[parent.last].Name))
		if err != nil {
			return nil, err
		}
	}
	parent.last = max(parent.last, i)
	parent.met[i]++
	if c.Min > 0 && parent.met[i] == c.Min {
		parent.enough++
	}
	if c.Max != xsd.Unbounded && parent.met[i] == c.Max+1 {
		return c.Type, v.problem(n.Offset, false, "element number %d of the name %s: the schema has %d at most", parent.met[i], shown.Quote(n.Name), c.Max)
	}
	return c.Type, nil
}

// sheet finds the type of a sheet.
func (v *validator) sheet(n *xmlsheet.Node) (*xsd.ElementType, error) {
	schema, err := v.schemas.of(v.path, string(n.Name))
	switch {
	case err == nil && schema == nil:
		return nil, v.problem(n.Offset, false, "the schema %s%s is not beside the sheet", spell.EscapeName(string(n.Name)), schemaSuffix)
	case err == nil:
		return schema.Root, nil
	case v.broken[err]:
		return nil, nil
	}
	v.broken[err] = true
	return nil, v.refused(err)
}

// required reports missing attributes.
func (v *validator) required(n *xmlsheet.Node, of *xsd.ElementType) error {
	for _, i := range v.needsOf(of).attributes {
		a := &of.Attributes[i]
		if v.p.Find([]byte(a.Name)) >= 0 {
			continue
		}
		if err := v.problem(n.Offset, false, "the element %s lacks the attribute %s", shown.Quote(n.Name), shown.Quote(a.Name)); err != nil {
			return err
		}
	}
	return nil
}

// attribute checks an attribute's name and value.
func (v *validator) attribute(a *xmlsheet.Attribute, of *xsd.ElementType) error {
	t, known := of.Attribute(string(a.Name))
	if !known {
		if err := v.problem(a.Offset, false, "the attribute %s is not in the schema", shown.Quote(a.Name)); err != nil {
			return err
		}
		t.Type = datacenter.String
	}
	if a.Type != 0 {
		t.Type = a.Type
	}
	if t.Type == datacenter.String {
		return nil
	}
	if _, err := infer.Number(t.Type, a.Value); errors.Is(err, datacenter.ErrValue) {
		return v.problem(a.Offset, true, "the attribute %s: %v", shown.Quote(a.Name), err)
	}
	return nil
}

// end checks a node's text, and whether children are missing.
func (v *validator) end() error {
	n := v.open[len(v.open)-1]
	v.open = v.open[:len(v.open)-1]
	_, text := v.p.Text()
	if text {
		v.census.attributes++
	}
	if n.of == nil {
		return nil
	}
	if text && !n.of.Text && !v.p.IsValue() {
		if err := v.problem(v.p.TextOffset(), false, "text in an element that has none in the schema"); err != nil {
			return err
		}
	}
	need := v.needsOf(n.of).children
	if n.enough == len(need) {
		return nil
	}
	for _, i := range need {
		c := &n.of.Children[i]
		if n.met[i] >= c.Min {
			continue
		}
		err := v.problem(v.p.Offset(), false, "%d elements of the name %s: the schema has %d at least", n.met[i], shown.Quote(c.Name), c.Min)
		if err != nil {
			return err
		}
	}
	return nil
}
