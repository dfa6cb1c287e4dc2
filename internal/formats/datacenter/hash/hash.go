// Package hash has the two hashes of strings in a data center.
package hash

// table is the table of both hashes. The format's documents print it twice; it
// is the CRC-32 table of polynomial 0x04c11db7 with the top bit first, which the
// hashes below then use as if it were the table with the lowest bit first.
var table = func() (t [256]uint32) {
	const polynomial = 0x04c11db7
	for i := range t {
		entry := uint32(i) << 24
		for range 8 {
			carry := entry >> 31
			entry = entry<<1 ^ carry*polynomial
		}
		t[i] = entry
	}
	return t
}()

// Unit adds a unit to a hash.
func Unit(hash uint32, unit uint16) uint32 {
	hash = table[byte(hash)^byte(unit)] ^ hash>>8
	return table[byte(hash)^byte(unit>>8)] ^ hash>>8
}

// String is data_center_string_hash: the hash by which the tables of names and
// of values are sorted into buckets. Unlike the C code of the documents it does not
// stop at a NUL, as the tools that write data centers do not.
func String(s []uint16) uint32 {
	var hash uint32
	for _, unit := range s {
		hash = Unit(hash, unit)
	}
	return hash
}

// Value is data_center_value_hash: the 14 bits that an attribute of type string
// carries as its extended code. It does not tell the cases of Latin letters apart.
func Value(s []uint16) uint16 {
	var hash uint32
	for _, unit := range s {
		hash = Unit(hash, Fold(unit))
	}
	return uint16(hash & 0x3fff)
}

// Fold is the upper case of a unit as Value sees it: Latin-1 as code page
// 1252 has it, and one letter of Latin Extended-A.
func Fold(unit uint16) uint16 {
	switch {
	case unit == 0x9c:
		return 0x8c
	case unit == 0xff:
		return 0x9f
	case unit == 0x151:
		return 0x150
	case unit == 0xf0, unit == 0xf7:
		return unit
	case unit >= 'a' && unit <= 'z', unit >= 0xe0 && unit <= 0xfe:
		return unit - ' '
	}
	return unit
}
