package datacenter

import "encoding/binary"

// StoredNode is a node in the form of a file, a DataCenterNode.
type StoredNode struct {
	name       uint16 // one-based; 0 marks a placeholder, whose other fields mean nothing
	flags      uint8  // 4 bits
	key        uint16 // 12 bits
	attrCount  uint16
	childCount uint16
	attrAddr   Address
	childAddr  Address
}

// NameIndex returns the index of the name in the file's names, from 1 on.
func (n StoredNode) NameIndex() uint16 { return n.name }

// KeyIndex returns the index of the key definition.
func (n StoredNode) KeyIndex() uint16 { return n.key }

// parseNode reads a node from b, l.NodeSize() bytes.
func parseNode(b []byte, l Layout) (n StoredNode) {
	n.parse(b, l)
	return n
}

// parse is parseNode for who has a place for the node. A processor waits where a value is copied
// right after its fields were set.
func (n *StoredNode) parse(b []byte, l Layout) {
	_ = b[15]
	le := binary.LittleEndian
	keys := le.Uint16(b[2:])
	n.name = le.Uint16(b)
	n.flags = uint8(keys & 0xf)
	n.key = keys >> 4
	n.attrCount = le.Uint16(b[4:])
	n.childCount = le.Uint16(b[6:])
	n.attrAddr = parseAddress(b[8:])
	if l == LayoutV6X64 {
		n.childAddr = parseAddress(b[16:])
	} else {
		n.childAddr = parseAddress(b[12:])
	}
}

// append is the inverse of parseNode. Padding is 0.
func (n StoredNode) append(b []byte, l Layout) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, n.name)
	b = le.AppendUint16(b, uint16(n.flags)|n.key<<4)
	b = le.AppendUint16(b, n.attrCount)
	b = le.AppendUint16(b, n.childCount)
	b = n.attrAddr.append(b)
	if l == LayoutV6X64 {
		b = le.AppendUint32(b, 0)
	}
	b = n.childAddr.append(b)
	if l == LayoutV6X64 {
		b = le.AppendUint32(b, 0)
	}
	return b
}
