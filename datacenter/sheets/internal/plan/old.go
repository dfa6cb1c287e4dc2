package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/internal/xmlsheet"
)

// oldNode is a node of the sheet: of the file or, if touched, of the draft. If it was removed, it is as
// the base of the draft has it, and comes back.
type oldNode struct {
	number           edit.Number
	node             datacenter.Node
	touched, removed bool
}

// oldKid is a child of an oldNode.
type oldKid struct {
	name vocab.NameID
	oldNode
}

// oldNode returns a node by its number. addr is its place in the file, if it has one.
func (p *planner) oldNode(n edit.Number, addr datacenter.Address, removed bool) (oldNode, error) {
	o := oldNode{number: n, removed: removed}
	if o.touched = p.reader(o).Touched(n); o.touched {
		return o, nil
	}
	var err error
	o.node, err = p.file.Node(addr)
	return o, err
}

// reader reads touched nodes.
type reader interface {
	Touched(n edit.Number) bool
	Node(n edit.Number) (edit.Node, bool)
	Attribute(n edit.Number, name string) (edit.Entry, bool)
	Attributes(n edit.Number) ([]edit.Entry, bool)
	OrderedChildren(n edit.Number) ([]edit.Entry, bool, error)
}

func (p *planner) reader(o oldNode) reader {
	if o.removed {
		return p.saved()
	}
	return p.draft
}

// gone returns the error for a node that was removed.
func gone(n edit.Number) error {
	return fmt.Errorf("datacenter: node %d: %w", n, edit.ErrGone)
}

// oldAttributes appends the attributes of a node, including __value__.
func (p *planner) oldAttributes(o oldNode, dst []vocab.Attribute) ([]vocab.Attribute, error) {
	if !o.touched {
		for a, err := range o.node.Attributes() {
			if err != nil {
				return dst, err
			}
			dst = append(dst, vocab.Attribute{Name: vocab.NameID(a.NameIndex()), Stored: a})
		}
		return dst, nil
	}
	from := len(dst)
	entries, ok := p.reader(o).Attributes(o.number)
	if !ok {
		return dst, gone(o.number)
	}
	for i := range entries {
		e := &entries[i]
		a, err := vocab.OfEntry(p.file, e, p.names.stored(e.NameIndex, e.Name))
		if err != nil {
			return dst, err
		}
		dst = append(dst, a)
	}
	slices.SortStableFunc(dst[from:], func(a, b vocab.Attribute) int { return cmp.Compare(a.Order, b.Order) })
	return dst, nil
}

// oldKids appends the children of a node in the order of a sheet.
func (p *planner) oldKids(o oldNode, dst []oldKid) ([]oldKid, error) {
	from := len(dst)
	var err error
	if o.touched {
		dst, err = p.draftKids(o, dst)
	} else {
		dst, err = storedKids(o, dst)
	}
	if err != nil {
		return dst, err
	}
	slices.SortStableFunc(dst[from:], func(a, b oldKid) int {
		if a.name == b.name {
			return 0
		}
		return p.names.compare(a.name, b.name)
	})
	return dst, nil
}

func storedKids(o oldNode, dst []oldKid) ([]oldKid, error) {
	number := o.number + 1 + edit.Number(o.node.AttributeCount())
	for c, err := range o.node.Children() {
		if err != nil {
			return dst, err
		}
		dst = append(dst, oldKid{vocab.NameID(c.NameIndex()), oldNode{number: number, node: c, removed: o.removed}})
		number += edit.Number(c.Entries())
	}
	return dst, nil
}

func (p *planner) draftKids(o oldNode, dst []oldKid) ([]oldKid, error) {
	entries, ok, err := p.reader(o).OrderedChildren(o.number)
	if err == nil && !ok {
		err = gone(o.number)
	}
	if err != nil {
		return dst, err
	}
	for i := range entries {
		e := &entries[i]
		k, err := p.oldNode(e.Number, e.Addr, o.removed)
		if err != nil {
			return dst, err
		}
		dst = append(dst, oldKid{p.names.stored(e.NameIndex, e.Name), k})
	}
	return dst, nil
}

