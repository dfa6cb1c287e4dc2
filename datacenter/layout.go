package datacenter

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
	keySize     = 8
	charSize    = 2
	stringSize  = 16
	addressSize = 4
	footerSize  = 4

	valueBuckets = 1024
	nameBuckets  = 512
)

// Address is the place of an element in a segmented region.
type Address struct {
	Segment, Element uint16
}

func (a Address) String() string { return fmt.Sprintf("%d:%d", a.Segment, a.Element) }

func parseAddress(b []byte) Address {
	_ = b[3]
	return Address{Segment: binary.LittleEndian.Uint16(b), Element: binary.LittleEndian.Uint16(b[2:])}
}

// append is the inverse of parseAddress.
func (a Address) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, a.Segment)
	return binary.LittleEndian.AppendUint16(b, a.Element)
}
