package datacenter

import (
	"iter"

	"lorefs/datacenter/internal/form"
)

// Node is a stored node. It is a small value; copies are the same node. Several paths may
// lead to one stored node.
type Node struct {
	in   *form.File
	addr Address
	raw  form.Node
}

// Root returns the node __root__, whose children are the sheets.
func (f *File) Root() (Node, error) { return f.Node(Address{}) }

// Node reads the node at addr. It returns an error for a placeholder, and for a node that
// no path from the root leads to, since such a node has not been checked.
func (f *File) Node(addr Address) (Node, error) {
	raw, err := f.in.Node(addr)
	if err != nil {
		return Node{}, err
	}
	return Node{in: f.in, addr: addr, raw: raw}, nil
}

// IsOf reports whether n is a node of f.
func (n Node) IsOf(f *File) bool { return n.in == f.in }

// Address returns the address of the node.
func (n Node) Address() Address { return n.addr }

// Name returns the node's name, as WTF-8.
func (n Node) Name() string {
	s, _ := n.in.Name(n.raw.Name) // counting has checked the index
	return s
}

// NameIndex returns the index of the name in the file's names, from 1 on.
func (n Node) NameIndex() uint16 { return n.raw.Name }

// Flags returns the node's key flags.
func (n Node) Flags() KeyFlags { return KeyFlags(n.raw.Flags) }

// Keys returns the names of the attributes by which clients look the node up.
func (n Node) Keys() KeyDefinition { return n.in.KeyDefinition(n.raw.Key) }

// AttributeCount returns the number of attributes.
func (n Node) AttributeCount() int { return int(n.raw.AttrCount) }

// ChildCount returns the number of children, placeholders included.
func (n Node) ChildCount() int { return int(n.raw.ChildCount) }

// Entries returns the number of logical nodes and attributes in the node's subtree, the
// node included.
func (n Node) Entries() uint32 {
	return n.in.EntriesOf(n.addr)
}

// Entries is [Node.Entries] for the node at addr, which must exist.
func (f *File) Entries(addr Address) uint32 { return f.in.EntriesOf(addr) }

// ChildIndex returns the place of child, one of n's children, in n's run of children.
func (n Node) ChildIndex(child Node) int {
	return int(child.addr.Element) - int(n.raw.ChildAddr.Element)
}

// EntriesBefore returns the number of logical nodes and attributes in the subtrees of the
// first i children.
func (n Node) EntriesBefore(i int) uint32 {
	if n.raw.ChildCount == 0 || i == 0 {
		return 0
	}
	first := n.in.Number(n.raw.ChildAddr)
	sum := uint32(0)
	for _, k := range n.in.Entries[first : first+uint32(i)] {
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

func (n Node) eachChild(i int, yield func(Node, error) bool) {
	f, count := n.in, int(n.raw.ChildCount)
	if i >= count {
		return
	}
	size := int(f.Layout.NodeSize())
	off, err := form.Run(f.Regions.Nodes, n.raw.ChildAddr, count, int64(size))
	if err != nil {
		yield(Node{}, f.BadNode(n.addr, "children: %w", err))
		return
	}
	var scratch [form.MaxNodeSize]byte
	for i < count {
		b, err := f.Elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			yield(Node{}, err)
			return
		}
		for ; len(b) >= size; b = b[size:] {
			child := Node{in: f, addr: n.raw.ChildAddr, raw: form.ParseNode(b, f.Layout)}
			child.addr.Element += uint16(i)
			i++
			if child.raw.Name != 0 && !yield(child, nil) {
				return
			}
		}
	}
}

// ChildAddress returns the address of the child at place i of n's run.
func (n Node) ChildAddress(i int) Address {
	addr := n.raw.ChildAddr
	addr.Element += uint16(i)
	return addr
}

// ChildAt reads the child at place i of n's run. A placeholder has name index 0.
func (n Node) ChildAt(i int) (Node, error) {
	f := n.in
	size := int(f.Layout.NodeSize())
	addr := n.ChildAddress(i)
	off, err := form.Run(f.Regions.Nodes, addr, 1, int64(size))
	if err != nil {
		return Node{}, f.BadNode(n.addr, "children: %w", err)
	}
	var scratch [form.MaxNodeSize]byte
	b, err := f.View(off, size, scratch[:])
	if err != nil {
		return Node{}, err
	}
	return Node{in: f, addr: addr, raw: form.ParseNode(b, f.Layout)}, nil
}

// In returns n as a node of f, which is the node's file or another form of it.
func (n Node) In(f *File) Node {
	n.in = f.in
	return n
}

// Form returns the node as it is stored. It is for the packages below this one.
func (n *Node) Form() *form.Node { return &n.raw }
