package db2

import "encoding/binary"

// signedFlag marks signed bits in WDC1, which has no packing of its own for them.
const signedFlag = 1

// readPacking reads how fields are packed, and the pallets and common values of all.
func (t *Table) readPacking(c *cut, n sizes) error {
	if n.packing == 0 && len(t.fields) == 0 {
		return c.err
	}
	if c.err == nil && uint64(n.packing) != uint64(len(t.fields))*packingSize {
		return t.name.Bad(int64(c.at), "the packing of %d fields has %d bytes, want %d each", len(t.fields), n.packing, packingSize)
	}
	p := c.take("packing", uint32(len(t.fields)), packingSize)
	pallets := &cut{t: t, at: c.at}
	c.take("pallets", 1, n.pallets)
	commons := &cut{t: t, at: c.at}
	c.take("common values", 1, n.common)
	if c.err != nil {
		return c.err
	}
	t.packed = true
	for i := range t.fields {
		at := p.at + i*packingSize
		size := binary.LittleEndian.Uint32(p.bytes[i*packingSize+4:])
		if err := t.readPacked(i, p.bytes[i*packingSize:], at); err != nil {
			return err
		}
		switch f := &t.fields[i]; f.packing {
		case packPallet, packPalletArray:
			f.pallet = pallets.take("a pallet", size/4, 4)
		case packCommon:
			f.common = pairs(commons.take("common values of a field", size/copySize, copySize).bytes)
		}
		// Both are bounded by their sum before, or by the end of the file.
		if pallets.err != nil || commons.err != nil {
			return t.name.Bad(int64(at), "field %d has %d bytes of values, which the file doesn't have", i, size)
		}
	}
	return nil
}

// readPacked reads the packing of a field.
func (t *Table) readPacked(i int, b []byte, at int) error {
	f := &t.fields[i]
	size := int(binary.LittleEndian.Uint16(b[2:]))
	f.at = int(binary.LittleEndian.Uint16(b))
	f.packing = binary.LittleEndian.Uint32(b[8:])
	v := [3]uint32{binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:])}
	bad := func(what string, args ...any) error {
		return t.name.Bad(int64(at), "field %d: "+what, append([]any{i}, args...)...)
	}
	f.count = 1
	switch f.packing {
	case packNone:
		if f.width == 0 {
			return bad("its values have no bits")
		}
		f.count = max(1, size/f.width)
	case packCommon:
		f.standard = v[0]
		return nil
	case packBits, packSigned, packPallet, packPalletArray:
		f.width = size
	default:
		return bad("packing %d, want at most %d", f.packing, packSigned)
	}
	switch {
	case f.width > 64:
		return bad("values of %d bits, want at most 64", f.width)
	case f.packing == packPalletArray:
		// A table without rows has arrays and no values.
		words := binary.LittleEndian.Uint32(b[4:]) / 4
		if v[2] > mostFields || t.Records > 0 && v[2] > max(words, 1) {
			return bad("arrays of %d values in a pallet of %d", v[2], words)
		}
		f.count = max(1, int(v[2]))
	case f.packing == packBits && t.Magic == "WDC1" && v[2]&signedFlag != 0:
		f.packing = packSigned
	}
	return nil
}

// pairs reads common values.
func pairs(b []byte) []pair {
	list := make([]pair, len(b)/copySize)
	for i := range list {
		list[i] = pair{int32(binary.LittleEndian.Uint32(b[i*copySize:])), binary.LittleEndian.Uint32(b[i*copySize+4:])}
	}
	return sorted(list)
}
