// Package lookup3 is Bob Jenkins' hash function of 2006 of that name, in its
// variants hashlittle and hashlittle2.
package lookup3

import (
	"encoding/binary"
	"math/bits"
)

// Hash2 is hashlittle2: it hashes data to two numbers. pc and pb are seeds; the
// first result is the better mixed.
func Hash2(data []byte, pc, pb uint32) (uint32, uint32) {
	a := 0xdeadbeef + uint32(len(data)) + pc
	b, c := a, a+pb
	for len(data) > 12 {
		a += binary.LittleEndian.Uint32(data)
		b += binary.LittleEndian.Uint32(data[4:])
		c += binary.LittleEndian.Uint32(data[8:])
		a, b, c = mix(a, b, c)
		data = data[12:]
	}
	if len(data) == 0 {
		return c, b
	}
	var last [12]byte
	copy(last[:], data)
	a += binary.LittleEndian.Uint32(last[:])
	b += binary.LittleEndian.Uint32(last[4:])
	c += binary.LittleEndian.Uint32(last[8:])
	return final(a, b, c)
}

// Hash is hashlittle, the first result of Hash2.
func Hash(data []byte, seed uint32) uint32 {
	c, _ := Hash2(data, seed, 0)
	return c
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a = (a - c) ^ bits.RotateLeft32(c, 4)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 6)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 8)
	b += a
	a = (a - c) ^ bits.RotateLeft32(c, 16)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 19)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func final(a, b, c uint32) (uint32, uint32) {
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return c, b
}
