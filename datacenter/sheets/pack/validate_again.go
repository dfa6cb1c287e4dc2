package pack

import (
	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
)

// validNode describes a node in which nothing is wrong. Its names and keys have been passed on:
// they follow from its bytes and from its parent's type.
type validNode struct {
	needs      uint32 // the number of its type's
	at         uint32 // the place of its type among the children of its parent's
	attributes uint32 // of its start tag
	size       size   // once it has ended
}

// validShape describes start tags of one shape whose values fit.
type validShape struct {
	validNode
	types []datacenter.Type // of the values
}

// fit reports whether values have their types.
func (s *validShape) fit(values [][]byte) bool {
	for i, t := range s.types {
		if t == datacenter.String {
			continue
		}
		if _, err := infer.Number(t, values[i]); err != nil {
			return false
		}
	}
	return true
}

// recall finds a node that has been read before below a parent of the same type, or a start tag that
// differs from one only in its values.
func (v *validator) recall(data []byte, at int) (length int, whole bool) {
	parent := &v.open[len(v.open)-1]
	if parent.of == nil {
		return 0, false
	}
	v.shaped = false
	if length, whole = v.memory.Find(at, parent.needs.number); length > 0 {
		v.next = *v.memory.Known()
		return length, whole
	}
	shape, length := parent.needs.shapes.Match(data[at:], &v.values)
	if length == 0 || !shape.fit(v.values.List) {
		return 0, false
	}
	v.next, v.shaped = shape.validNode, true
	return length, false
}

// again is begin for a start tag that was recalled.
func (v *validator) again(offset int) error {
	n := &v.next
	parent := &v.open[len(v.open)-1]
	err := v.child(parent, int(n.at), offset)
	v.push(parent.of.Children[n.at].Type, v.numbered[n.needs])
	v.count(int(n.attributes))
	v.remember(int(n.at), true, true)
	return err
}

// passOver is begin and end for a node that was recalled.
func (v *validator) passOver() error {
	n := &v.next
	parent := &v.open[len(v.open)-1]
	v.job.nodes += int64(n.size.nodes)
	v.job.attributes += int64(n.size.attributes)
	parent.size.add(n.size)
	v.memory.Pass()
	return v.child(parent, int(n.at), v.p.Offset()+len("<"))
}

// remember remembers the start tag of the newest node, whose type has a place among the children of its
// parent's. Nothing must be wrong in it if it is valid.
func (v *validator) remember(at int, valid, recalled bool) {
	top := len(v.open) - 1
	n := &v.open[top]
	n.problems = v.problems
	known, group := validNode{at: uint32(at), attributes: n.size.attributes}, uint32(0)
	if valid {
		known.needs, group = n.needs.number, v.open[top-1].needs.number
	}
	n.known = known
	plain := valid && (recalled || v.p.Plain() != nil)
	if plain && !recalled {
		v.open[top-1].needs.shapes.Add(v.p.Shape(), validShape{known, v.typesOf(v.p.Node(), n.of)})
	}
	from := v.p.Offset()
	v.memory.Begin(from, v.p.Behind()-from, group, recalled && !v.shaped, plain, known)
}

// typesOf returns the types of the attributes of a node that were located, and do not state theirs.
func (v *validator) typesOf(n *xmlsheet.Node, of *xsd.ElementType) []datacenter.Type {
	types := make([]datacenter.Type, len(n.Attributes))
	for i := range types {
		types[i] = of.Attributes[v.places[i]].Type
	}
	return types
}

// forget ends a node, which is remembered if nothing is wrong below it.
func (v *validator) forget(n *validated) {
	if v.problems != n.problems {
		v.memory.Spoil()
	}
	n.known.size = n.size
	v.memory.End(v.p.Behind(), n.known)
	if top := len(v.open) - 1; top >= 0 {
		v.open[top].size.add(n.size)
	}
}
