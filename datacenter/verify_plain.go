package datacenter

import (
	"encoding/binary"

	"lorefs/datacenter/internal/hash"
)

// plainRun reports whether nothing is wrong with the attributes of n, for nearly all runs: they
// lie in one block. Any other run is checked one attribute at a time, by attribute, which knows
// what is wrong.
func (v *verifier) plainRun(n Node) bool {
	f, count := v.file, int(n.raw.attrCount)
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		return false
	}
	var scratch [maxAttributeSize]byte
	b, err := f.elements(off, count, size, scratch[:])
	if err != nil || len(b) < count*size {
		return false
	}
	prev := uint16(0)
	for ; len(b) >= size; b = b[size:] {
		r := parseAttribute(b)
		last := prev != 0 && prev == f.valueName
		if r.name <= prev || last || int(r.name) > len(f.names) || !v.plainValue(r) {
			return false
		}
		prev = r.name
	}
	return true
}

// plainValue reports whether nothing is wrong with the value of an attribute.
func (v *verifier) plainValue(r StoredAttribute) bool {
	switch Type(r.typeCode) {
	case Int: // and Bool
		return r.name != v.file.valueName && (r.extended == 0 || r.extended == 1 && r.bits <= 1)
	case Float:
		return r.name != v.file.valueName && r.extended == 0
	case String:
		n, ok := v.valueStarts.at(r.value())
		if !ok || !v.isValue(n) {
			return false
		}
		got, err := v.valueHash(n, r.value())
		return err == nil && got == r.extended
	}
	return false
}

// isValue reports whether a string of the table begins at character n. If the values are
// assumed to be right, it notes that one should.
func (v *verifier) isValue(n int64) bool {
	if v.assumed {
		v.valueStarts.set(n)
	}
	return v.valueStarts.has(n)
}

// hashKnown marks a hash, of 14 bits, in valueHashes.
const hashKnown = 1 << 15

// valueHash returns the hash of the string at addr, which is character n.
func (v *verifier) valueHash(n int64, addr Address) (uint16, error) {
	if h := v.valueHashes[n]; h != 0 {
		return h &^ hashKnown, nil
	}
	units, err := v.file.stringUnits(v.file.regions.values.data, addr)
	if err == nil {
		err = v.spend(len(units))
	}
	if err != nil {
		return 0, err
	}
	h := uint32(0)
	for ; len(units) >= charSize; units = units[charSize:] {
		h = hash.Unit(h, hash.Fold(binary.LittleEndian.Uint16(units)))
	}
	h &= valueHashMask
	v.valueHashes[n] = uint16(h) | hashKnown
	return uint16(h), nil
}
