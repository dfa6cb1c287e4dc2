package edit

import (
	"sync"

	"lorefs/datacenter"
)

// Reader reads a Snapshot as the methods of the same names read a [Draft]: by the Draft's
// numbers, and with addresses in [Reader.First]. It is safe for concurrent use, until the
// Snapshot is closed.
type Reader struct {
	s *Snapshot
	nameTable
	// nodes returns the draft nodes. It collects them when it is called first: who asks for no node
	// doesn't need them.
	nodes func() map[Number]readNode
}

// readNode is a draft node as it was.
type readNode struct {
	*draftNode
	parent Number
	state  nodeState
}

// Reader returns a Reader. Once it is asked for a node, it takes time and memory for each draft node.
func (s *Snapshot) Reader() *Reader {
	return &Reader{s: s, nameTable: s.indexed(), nodes: sync.OnceValue(func() map[Number]readNode {
		nodes := map[Number]readNode{}
		s.readNodes(nodes, s.root, 0)
		return nodes
	})}
}

// readNodes adds a draft node with its subtree.
func (s *Snapshot) readNodes(nodes map[Number]readNode, n *draftNode, parent Number) {
	x := readNode{n, parent, s.at(n)}
	nodes[n.number] = x
	for i := range x.state.kids {
		if k := &x.state.kids[i]; k.node != nil && !k.dead {
			s.readNodes(nodes, k.node, n.number)
		}
	}
}

// First returns the file to which addresses refer.
func (r *Reader) First() *datacenter.File { return r.s.d.first }

// Base returns the file of which [Reader.Number] returns numbers.
func (r *Reader) Base() *datacenter.File { return r.s.base }

// Number returns the number in the base of the node with a number. What the base does not
// have keeps its number.
func (r *Reader) Number(n Number) (Number, error) {
	return r.s.labels.number(r.s.d, n)
}

// Touched reports whether a number has a draft node.
func (r *Reader) Touched(n Number) bool {
	_, ok := r.nodes()[n]
	return ok
}

// Node describes a draft node. ok is false if there is none with the number.
func (r *Reader) Node(n Number) (info Node, ok bool) {
	x, ok := r.nodes()[n]
	if !ok {
		return info, false
	}
	info = Node{
		Name: r.name(x.state.name), Ordinal: x.state.ordinal, Parent: x.parent,
		Keys: r.definition(x.state.key), Flags: x.state.flags, Attributes: x.state.attrCount(),
		Base: x.home, Stored: !isNone(x.home),
	}
	for i := range x.state.kids {
		if !x.state.kids[i].dead {
			info.Children++
		}
	}
	return info, true
}

// Attribute returns an attribute of a draft node.
func (r *Reader) Attribute(n Number, name string) (Entry, bool) {
	x, known := r.nodes()[n], r.index[name]
	for i := range x.state.attrs {
		if a := &x.state.attrs[i]; !a.dead && a.name == known {
			return r.attributeEntry(x.draftNode, &x.state, i), true
		}
	}
	return Entry{}, false
}

// Attributes returns the attributes of a draft node. ok is false if there is no such node.
func (r *Reader) Attributes(n Number) (attributes []Entry, ok bool) {
	x, ok := r.nodes()[n]
	if !ok {
		return nil, false
	}
	return r.attributeEntries(x.draftNode, &x.state), true
}

// OrderedChildren returns the children of a draft node in the order in which they would be
// written. ok is false if there is no such draft node.
func (r *Reader) OrderedChildren(n Number) (children []Entry, ok bool, err error) {
	x, ok := r.nodes()[n]
	if !ok {
		return nil, false, nil
	}
	o := childOrder{first: r.s.d.first}
	o.collect(&r.nameTable, x.draftNode, &x.state, r.s.at)
	children, err = o.sorted()
	return children, true, err
}
