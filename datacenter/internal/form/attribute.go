package form

import (
	"encoding/binary"
	"fmt"
)

// Type is the type of an attribute's value.
type Type uint8

// The types, in the order in which key values sort.
const (
	Int    Type = iota + 1 // DATA_CENTER_TYPE_CODE_INT
	Float                  // DATA_CENTER_TYPE_CODE_FLOAT
	String                 // DATA_CENTER_TYPE_CODE_STRING
	Bool                   // DATA_CENTER_TYPE_CODE_INT with the lowest bit of extended_code set
)

// TypeNames has the name of each type as users see it.
var TypeNames = [...]string{Int: "int", Float: "float", String: "string", Bool: "bool"}

func (t Type) String() string {
	if t >= Int && int(t) < len(TypeNames) {
		return TypeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Attribute is an attribute in the form of a file, a DataCenterAttribute.
type Attribute struct {
	Name     uint16 // one-based
	TypeCode uint8  // 2 bits
	Extended uint16 // 14 bits
	Bits     uint32
}

// ParseAttribute reads an attribute from b, of 8 bytes or more.
func ParseAttribute(b []byte) Attribute {
	_ = b[7]
	code := binary.LittleEndian.Uint16(b[2:])
	return Attribute{
		Name:     binary.LittleEndian.Uint16(b),
		TypeCode: uint8(code & 3),
		Extended: code >> 2,
		Bits:     binary.LittleEndian.Uint32(b[4:]),
	}
}

// NewAttribute returns an attribute with a value. Of a string, bits are the address, and the hash is missing.
func NewAttribute(name uint16, t Type, bits uint32) Attribute {
	r := Attribute{Name: name, TypeCode: uint8(t), Bits: bits}
	if t == Bool {
		r.TypeCode, r.Extended = uint8(Int), 1
	}
	return r
}

// StringAttribute returns an attribute, without a name, of the string at addr, which has this hash.
func StringAttribute(addr Address, hash uint16) Attribute {
	return Attribute{TypeCode: uint8(String), Extended: hash, Bits: uint32(addr.Segment) | uint32(addr.Element)<<16}
}

// Value returns the address of a string.
func (r Attribute) Value() Address { return AddressOfText(r.Bits) }

// AddressOfText returns the address of a string from the bits of its attribute.
func AddressOfText(bits uint32) Address {
	return Address{Segment: uint16(bits), Element: uint16(bits >> 16)}
}

// Append is the inverse of ParseAttribute. Padding is 0.
func (r Attribute) Append(b []byte, l Layout) []byte {
	b = binary.LittleEndian.AppendUint16(b, r.Name)
	b = binary.LittleEndian.AppendUint16(b, uint16(r.TypeCode)|r.Extended<<2)
	b = binary.LittleEndian.AppendUint32(b, r.Bits)
	if l == LayoutV6X64 {
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	return b
}

// DecodeType returns the type, or an error that says why there is none.
func (r Attribute) DecodeType() (Type, error) {
	switch {
	case r.TypeCode == uint8(Int) && r.Extended == 0:
		return Int, nil
	case r.TypeCode == uint8(Int) && r.Extended == 1:
		return Bool, nil
	case r.TypeCode == uint8(Int):
		return 0, fmt.Errorf("extended code %#x: want 0 for an int or 1 for a bool", r.Extended)
	case r.TypeCode == 0:
		return 0, fmt.Errorf("type code 0: want 1 to 3")
	}
	return Type(r.TypeCode), nil
}

// IsStoredAs reports whether an attribute has the stored form x, but for the hash of a string, which r lacks.
func (r Attribute) IsStoredAs(x Attribute) bool {
	if x.TypeCode != uint8(Int) {
		x.Extended = 0
	}
	return r == x
}
