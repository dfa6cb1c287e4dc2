package form

import (
	"encoding/binary"
	"fmt"
)

// Layout is one of the three layouts of a data center. A file does not say which of the two
// layouts of version 6 it has.
type Layout uint8

const (
	// LayoutAuto makes Open find out the layout.
	LayoutAuto Layout = iota
	// LayoutV3 is version 3: 32-bit, with a header that has no revision.
	LayoutV3
	// LayoutV6X86 is version 6 for 32-bit clients.
	LayoutV6X86
	// LayoutV6X64 is version 6 for 64-bit clients, with padded nodes and attributes.
	LayoutV6X64
)

var layoutNames = [...]string{LayoutAuto: "auto", LayoutV3: "v3", LayoutV6X86: "v6-x86", LayoutV6X64: "v6-x64"}

func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// ParseLayout is the inverse of String.
func ParseLayout(s string) (Layout, error) {
	for l, name := range layoutNames {
		if s == name {
			return Layout(l), nil
		}
	}
	return 0, fmt.Errorf("datacenter: unknown layout %q: want auto, v3, v6-x86 or v6-x64", s)
}

// Version returns the version number in the header of a file of this layout.
func (l Layout) Version() uint32 {
	if l == LayoutV3 {
		return 3
	}
	return 6
}

// HeaderSize returns the size of a header in bytes.
func (l Layout) HeaderSize() int64 {
	if l == LayoutV3 {
		return 28
	}
	return 32
}

// NodeSize returns the size of a node in bytes.
func (l Layout) NodeSize() int64 {
	if l == LayoutV6X64 {
		return 24
	}
	return 16
}

// AttributeSize returns the size of an attribute in bytes.
func (l Layout) AttributeSize() int64 {
	if l == LayoutV6X64 {
		return 12
	}
	return 8
}

// Sizes of the structures that all layouts share, and the bucket counts of the string
// tables.
const (
	KeySize     = 8
	CharSize    = 2
	StringSize  = 16
	AddressSize = 4
	FooterSize  = 4

	ValueBuckets = 1024
	NameBuckets  = 512
)

// Address is the place of an element in a segmented region.
type Address struct {
	Segment, Element uint16
}

func (a Address) String() string { return fmt.Sprintf("%d:%d", a.Segment, a.Element) }

// ParseAddress reads an address from b, of 4 bytes or more.
func ParseAddress(b []byte) Address {
	_ = b[3]
	return Address{Segment: binary.LittleEndian.Uint16(b), Element: binary.LittleEndian.Uint16(b[2:])}
}

// Append is the inverse of ParseAddress.
func (a Address) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, a.Segment)
	return binary.LittleEndian.AppendUint16(b, a.Element)
}

// Ref returns the address as one number, in the order of the file.
func (a Address) Ref() uint32 { return uint32(a.Segment)<<16 | uint32(a.Element) }

// AddressOf is the inverse of ref.
func AddressOf(ref uint32) Address {
	return Address{Segment: uint16(ref >> 16), Element: uint16(ref)}
}
