package datacenter

import (
	"iter"
	"math"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/wtf8"
)

// Attribute is a stored attribute. It is a small value; copies are the same attribute.
type Attribute struct {
	in   *form.File
	addr Address
	name uint16
	typ  Type
	bits uint32 // the value; of a string, its address
}

// Address returns the address of the attribute.
func (a Attribute) Address() Address { return a.addr }

// Name returns the attribute's name, as WTF-8. A node's text has the name __value__.
func (a Attribute) Name() string {
	s, _ := a.in.Name(a.name) // eachAttribute has checked the index
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

// Form returns the attribute as it is stored, but for the hash of a string. It is for the packages below
// this one.
func (a Attribute) Form() form.Attribute { return form.NewAttribute(a.name, a.typ, a.bits) }

// AppendText appends the value as text: an int in decimal, a bool as true or
// false, a string as WTF-8, and a float in the fewest digits that read back as
// the same bits.
func (a Attribute) AppendText(dst []byte) ([]byte, error) {
	if a.typ != String {
		return AppendNumber(dst, a.typ, a.bits), nil
	}
	dst, err := a.in.AppendString(dst, a.in.Regions.Values.Data, form.AddressOfText(a.bits))
	if err != nil {
		return dst, a.bad("%w", err)
	}
	return dst, nil
}

// AppendJSON appends the value as JSON. A float always has a point or an exponent, which
// distinguishes it from an int; NaN and infinities are "NaN", "Infinity" and "-Infinity". An
// unpaired surrogate in a string is written as \ud800.
func (a Attribute) AppendJSON(dst []byte) ([]byte, error) {
	if a.typ != String {
		return appendJSONNumber(dst, a.typ, a.bits), nil
	}
	units, err := a.Units()
	return wtf8.AppendUnitsJSON(dst, units), err
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
	units, err := a.in.StringUnits(a.in.Regions.Values.Data, form.AddressOfText(a.bits))
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
	return a.in.BadAttribute(a.addr, format, args...)
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
func (n Node) AttributeAt(i int) (Attribute, error) { return n.attributeAt(n.AttributeAddress(i)) }

// AttributeAddress returns the address of the attribute at place i of n's run.
func (n Node) AttributeAddress(i int) Address {
	addr := n.raw.AttrAddr
	addr.Element += uint16(i)
	return addr
}

// AttributeIndex returns the place of a, one of n's attributes, in n's run.
func (n Node) AttributeIndex(a Attribute) int {
	return int(a.addr.Element) - int(n.raw.AttrAddr.Element)
}

func (n Node) eachAttribute(i int, yield func(Attribute, error) bool) {
	f, count := n.in, int(n.raw.AttrCount)
	if i >= count {
		return
	}
	size := int(f.Layout.AttributeSize())
	off, err := form.Run(f.Regions.Attributes, n.raw.AttrAddr, count, int64(size))
	if err != nil {
		yield(Attribute{}, f.BadNode(n.addr, "attributes: %w", err))
		return
	}
	var scratch [form.MaxAttributeSize]byte
	prev := uint16(0)
	var seen map[uint16]bool // nil while the names ascend
	for i < count {
		b, err := f.Elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			yield(Attribute{}, err)
			return
		}
		for ; len(b) >= size; b = b[size:] {
			addr := n.raw.AttrAddr
			addr.Element += uint16(i)
			a, err := n.attribute(addr, form.ParseAttribute(b))
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

// attribute decodes the stored attribute r at addr.
func (n Node) attribute(addr Address, r form.Attribute) (Attribute, error) {
	typ, err := n.in.Decode(addr, r)
	return Attribute{in: n.in, addr: addr, name: r.Name, typ: typ, bits: r.Bits}, err
}

// Attribute reads the attribute at addr.
func (f *File) Attribute(addr Address) (Attribute, error) { return Node{in: f.in}.attributeAt(addr) }

func (n Node) attributeAt(addr Address) (Attribute, error) {
	r, err := n.in.RawAttribute(addr)
	if err != nil {
		return Attribute{}, err
	}
	return n.attribute(addr, r)
}
