// Package words keeps large tables of numbers as the bytes of a file, little-endian. Where the
// processor has the same order, a table is used where it was read, and written as it is.
package words

import (
	"encoding/binary"
	"unsafe"
)

// Word is a number in a table.
type Word interface{ uint32 | uint64 }

// sameOrder says that the processor has the order of the file.
var sameOrder = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Of returns the numbers in b. They share the memory of b if it is aligned as they must be and the
// order is that of the processor, so b must not be changed.
func Of[T Word](b []byte) []T {
	size := int(unsafe.Sizeof(T(0)))
	n := len(b) / size
	if p := unsafe.Pointer(unsafe.SliceData(b)); sameOrder && uintptr(p)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	s := make([]T, n)
	for i := range s {
		for k, x := range b[i*size:][:size] {
			s[i] |= T(x) << (8 * k)
		}
	}
	return s
}

// Append appends the bytes of s to b.
func Append[T Word](b []byte, s []T) []byte {
	size := int(unsafe.Sizeof(T(0)))
	if sameOrder {
		return append(b, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size)...)
	}
	for _, v := range s {
		for k := range size {
			b = append(b, byte(v>>(8*k)))
		}
	}
	return b
}
