package sheets

import "lorefs/datacenter"

// attributeKey is all that the text of a stored attribute depends on: name, type and stored bits.
// It is never 0, since no name has the index 0.
type attributeKey uint64

func keyOfAttribute(a *datacenter.Attribute) attributeKey {
	return attributeKey(a.Bits())<<32 | attributeKey(a.Type())<<16 | attributeKey(a.NameIndex())
}

// place returns the slot of a key in a cache of 1<<bits slots.
func (k attributeKey) place(bits int) uint64 {
	const spread = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return uint64(k) * spread >> (64 - bits)
}

// attributeSizes caches the sizes of the values of attributes that need no escapes.
type attributeSizes []attributeSize

type attributeSize struct {
	key  attributeKey
	size int
}

const sizeBits = 15

// plainLen is [plainLen], but remembers what it returned.
func (c attributeSizes) plainLen(a *datacenter.Attribute) (n int, ok bool, err error) {
	key := keyOfAttribute(a)
	s := &c[key.place(sizeBits)]
	if s.key == key {
		return s.size, true, nil
	}
	if n, ok, err = plainLen(a); ok {
		s.key, s.size = key, n
	}
	return n, ok, err
}
