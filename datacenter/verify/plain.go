package verify

import (
	"encoding/binary"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/hash"
)

// plainRun reports whether nothing is wrong with the attributes of n, for nearly all runs: they
// lie in one block. Any other run is checked one attribute at a time, by attribute, which knows
// what is wrong.
func (v *verifier) plainRun(n datacenter.Node) bool {
	f, count := v.file, int(n.Form().AttrCount)
	size := int(f.Layout.AttributeSize())
	off, err := form.Run(f.Regions.Attributes, n.Form().AttrAddr, count, int64(size))
	if err != nil {
		return false
	}
	var scratch [form.MaxAttributeSize]byte
	b, err := f.Elements(off, count, size, scratch[:])
	if err != nil || len(b) < count*size {
		return false
	}
	prev := uint16(0)
	for ; len(b) >= size; b = b[size:] {
		r := form.ParseAttribute(b)
		last := prev != 0 && prev == f.ValueName
		if r.Name <= prev || last || int(r.Name) > len(f.Names) || !v.plainValue(r) {
			return false
		}
		prev = r.Name
	}
	return true
}

// plainValue reports whether nothing is wrong with the value of an attribute.
func (v *verifier) plainValue(r form.Attribute) bool {
	switch form.Type(r.TypeCode) {
	case form.Int: // and Bool
		return r.Name != v.file.ValueName && (r.Extended == 0 || r.Extended == 1 && r.Bits <= 1)
	case form.Float:
		return r.Name != v.file.ValueName && r.Extended == 0
	case form.String:
		n, ok := v.valueStarts.at(r.Value())
		if !ok || !v.isValue(n) {
			return false
		}
		got, err := v.valueHash(n, r.Value())
		return err == nil && got == r.Extended
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
func (v *verifier) valueHash(n int64, addr form.Address) (uint16, error) {
	if h := v.valueHashes[n]; h != 0 {
		return h &^ hashKnown, nil
	}
	units, err := v.file.StringUnits(v.file.Regions.Values.Data, addr)
	if err == nil {
		err = v.spend(len(units))
	}
	if err != nil {
		return 0, err
	}
	h := uint32(0)
	for ; len(units) >= form.CharSize; units = units[form.CharSize:] {
		h = hash.Unit(h, hash.Fold(binary.LittleEndian.Uint16(units)))
	}
	h &= form.ValueHashMask
	v.valueHashes[n] = uint16(h) | hashKnown
	return uint16(h), nil
}
