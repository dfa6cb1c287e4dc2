package dctest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/hash"
)

// RootAddress is the address of the root.
var RootAddress = datacenter.Address{}

// ElementOffset returns the offset of the element at an address, which may lie beyond
// used_count and beyond the segment.
func (r *Region) ElementOffset(a datacenter.Address) int64 {
	if int(a.Segment) >= len(r.Segments) {
		panic(fmt.Sprintf("dctest: BUG: no segment %d", a.Segment))
	}
	return r.Segments[a.Segment].Elements + int64(a.Element)*r.Size
}

// NodeOffset returns the offset of a node. The constants Node… are offsets of its fields,
// and NodeChildAddress returns one that depends on the layout.
func (m *Image) NodeOffset(a datacenter.Address) int64 { return m.Nodes.ElementOffset(a) }

// NodeChildAddress returns the offset of the address of children in a node.
func (m *Image) NodeChildAddress() int64 {
	if m.Layout == datacenter.LayoutV6X64 {
		return 16
	}
	return 12
}

// AttributeOffset returns the offset of an attribute. The constants Attribute… are offsets
// of its fields.
func (m *Image) AttributeOffset(a datacenter.Address) int64 { return m.Attributes.ElementOffset(a) }

// KeyOffset returns the offset of a key definition.
func (m *Image) KeyOffset(i int) int64 { return m.Keys + 4 + int64(i)*KeySize }

// Child returns the address of the node that path leads to from the root, by positions in
// runs of children.
func (m *Image) Child(path ...int) datacenter.Address {
	a := RootAddress
	for _, i := range path {
		at := m.NodeOffset(a)
		if i >= int(m.U16(at+NodeChildCount)) {
			panic(fmt.Sprintf("dctest: BUG: no child %d at %v", i, a))
		}
		a = m.AddressAt(at + m.NodeChildAddress())
		a.Element += uint16(i)
	}
	return a
}

// Attribute returns the address of a node's attribute at a position in its run.
func (m *Image) Attribute(n datacenter.Address, i int) datacenter.Address {
	at := m.NodeOffset(n)
	if i >= int(m.U16(at+NodeAttributeCount)) {
		panic(fmt.Sprintf("dctest: BUG: no attribute %d at %v", i, n))
	}
	a := m.AddressAt(at + NodeAttributeAddress)
	a.Element += uint16(i)
	return a
}

// AddressOffset returns the offset of the address of the string with a one-based index.
func (t *Table) AddressOffset(index int) int64 { return t.Addresses + int64(index)*AddressSize }

// EntryOffset returns the offset of the table's entry of the string with a one-based index.
// The constants Entry… are offsets of its fields.
func (m *Image) EntryOffset(t *Table, index int) int64 {
	for _, b := range t.Buckets {
		for i := range b.Count {
			at := b.Entries + int64(i)*EntrySize
			if m.U32(at+EntryIndex) == uint32(index) {
				return at
			}
		}
	}
	panic(fmt.Sprintf("dctest: BUG: no string %d", index))
}

// Index returns the one-based index of a string.
func (m *Image) Index(t *Table, s string) int {
	want := Units(s)
	hash := hash.String(want)
	b := t.Buckets[BucketOf(hash, len(t.Buckets))]
	for i := range b.Count {
		at := b.Entries + int64(i)*EntrySize
		if m.U32(at+EntryHash) == hash && slices.Equal(m.units(t, at), want) {
			return int(m.U32(at + EntryIndex))
		}
	}
	panic(fmt.Sprintf("dctest: BUG: no string %q", s))
}

// StringOffset returns the offset of the characters of the string with a one-based index.
func (m *Image) StringOffset(t *Table, index int) int64 {
	return t.Data.ElementOffset(m.AddressAt(t.AddressOffset(index)))
}

// units returns the characters of the string of the entry at an offset.
func (m *Image) units(t *Table, entry int64) []uint16 {
	at := t.Data.ElementOffset(m.AddressAt(entry + EntryAddress))
	units := make([]uint16, m.U32(entry+EntryLength)-1)
	for i := range units {
		units[i] = m.U16(at + int64(i)*2)
	}
	return units
}

// U16 reads a field of 16 bits.
func (m *Image) U16(at int64) uint16 { return binary.LittleEndian.Uint16(m.Data[at:]) }

// U32 reads a field of 32 bits.
func (m *Image) U32(at int64) uint32 { return binary.LittleEndian.Uint32(m.Data[at:]) }

// AddressAt reads an address.
func (m *Image) AddressAt(at int64) datacenter.Address {
	return datacenter.Address{Segment: m.U16(at), Element: m.U16(at + 2)}
}

// Put16 writes a field of 16 bits.
func (m *Image) Put16(at int64, v uint16) { binary.LittleEndian.PutUint16(m.Data[at:], v) }

// Put32 writes a field of 32 bits.
func (m *Image) Put32(at int64, v uint32) { binary.LittleEndian.PutUint32(m.Data[at:], v) }

// PutAddress writes an address.
func (m *Image) PutAddress(at int64, a datacenter.Address) {
	m.Put16(at, a.Segment)
	m.Put16(at+2, a.Element)
}
