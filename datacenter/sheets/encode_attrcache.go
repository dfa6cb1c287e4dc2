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

// attributeTexts caches the texts of attributes, each with its name. A file has ten times as many
// attributes as texts of them, and to find a string takes longer than to copy it.
type attributeTexts []cachedAttribute

// cachedAttribute has the size of a line of the processor's cache.
type cachedAttribute struct {
	key  attributeKey
	size uint8
	text [maxAttributeText]byte
}

const (
	attributeBits    = 13
	maxAttributeText = 55
)

// append appends the text of a key, if it is known.
func (c attributeTexts) append(dst []byte, key attributeKey) (out []byte, ok bool) {
	s := &c[key.place(attributeBits)]
	if s.key != key {
		return dst, false
	}
	if n := len(dst); cap(dst)-n >= maxAttributeText {
		// To copy a fixed size is faster. What is too much is overwritten later.
		*(*[maxAttributeText]byte)(dst[n : n+maxAttributeText]) = s.text
		return dst[:n+int(s.size)], true
	}
	return append(dst, s.text[:s.size]...), true
}

// keep caches a text that was just written.
func (c attributeTexts) keep(key attributeKey, text []byte) {
	if len(text) <= maxAttributeText {
		s := &c[key.place(attributeBits)]
		s.key, s.size = key, uint8(copy(s.text[:], text))
	}
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
