package spell

import (
	"cmp"
	"slices"
)

// Compare is the order of children in a sheet and of everything in a schema: that of the
// UTF-16 units of two texts, given as WTF-8. It differs from the order of bytes beyond the
// surrogates.
func Compare[A, B string | []byte](a A, b B) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	if a[i] < surrogateLead && b[i] < surrogateLead {
		return cmp.Compare(a[i], b[i])
	}
	return slices.Compare(utf16Units(string(a)), utf16Units(string(b)))
}

// surrogateLead is the first byte from which on the order of bytes may differ from that of
// units.
const surrogateLead = 0xed
