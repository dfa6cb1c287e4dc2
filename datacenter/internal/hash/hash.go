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

// tables has in table k what a byte adds to the hash k bytes behind it. So four bytes are added at once.
var tables = func() (t [4][256]uint32) {
	t[0] = table
	for k := 1; k < len(t); k++ {
		for i, before := range t[k-1] {
			t[k][i] = table[byte(before)] ^ before>>8
		}
	}
	return t
}()

// Unit adds a unit to a hash.
func Unit(hash uint32, unit uint16) uint32 {
	hash = table[byte(hash)^byte(unit)] ^ hash>>8
	return table[byte(hash)^byte(unit>>8)] ^ hash>>8
}

// Two adds two units to a hash. It takes hardly longer than Unit.
func Two(hash uint32, first, second uint16) uint32 {
	hash ^= uint32(first) | uint32(second)<<16
	return tables[3][byte(hash)] ^ tables[2][byte(hash>>8)] ^ tables[1][byte(hash>>16)] ^ tables[0][hash>>24]
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
	if int(unit) < len(folded) {
		return folded[unit]
	}
	return unit
}

// folded has the Fold of the first units: a table takes the same time for all letters.
var folded = func() (f [0x152]uint16) {
	for i := range f {
		f[i] = uint16(i)
		if i >= 'a' && i <= 'z' || i >= 0xe0 && i <= 0xfe {
			f[i] -= ' '
		}
	}
	f[0x9c], f[0xff], f[0x151], f[0xf0], f[0xf7] = 0x8c, 0x9f, 0x150, 0xf0, 0xf7
	return f
}()
