package datacenter

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"lorefs/internal/wtf8"
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

var typeNames = [...]string{Int: "int", Float: "float", String: "string", Bool: "bool"}

func (t Type) String() string {
	if t >= Int && int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Attribute is a stored attribute. It is a small value; copies are the same attribute.
type Attribute struct {
	file *File
	addr Address
	name uint16
	typ  Type
	bits uint32 // the value; of a string, its address
}

// StoredAttribute is an attribute in the form of a file, a DataCenterAttribute.
type StoredAttribute struct {
	name     uint16 // one-based
	typeCode uint8  // 2 bits
	extended uint16 // 14 bits
	bits     uint32
}

// parseAttribute reads an attribute from b, of 8 bytes or more.
func parseAttribute(b []byte) StoredAttribute {
	_ = b[7]
	code := binary.LittleEndian.Uint16(b[2:])
	return StoredAttribute{
		name:     binary.LittleEndian.Uint16(b),
		typeCode: uint8(code & 3),
		extended: code >> 2,
		bits:     binary.LittleEndian.Uint32(b[4:]),
	}
}

// value returns the address of a string.
func (r StoredAttribute) value() Address {
	return Address{Segment: uint16(r.bits), Element: uint16(r.bits >> 16)}
}

// append is the inverse of parseAttribute. Padding is 0.
func (r StoredAttribute) append(b []byte, l Layout) []byte {
	b = binary.LittleEndian.AppendUint16(b, r.name)
	b = binary.LittleEndian.AppendUint16(b, uint16(r.typeCode)|r.extended<<2)
	b = binary.LittleEndian.AppendUint32(b, r.bits)
	if l == LayoutV6X64 {
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	return b
}

// decodeType returns the type, or an error that says why there is none.
func (r StoredAttribute) decodeType() (Type, error) {
	switch {
	case r.typeCode == uint8(Int) && r.extended == 0:
		return Int, nil
	case r.typeCode == uint8(Int) && r.extended == 1:
		return Bool, nil
	case r.typeCode == uint8(Int):
		return 0, fmt.Errorf("extended code %#x: want 0 for an int or 1 for a bool", r.extended)
	case r.typeCode == 0:
		return 0, fmt.Errorf("type code 0: want 1 to 3")
	}
	return Type(r.typeCode), nil
}

// Address returns the address of the attribute.
func (a Attribute) Address() Address { return a.addr }

// Name returns the attribute's name, as WTF-8. A node's text has the name __value__.
func (a Attribute) Name() string {
	s, _ := a.file.name(a.name) // eachAttribute has checked the index
	return s
}

// NameIndex returns the index of the name in the file's names, from 1 on.
func (a Attribute) NameIndex() uint16 { return a.name }

// Type returns the type of the value.
func (a Attribute) Type() Type { return a.typ }

// Int returns the value of an Int.
func (a Attribute) Int() int32 { return int32(a.bits) }

// Float returns the value of a Float.
func (a Attribute) Float() float32 { return math.Float32frombits(a.bits) }

// Bool returns the value of a Bool.
func (a Attribute) Bool() bool { return a.bits != 0 }

// Bits returns the 32 bits that are stored for the value. Those of a String say where its text is:
// one text may be in several places.
func (a Attribute) Bits() uint32 { return a.bits }

// stringAddress returns the address of a String's text in the values.
func (a Attribute) stringAddress() Address { return a.raw().value() }

// raw returns the stored form of the attribute, but for the hash of a string.
func (a Attribute) raw() StoredAttribute {
	r := StoredAttribute{name: a.name, typeCode: uint8(a.typ), bits: a.bits}
	if a.typ == Bool {
		r.typeCode, r.extended = uint8(Int), 1
	}
	return r
}

// AppendText appends the value as text: an int in decimal, a bool as true or
// false, a string as WTF-8, and a float in the fewest digits that read back as
// the same bits.
func (a Attribute) AppendText(dst []byte) ([]byte, error) {
	if a.typ != String {
		return AppendNumber(dst, a.typ, a.bits), nil
	}
	dst, err := a.file.appendString(dst, a.file.regions.values.data, a.stringAddress())
	if err != nil {
		return dst, a.bad("%w", err)
	}
	return dst, nil
}

// Value returns the value, independent of the file.
func (a Attribute) Value() (Value, error) {
	if a.typ != String {
		return Value{typ: a.typ, bits: a.bits}, nil
	}
	text, err := a.AppendText(nil)
	if err != nil {
		return Value{}, err
	}
	return Value{typ: String, text: string(text)}, nil
}

// Units returns the text of a String as little-endian UTF-16. The caller must not change it.
func (a Attribute) Units() ([]byte, error) {
	units, err := a.file.stringUnits(a.file.regions.values.data, a.stringAddress())
	if err != nil {
		return nil, a.bad("%w", err)
	}
	return units, nil
}

// TextLen returns the number of bytes that AppendText would append.
func (a Attribute) TextLen() (int, error) {
	if a.typ != String {
		var buf [maxNumber]byte
		b, err := a.AppendText(buf[:0])
		return len(b), err
	}
	units, err := a.Units()
	return wtf8.Len(units), err
}

func (a Attribute) bad(format string, args ...any) error {
	return attributeError(a.addr, a.file.attributeOffset(a.addr), format, args...)
}

func (f *File) attributeOffset(addr Address) int64 {
	return f.regions.attributes[addr.Segment].off + int64(addr.Element)*f.layout.AttributeSize()
}

// Attributes yields the attributes of n in the file's order. An error, such as an unknown
// type or a name that occurs twice, is yielded last.
func (n Node) Attributes() iter.Seq2[Attribute, error] {
	return func(yield func(Attribute, error) bool) { n.eachAttribute(0, yield) }
}

// AttributesFrom is Attributes, starting at place i of the run.
func (n Node) AttributesFrom(i int) iter.Seq2[Attribute, error] {
	return func(yield func(Attribute, error) bool) { n.eachAttribute(i, yield) }
}

// AttributeAt reads the attribute at place i of n's run.
func (n Node) AttributeAt(i int) (Attribute, error) { return n.file.Attribute(n.AttributeAddress(i)) }

// AttributeAddress returns the address of the attribute at place i of n's run.
func (n Node) AttributeAddress(i int) Address {
	addr := n.raw.attrAddr
	addr.Element += uint16(i)
	return addr
}

// AttributeIndex returns the place of a, one of n's attributes, in n's run.
func (n Node) AttributeIndex(a Attribute) int {
	return int(a.addr.Element) - int(n.raw.attrAddr.Element)
}

const maxAttributeSize = 12

func (n Node) eachAttribute(i int, yield func(Attribute, error) bool) {
	f, count := n.file, int(n.raw.attrCount)
	if i >= count {
		return
	}
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		yield(Attribute{}, f.errorAt(n, "attributes: %w", err))
		return
	}
	var scratch [maxAttributeSize]byte
	prev := uint16(0)
	var seen map[uint16]bool // nil while the names ascend
	for i < count {
		b, err := f.elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			yield(Attribute{}, err)
			return
		}
		for ; len(b) >= size; b = b[size:] {
			addr := n.raw.attrAddr
			addr.Element += uint16(i)
			a, err := f.attribute(addr, parseAttribute(b))
			if err == nil && a.name <= prev && seen == nil {
				seen, err = n.namesBefore(i)
			}
			if err == nil && seen[a.name] {
				err = a.bad("%s comes twice in one node", a.Name())
			}
			if err != nil {
				yield(Attribute{}, err)
				return
			}
			if seen != nil {
				seen[a.name] = true
			}
			prev = a.name
			i++
			if !yield(a, nil) {
				return
			}
		}
	}
}

