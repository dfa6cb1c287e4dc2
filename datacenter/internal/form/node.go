package form

import "encoding/binary"

// KeyFlags are the flags of a node.
type KeyFlags uint8

// KeyFlagUncached tells the client not to cache queries against a node.
const KeyFlagUncached KeyFlags = 1

// Node is a node in the form of a file, a DataCenterNode.
type Node struct {
	Name       uint16 // one-based; 0 marks a placeholder, whose other fields mean nothing
	Flags      uint8  // 4 bits
	Key        uint16 // 12 bits
	AttrCount  uint16
	ChildCount uint16
	AttrAddr   Address
	ChildAddr  Address
}

// ParseNode reads a node from b, l.NodeSize() bytes.
func ParseNode(b []byte, l Layout) (n Node) {
	n.Parse(b, l)
	return n
}

// Parse is ParseNode for who has a place for the node. A processor waits where a value is copied
// right after its fields were set.
func (n *Node) Parse(b []byte, l Layout) {
	_ = b[15]
	le := binary.LittleEndian
	keys := le.Uint16(b[2:])
	n.Name = le.Uint16(b)
	n.Flags = uint8(keys & 0xf)
	n.Key = keys >> 4
	n.AttrCount = le.Uint16(b[4:])
	n.ChildCount = le.Uint16(b[6:])
	n.AttrAddr = ParseAddress(b[8:])
	if l == LayoutV6X64 {
		n.ChildAddr = ParseAddress(b[16:])
	} else {
		n.ChildAddr = ParseAddress(b[12:])
	}
}

// Append is the inverse of ParseNode. Padding is 0.
func (n Node) Append(b []byte, l Layout) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, n.Name)
	b = le.AppendUint16(b, uint16(n.Flags)|n.Key<<4)
	b = le.AppendUint16(b, n.AttrCount)
	b = le.AppendUint16(b, n.ChildCount)
	b = n.AttrAddr.Append(b)
	if l == LayoutV6X64 {
		b = le.AppendUint32(b, 0)
	}
	b = n.ChildAddr.Append(b)
	if l == LayoutV6X64 {
		b = le.AppendUint32(b, 0)
	}
	return b
}

// RunKey is a stored run of children, or of attributes, of at least one element.
type RunKey struct {
	Addr  Address
	Count uint16
}

// ChildRun returns the run of children.
func (n *Node) ChildRun() RunKey { return RunKey{n.ChildAddr, n.ChildCount} }

// AttrRun returns the run of attributes.
func (n *Node) AttrRun() RunKey { return RunKey{n.AttrAddr, n.AttrCount} }

// Absent is the address of an empty run.
var Absent = Address{Segment: 0xffff, Element: 0xffff}

// IsStoredAs reports whether a node has the stored form x.
func (n *Node) IsStoredAs(x Node) bool { return n.meaning() == x.meaning() }

// meaning returns the node without an address of nothing.
func (n Node) meaning() Node {
	if n.AttrCount == 0 {
		n.AttrAddr = Absent
	}
	if n.ChildCount == 0 {
		n.ChildAddr = Absent
	}
	return n
}

// HasSameAttributes reports whether the attributes of two nodes, of one file or of a file and what
// became of it, are the same run.
func (n *Node) HasSameAttributes(m *Node) bool {
	return n.AttrCount == m.AttrCount && (n.AttrCount == 0 || n.AttrAddr == m.AttrAddr)
}

// SetAttributes gives a node attributes that were stored.
func (n *Node) SetAttributes(at Address, count int) {
	n.AttrAddr, n.AttrCount = at, uint16(count)
}

// SetChildren gives a node children that were stored.
func (n *Node) SetChildren(at Address, count int) {
	n.ChildAddr, n.ChildCount = at, uint16(count)
}
