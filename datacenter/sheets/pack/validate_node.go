package pack

import (
	"errors"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/repeat"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// validated is an open node.
type validated struct {
	of    *xsd.ElementType // nil if the schema does not know the node
	needs *needs           // of that type
	// last is the place in of.Children of the child that was met last.
	last int
	// met counts each of of.Children, and enough those of the required ones that are there
	// as often as required.
	met    map[int]int
	enough int
	// known has what the memory knows of the node, size how large it is so far, and problems is
	// how many there were when it began.
	known    validNode
	size     size
	problems int
}

// needs are the places of a type's required attributes and children.
type needs struct {
	attributes, children []int
	number               uint32 // of the type, among those that the validator has met
	// next has the place of the attribute that came first in the last tag, and behind it, for
	// each attribute, that of the one that followed it last. Most sheets have their attributes
	// in one order, which is not the schema's.
	next []int
	// shapes are valid start tags of children.
	shapes repeat.Shapes[validShape]
	// has has the number of the last node with each attribute.
	has []int64
}

// needsOf computes the needs of a type once, and not for each node.
func (v *validator) needsOf(of *xsd.ElementType) *needs {
	n := v.needs[of]
	if n != nil || of == nil {
		return n
	}
	n = &needs{number: uint32(len(v.needs)), next: make([]int, len(of.Attributes)+1), has: make([]int64, len(of.Attributes))}
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
	v.numbered = append(v.numbered, n)
	return n
}

// begin checks a node's name, place and attributes.
func (v *validator) begin() error {
	n := v.p.Node()
	if v.p.Recalled() {
		return v.again(n.Offset)
	}
	at, of, err := v.enter(n)
	if err != nil {
		return err
	}
	before := v.problems
	need := v.needsOf(of)
	v.push(of, need)
	v.count(len(n.Attributes))
	if err := v.tell(n, of); err != nil {
		return err
	}
	if of != nil {
		if err := v.attributes(n, of, need); err != nil {
			return err
		}
	}
	v.remember(at, of != nil && v.problems == before && len(v.open) > 1, false)
	return nil
}

// attributes checks those of a node.
func (v *validator) attributes(n *xmlsheet.Node, of *xsd.ElementType, need *needs) error {
	v.locate(n, of, need)
	if err := v.required(n, of, need); err != nil {
		return err
	}
	for i := range n.Attributes {
		if err := v.attribute(&n.Attributes[i], of, v.places[i]); err != nil {
			return err
		}
	}
	return nil
}

// locate finds the places of a node's attributes among those of its type. A place is -1 if the
// type has no such attribute.
func (v *validator) locate(n *xmlsheet.Node, of *xsd.ElementType, need *needs) {
	v.places = v.places[:0]
	v.nodes++
	before := 0
	for i := range n.Attributes {
		at := of.AttributeIndex(n.Attributes[i].Name, need.next[before])
		v.places = append(v.places, at)
		if at < 0 {
			continue
		}
		need.has[at] = v.nodes
		need.next[before] = at
		before = at + 1
	}
}

// push opens a node. It reuses the memory of a node of the same depth.
func (v *validator) push(of *xsd.ElementType, need *needs) {
	const most = 1 << 10 // clearing a larger map takes long each time
	n := validated{of: of, needs: need}
	if len(v.open) < cap(v.open) {
		n.met = v.open[:len(v.open)+1][len(v.open)].met
	}
	if n.met == nil || len(n.met) > most {
		n.met = map[int]int{}
	}
	clear(n.met)
	v.open = append(v.open, n)
}

// enter returns the type of a node, or nil if the schema does not know it, and its place
// among the children of its parent's type.
func (v *validator) enter(n *xmlsheet.Node) (at int, of *xsd.ElementType, err error) {
	if len(v.open) == 0 {
		of, err = v.sheet(n)
		return 0, of, err
	}
	parent := &v.open[len(v.open)-1]
	if parent.of == nil {
		return 0, nil, nil
	}
	at = parent.of.ChildIndex(n.Name, parent.last)
	if at < 0 {
		return 0, nil, v.problem(n.Offset, false, "the element %s is not in the schema", shown.Quote(n.Name))
	}
	return at, parent.of.Children[at].Type, v.child(parent, at, n.Offset)
}

// child checks the place of a child, which has the type at that place of its parent's.
func (v *validator) child(parent *validated, at, offset int) error {
	c := &parent.of.Children[at]
	if at < parent.last {
		err := v.problem(offset, false, "the element %s has to be before %s", shown.Quote(c.Name), shown.Quote(parent.of.Children[parent.last].Name))
		if err != nil {
			return err
		}
	}
	parent.last = max(parent.last, at)
	parent.met[at]++
	if c.Min > 0 && parent.met[at] == c.Min {
		parent.enough++
	}
	if c.Max != xsd.Unbounded && parent.met[at] == c.Max+1 {
		return v.problem(offset, false, "element number %d of the name %s: the schema has %d at most", parent.met[at], shown.Quote(c.Name), c.Max)
	}
	return nil
}

// sheet finds the type of a sheet.
func (v *validator) sheet(n *xmlsheet.Node) (*xsd.ElementType, error) {
	schema, err := v.schemas.of(v.path, string(n.Name))
	switch {
	case err == nil && schema == nil:
		return nil, v.problem(n.Offset, false, "the schema %s%s is not beside the sheet", spell.EscapeName(string(n.Name)), schemaSuffix)
	case err == nil:
		return schema.Root, nil
	}
	p, ok := refusal(err)
	if !ok {
		return nil, err
	}
	v.problems++
	return nil, v.pass(finding{problem: p, schema: err})
}

// required reports missing attributes of a node that was located.
func (v *validator) required(n *xmlsheet.Node, of *xsd.ElementType, need *needs) error {
	for _, i := range need.attributes {
		a := &of.Attributes[i]
		if need.has[i] == v.nodes {
			continue
		}
		if err := v.problem(n.Offset, false, "the element %s lacks the attribute %s", shown.Quote(n.Name), shown.Quote(a.Name)); err != nil {
			return err
		}
	}
	return nil
}

// attribute checks an attribute's name and value. at is its place in the schema, or -1.
func (v *validator) attribute(a *xmlsheet.Attribute, of *xsd.ElementType, at int) error {
	t := datacenter.String
	if at >= 0 {
		t = of.Attributes[at].Type
	} else if err := v.problem(a.Offset, false, "the attribute %s is not in the schema", shown.Quote(a.Name)); err != nil {
		return err
	}
	if a.Type != 0 {
		t = a.Type
	}
	if t == datacenter.String {
		return nil
	}
	if _, err := infer.Number(t, a.Value); errors.Is(err, datacenter.ErrValue) {
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
		v.job.attributes++
		n.size.attributes++
	}
	if n.of != nil {
		if err := v.content(&n, text); err != nil {
			return err
		}
	}
	v.forget(&n)
	return nil
}

// content checks what is between the tags of a node.
func (v *validator) content(n *validated, text bool) error {
	if text && !n.of.Text && !v.p.IsValue() {
		if err := v.problem(v.p.TextOffset(), false, "text in an element that has none in the schema"); err != nil {
			return err
		}
	}
	need := n.needs.children
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
