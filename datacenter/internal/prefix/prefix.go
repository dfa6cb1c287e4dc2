// Package prefix finds out how far two texts are the same.
package prefix

import (
	"encoding/binary"
	"math/bits"
)

// Common returns how many bytes at the start of a and b are the same.
func Common(a, b []byte) int {
	const word = 8
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; i+word <= n; i += word {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