// oldKeys returns the key definition of a node, and its flags.
func (p *planner) oldKeys(o oldNode) (datacenter.KeyDefinition, datacenter.KeyFlags, error) {
	if !o.touched {
		return o.node.Keys(), o.node.Flags(), nil
	}
	n, ok := p.reader(o).Node(o.number)
	if !ok {
		return nil, 0, gone(o.number)
	}
	return n.Keys, n.Flags, nil
}

// oldValue returns the __value__ of a node, in scratch.
func (p *planner) oldValue(o oldNode) (text []byte, ok bool, err error) {
	if !o.touched {
		if p.names.voc.Value == 0 {
			return nil, false, nil
		}
		a, ok, err := o.node.Attribute(uint16(p.names.voc.Value))
		if err != nil || !ok {
			return nil, false, err
		}
		p.scratch, err = a.AppendText(p.scratch[:0])
		return p.scratch, true, err
	}
	e, ok := p.reader(o).Attribute(o.number, spell.ValueName)
	if !ok {
		return nil, false, nil
	}
	if e.Value.Type() != 0 {
		return append(p.scratch[:0], e.Value.Text()...), true, nil
	}
	a, err := p.file.Attribute(e.Addr)
	if err == nil {
		p.scratch, err = a.AppendText(p.scratch[:0])
	}
	return p.scratch, true, err
}

// sameValue reports whether a text is the value of an attribute. If the sheet gives a type,
// it must be the attribute's.
func (p *planner) sameValue(a *vocab.Attribute, text []byte, typ datacenter.Type) (bool, error) {
	t := a.Type()
	if typ != 0 && typ != t {
		return false, nil
	}
	var err error
	if p.scratch, err = a.AppendText(p.scratch[:0]); err != nil {
		return false, err
	}
	if bytes.Equal(p.scratch, text) {
		return true, nil
	}
	if t == datacenter.String {
		return false, nil
	}
	v, err := datacenter.ParseValue(t, string(text))
	if err != nil {
		return false, nil //nolint:nilerr // the text differs, and setting it reports what is wrong
	}
	same := v.Text() == string(p.scratch)
	p.respelled = p.respelled || same
	return same, nil
}

// sameSelf reports whether a node has the same attributes (without __value__), keys and
// flags as a node of the text.
func (p *planner) sameSelf(o oldNode, n *xmlsheet.Node) (bool, error) {
	if !o.touched && (o.node.Flags() != n.Flags || o.node.AttributeCount() < len(n.Attributes)) {
		return false, nil
	}
	var err error
	if p.same, err = p.oldAttributes(o, p.same[:0]); err != nil {
		return false, err
	}
	count, next := 0, 0
	for i := range p.same {
		a := &p.same[i]
		name := p.names.name(a.Name)
		if name == spell.ValueName {
			continue
		}
		count++
		b := findAttribute(n, name, next)
		if b < 0 {
			return false, nil
		}
		next = b + 1
		if same, err := p.sameValue(a, n.Attributes[b].Value, n.Attributes[b].Type); err != nil || !same {
			return false, err
		}
	}
	if count < len(n.Attributes) {
		return false, nil
	}
	return p.sameKeys(o, n)
}

// findAttribute returns the place of an attribute in the text, which is probably likely; it
// is -1 if there is none.
func findAttribute(n *xmlsheet.Node, name string, likely int) int {
	if likely < len(n.Attributes) && string(n.Attributes[likely].Name) == name {
		return likely
	}
	const few = 64 // for more attributes, only the likely order is tried
	if len(n.Attributes) > few {
		return -1
	}
	return slices.IndexFunc(n.Attributes, func(a xmlsheet.Attribute) bool { return string(a.Name) == name })
}

func (p *planner) sameKeys(o oldNode, n *xmlsheet.Node) (bool, error) {
	if !o.touched && !n.HasKeys {
		return true, nil // the flags were compared above
	}
	keys, flags, err := p.oldKeys(o)
	return flags == n.Flags && (!n.HasKeys || slices.Equal(keys, n.Keys)), err
}
