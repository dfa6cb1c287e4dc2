package datacenter

import (
	"encoding/binary"
	"slices"
)

// Reading runs in pieces: for walks of a large tree that have to stop and resume anywhere, and
// for comparisons of many nodes.

// AppendChildren appends at most limit nodes of the run of children, from place i on. A
// placeholder is appended as a node whose NameIndex is 0; use nothing else of it.
func (n Node) AppendChildren(dst []Node, i, limit int) ([]Node, error) {
	f, size := n.file, int(n.file.layout.NodeSize())
	var scratch [maxNodeSize]byte
	end := min(i+limit, int(n.raw.childCount))
	for dst = slices.Grow(dst, max(end-i, 0)); i < end; {
		b, err := n.storedChildren(i, end, scratch[:])
		if err != nil {
			return dst, err
		}
		for ; len(b) >= size; b = b[size:] {
			dst = dst[:len(dst)+1]
			c := &dst[len(dst)-1]
			c.file, c.addr = f, n.ChildAddress(i)
			c.raw.parse(b, f.layout)
			i++
		}
	}
	return dst, nil
}

// AppendChildNames appends the name index for each place of the run of children. It is 0
// for a placeholder.
func (n Node) AppendChildNames(dst []uint16) ([]uint16, error) {
	size := int(n.file.layout.NodeSize())
	var scratch [maxNodeSize]byte
	for i, end := 0, int(n.raw.childCount); i < end; {
		b, err := n.storedChildren(i, end, scratch[:])
		if err != nil {
			return dst, err
		}
		i += len(b) / size
		for ; len(b) >= size; b = b[size:] {
			dst = append(dst, uint16(b[0])|uint16(b[1])<<8)
		}
	}
	return dst, nil
}

// storedChildren returns stored children from place i on, at least one but none from place
// end on.
func (n Node) storedChildren(i, end int, scratch []byte) ([]byte, error) {
	f, size := n.file, int(n.file.layout.NodeSize())
	off, err := run(f.regions.nodes, n.raw.childAddr, int(n.raw.childCount), int64(size))
	if err != nil {
		return nil, f.errorAt(n, "children: %w", err)
	}
	return f.elements(off+int64(i*size), end-i, size, scratch)
}

// AttributeWord is all that a file stores of an attribute: from the lowest bits on, the index of its
// name (16 bits), its type (2), the extended code (14) and the value (32).
type AttributeWord uint64

// Kind returns what attributes have in common whose name and type are the same, if they are valid.
func (w AttributeWord) Kind() uint32 {
	const name, typ, all = 1<<16 - 1, 3 << 16, 1<<32 - 1
	if w&typ>>16 == AttributeWord(Int) { // the extended code tells a Bool from an Int
		return uint32(w & all)
	}
	return uint32(w & (name | typ))
}

// Bits returns what [Attribute.Bits] does.
func (w AttributeWord) Bits() uint32 { return uint32(w >> 32) }

// textAddress returns the address of a String's text in the values.
func (w AttributeWord) textAddress() Address {
	return Address{Segment: uint16(w >> 32), Element: uint16(w >> 48)}
}

// AppendNumber appends the text of a value that has a type, which is any but String.
func AppendNumber(dst []byte, t Type, bits uint32) []byte {
	switch t {
	case Bool:
		return appendBool(dst, bits != 0)
	case Float:
		return appendFloat(dst, bits)
	default:
		return appendInt(dst, int32(bits))
	}
}

// UnitsFrom returns what lies in memory behind the beginning of a String's text, which ends at the first
// NUL. If there is none, or nothing, [Attribute.Units] knows why. The caller must not change it.
func (f *File) UnitsFrom(w AttributeWord) []byte {
	data, addr := f.regions.values.data, w.textAddress()
	off, err := run(data, addr, 1, charSize)
	if err != nil {
		return nil
	}
	block, i := f.blockAt(off)
	b, err := f.block(block)
	if err != nil || i >= len(b) {
		return nil
	}
	used := (int64(data[addr.Segment].used) - int64(addr.Element)) * charSize
	return b[i:min(int64(len(b)), int64(i)+min(used, maxString*charSize))]
}

// AppendAttributeWords appends the words of n's attributes as they are stored. Nobody has checked
// them: [Node.AppendAttributes] says what is wrong with them.
func (n Node) AppendAttributeWords(dst []AttributeWord) ([]AttributeWord, error) {
	f, count := n.file, int(n.raw.attrCount)
	if count == 0 {
		return dst, nil
	}
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		return dst, f.errorAt(n, "attributes: %w", err)
	}
	var scratch [maxAttributeSize]byte
	for count > 0 {
		b, err := f.elements(off, count, size, scratch[:])
		if err != nil {
			return dst, err
		}
		count -= len(b) / size
		off += int64(len(b))
		for ; len(b) >= size; b = b[size:] {
			dst = append(dst, AttributeWord(binary.LittleEndian.Uint64(b)))
		}
	}
	return dst, nil
}

// AppendAttributes appends what Attributes yields. It is faster. If wants is not nil, it leaves out
// the attributes that wants refuses.
func (n Node) AppendAttributes(dst []Attribute, wants func(Attribute) bool) ([]Attribute, error) {
	f, count, from := n.file, int(n.raw.attrCount), len(dst)
	if count == 0 {
		return dst, nil
	}
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		return dst, f.errorAt(n, "attributes: %w", err)
	}
	var scratch [maxAttributeSize]byte
	b, err := f.elements(off, count, size, scratch[:])
	if len(b) == count*size && err == nil {
		prev := uint16(0)
		dst = slices.Grow(dst, count)
		for addr := n.raw.attrAddr; len(b) >= size; addr.Element++ {
			r := parseAttribute(b)
			typ, err := r.decodeType()
			if err != nil || r.name <= prev || int(r.name) > len(f.names) || r.name == f.valueName && typ != String {
				break
			}
			a := &dst[:len(dst)+1][len(dst)]
			a.file, a.addr, a.name, a.typ, a.bits = f, addr, r.name, typ, r.bits
			if wants == nil || wants(*a) {
				dst = dst[:len(dst)+1]
			}
			if prev, b = r.name, b[size:]; len(b) == 0 {
				return dst, nil
			}
		}
	}
	dst = dst[:from]
	for a, err := range n.Attributes() { // it knows what is wrong
		if err != nil {
			return dst, err
		}
		if wants == nil || wants(a) {
			dst = append(dst, a)
		}
	}
	return dst, nil
}
