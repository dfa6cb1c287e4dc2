package datacenter

import (
	"fmt"
	"iter"
)

// KeyFlags are the flags of a node.
type KeyFlags uint8

// KeyFlagUncached tells the client not to cache queries against a node.
const KeyFlagUncached KeyFlags = 1

// Node is a stored node. It is a small value; copies are the same node. Several paths may
// lead to one stored node.
type Node struct {
	file *File
	addr Address
	raw  StoredNode
}

// Root returns the node __root__, whose children are the sheets.
func (f *File) Root() (Node, error) { return f.Node(Address{}) }

// Node reads the node at addr. It returns an error for a placeholder, and for a node that
// no path from the root leads to, since such a node has not been checked.
func (f *File) Node(addr Address) (Node, error) {
	size := int(f.layout.NodeSize())
	off, err := run(f.regions.nodes, addr, 1, int64(size))
	if err != nil {
		return Node{}, fmt.Errorf("datacenter: node %v: %w", addr, err)
	}
	var scratch [maxNodeSize]byte
	b, err := f.view(off, size, scratch[:])
	if err != nil {
		return Node{}, err
	}
	n := Node{file: f, addr: addr, raw: parseNode(b, f.layout)}
	if n.raw.name == 0 {
		return Node{}, nodeError(addr, off, "a placeholder where a node is expected")
	}
	if f.entries != nil && n.Entries() == 0 {
		return Node{}, fmt.Errorf("datacenter: node %v: no path leads to it: %w", addr, ErrAddress)
	}
	return n, nil
}

// IsOf reports whether n is a node of f.
func (n Node) IsOf(f *File) bool { return n.file == f }

// Address returns the address of the node.
func (n Node) Address() Address { return n.addr }

// Name returns the node's name, as WTF-8.
func (n Node) Name() string {
	s, _ := n.file.name(n.raw.name) // counting has checked the index
	return s
}

// NameIndex returns the index of the name in the file's names, from 1 on.
func (n Node) NameIndex() uint16 { return n.raw.name }

// Flags returns the node's key flags.
func (n Node) Flags() KeyFlags { return KeyFlags(n.raw.flags) }

// Keys returns the names of the attributes by which clients look the node up.
func (n Node) Keys() KeyDefinition { return n.file.keyDefinition(n.raw.key) }

// AttributeCount returns the number of attributes.
func (n Node) AttributeCount() int { return int(n.raw.attrCount) }

// ChildCount returns the number of children, placeholders included.
func (n Node) ChildCount() int { return int(n.raw.childCount) }

// Entries returns the number of logical nodes and attributes in the node's subtree, the
// node included.
func (n Node) Entries() uint32 {
	return n.file.Entries(n.addr)
}

// Entries is [Node.Entries] for the node at addr, which must exist.
func (f *File) Entries(addr Address) uint32 { return f.entries[f.number(addr)] }

// number returns the place of a node among all stored ones.
func (f *File) number(addr Address) uint32 {
	return f.base[addr.Segment] + uint32(addr.Element)
}

// ChildIndex returns the place of child, one of n's children, in n's run of children.
func (n Node) ChildIndex(child Node) int {
	return int(child.addr.Element) - int(n.raw.childAddr.Element)
}

// EntriesBefore returns the number of logical nodes and attributes in the subtrees of the
// first i children.
func (n Node) EntriesBefore(i int) uint32 {
	if n.raw.childCount == 0 || i == 0 {
		return 0
	}
	first := n.file.number(n.raw.childAddr)
	sum := uint32(0)
	for _, k := range n.file.entries[first : first+uint32(i)] {
		sum += k
	}
	return sum
}

// Children yields the children in the file's order, without placeholders. An error is
// yielded last.
func (n Node) Children() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) { n.eachChild(0, yield) }
}

// ChildrenFrom is Children, starting at place i of the run.
func (n Node) ChildrenFrom(i int) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) { n.eachChild(i, yield) }
}

const maxNodeSize = 24

func (n Node) eachChild(i int, yield func(Node, error) bool) {
	f, count := n.file, int(n.raw.childCount)
	if i >= count {
		return
	}
	size := int(f.layout.NodeSize())
	off, err := run(f.regions.nodes, n.raw.childAddr, count, int64(size))
	if err != nil {
		yield(Node{}, f.errorAt(n, "children: %w", err))
		return
	}
	var scratch [maxNodeSize]byte
	for i < count {
		b, err := f.elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			yield(Node{}, err)
			return
		}
		for ; len(b) >= size; b = b[size:] {
			child := Node{file: f, addr: n.raw.childAddr, raw: parseNode(b, f.layout)}
			child.addr.Element += uint16(i)
			i++
			if child.raw.name != 0 && !yield(child, nil) {
				return
			}
		}
	}
}

// errorAt returns an error about a node.
func (f *File) errorAt(n Node, format string, args ...any) error {
	return nodeError(n.addr, f.nodeOffset(n.addr), format, args...)
}

// ChildAddress returns the address of the child at place i of n's run.
func (n Node) ChildAddress(i int) Address {
	addr := n.raw.childAddr
	addr.Element += uint16(i)
	return addr
}

// ChildAt reads the child at place i of n's run. A placeholder has name index 0.
func (n Node) ChildAt(i int) (Node, error) {
	f := n.file
	size := int(f.layout.NodeSize())
	addr := n.ChildAddress(i)
	off, err := run(f.regions.nodes, addr, 1, int64(size))
	if err != nil {
		return Node{}, f.errorAt(n, "children: %w", err)
	}
	var scratch [maxNodeSize]byte
	b, err := f.view(off, size, scratch[:])
	if err != nil {
		return Node{}, err
	}
	return Node{file: f, addr: addr, raw: parseNode(b, f.layout)}, nil
}

// nodeOffset returns the offset of the node at addr, which must exist.
func (f *File) nodeOffset(addr Address) int64 {
	return f.regions.nodes[addr.Segment].off + int64(addr.Element)*f.layout.NodeSize()
}
