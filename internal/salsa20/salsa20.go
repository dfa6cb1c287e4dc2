// Package salsa20 is Bernstein's stream cipher Salsa20 of 20 rounds with 16-byte keys and
// 8-byte nonces. golang.org/x/crypto has only 32-byte keys.
package salsa20

import (
	"encoding/binary"
	"math/bits"
)

const blockSize = 64

// The constant of 16-byte keys, "expand 16-byte k", as little-endian words.
const (
	sigma0 = 0x61707865
	sigma1 = 0x3120646e
	sigma2 = 0x79622d36
	sigma3 = 0x6b206574
)

// XORKeyStream XORs src into dst with the beginning of the key stream. dst may be src, and
// must not be shorter.
func XORKeyStream(dst, src []byte, key *[16]byte, nonce *[8]byte) {
	XORKeyStreamAt(dst, src, 0, key, nonce)
}

// XORKeyStreamAt is XORKeyStream with the key stream from off on, which is not negative.
func XORKeyStreamAt(dst, src []byte, off int64, key *[16]byte, nonce *[8]byte) {
	state := initial(key, nonce)
	state[8], state[9] = uint32(off/blockSize), uint32(off/blockSize>>32)
	var block [blockSize]byte
	for skip := int(off % blockSize); len(src) > 0; skip = 0 {
		core(&block, &state)
		n := min(len(src), blockSize-skip)
		for i, c := range src[:n] {
			dst[i] = c ^ block[skip+i]
		}
		dst, src = dst[n:], src[n:]
		state[8]++
		if state[8] == 0 {
			state[9]++
		}
	}
}

func initial(key *[16]byte, nonce *[8]byte) [16]uint32 {
	var k [4]uint32
	for i := range k {
		k[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	return [16]uint32{
		sigma0, k[0], k[1], k[2],
		k[3], sigma1, binary.LittleEndian.Uint32(nonce[:]), binary.LittleEndian.Uint32(nonce[4:]),
		0, 0, sigma2, k[0],
		k[1], k[2], k[3], sigma3,
	}
}

// core makes one block of the key stream.
func core(out *[blockSize]byte, in *[16]uint32) {
	x := *in
	for range 10 {
		quarter(&x[0], &x[4], &x[8], &x[12])
		quarter(&x[5], &x[9], &x[13], &x[1])
		quarter(&x[10], &x[14], &x[2], &x[6])
		quarter(&x[15], &x[3], &x[7], &x[11])
		quarter(&x[0], &x[1], &x[2], &x[3])
		quarter(&x[5], &x[6], &x[7], &x[4])
		quarter(&x[10], &x[11], &x[8], &x[9])
		quarter(&x[15], &x[12], &x[13], &x[14])
	}
	for i := range x {
		binary.LittleEndian.PutUint32(out[4*i:], x[i]+in[i])
	}
}

func quarter(a, b, c, d *uint32) {
	*b ^= bits.RotateLeft32(*a+*d, 7)
	*c ^= bits.RotateLeft32(*b+*a, 9)
	*d ^= bits.RotateLeft32(*c+*b, 13)
	*a ^= bits.RotateLeft32(*d+*c, 18)
}
