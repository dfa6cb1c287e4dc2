package form

import "encoding/binary"

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

// Bits returns the 32 bits that are stored for the value.
func (w AttributeWord) Bits() uint32 { return uint32(w >> 32) }

// textAddress returns the address of a String's text in the values.
func (w AttributeWord) textAddress() Address {
	return Address{Segment: uint16(w >> 32), Element: uint16(w >> 48)}
}

// UnitsFrom returns what lies in memory behind the beginning of a String's text, which ends at the first
// NUL. If there is none, or nothing, whoever reads the attribute finds out why. The caller must not change it.
func (f *File) UnitsFrom(w AttributeWord) []byte {
	data, addr := f.Regions.Values.Data, w.textAddress()
	off, err := Run(data, addr, 1, CharSize)
	if err != nil {
		return nil
	}
	block, i := f.BlockAt(off)
	b, err := f.Block(block)
	if err != nil || i >= len(b) {
		return nil
	}
	used := (int64(data[addr.Segment].Used) - int64(addr.Element)) * CharSize
	return b[i:min(int64(len(b)), int64(i)+min(used, MaxString*CharSize))]
}

// AppendAttributeWords appends the words of the attributes of n, which is at an address, as they are stored. Nobody
// has checked them.
func (f *File) AppendAttributeWords(dst []AttributeWord, n *Node, at Address) ([]AttributeWord, error) {
	count := int(n.AttrCount)
	if count == 0 {
		return dst, nil
	}
	size := int(f.Layout.AttributeSize())
	off, err := Run(f.Regions.Attributes, n.AttrAddr, count, int64(size))
	if err != nil {
		return dst, f.BadNode(at, "attributes: %w", err)
	}
	var scratch [MaxAttributeSize]byte
	for count > 0 {
		b, err := f.Elements(off, count, size, scratch[:])
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