// attribute decodes the stored attribute r at addr.
func (f *File) attribute(addr Address, r StoredAttribute) (Attribute, error) {
	a := Attribute{file: f, addr: addr, name: r.name, bits: r.bits}
	if r.name == 0 || int(r.name) > len(f.names) {
		return a, a.bad("name index %d: want 1 to %d", r.name, len(f.names))
	}
	var err error
	if a.typ, err = r.decodeType(); err != nil {
		return a, a.bad("%w", err)
	}
	if r.name == f.valueName && a.typ != String {
		return a, a.bad("%s is of type %v: want string", ValueName, a.typ)
	}
	return a, nil
}

// namesBefore collects the name indexes of the first i attributes of n.
func (n Node) namesBefore(i int) (map[uint16]bool, error) {
	seen := make(map[uint16]bool, i+1)
	for j := range i {
		a, err := n.AttributeAt(j)
		if err != nil {
			return nil, err
		}
		seen[a.name] = true
	}
	return seen, nil
}

// Attribute reads the attribute at addr.
func (f *File) Attribute(addr Address) (Attribute, error) {
	r, err := f.rawAttribute(addr)
	if err != nil {
		return Attribute{}, err
	}
	return f.attribute(addr, r)
}

func (f *File) rawAttribute(addr Address) (StoredAttribute, error) {
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, addr, 1, int64(size))
	if err != nil {
		return StoredAttribute{}, fmt.Errorf("datacenter: attribute %v: %w", addr, err)
	}
	var scratch [maxAttributeSize]byte
	b, err := f.view(off, size, scratch[:])
	if err != nil {
		return StoredAttribute{}, err
	}
	return parseAttribute(b), nil
}
