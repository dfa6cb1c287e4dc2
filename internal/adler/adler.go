// Package adler computes the checksum of zlib streams, Adler-32 (RFC 1950 section 8.2), much
// faster than hash/adler32, which adds one byte after the other: it adds 32 at a time where the
// processor can, and else 8. It matters where inflating is not much slower than that: without
// the 32 at a time the first listing of a data center takes 1.1 times the CPU time.
package adler

import "encoding/binary"

const (
	// mod is the largest prime below 1<<16.
	mod = 65521

	wordSize = 8
	// chunkWords is how many words are added before the sums are folded. Lane sums must stay below
	// 1<<16: the second grows to 255*(0+1+...+21).
	chunkWords = 22
	chunkSize  = chunkWords * wordSize
	// chunksPerMod keeps the sums far below 1<<64.
	chunksPerMod = 1 << 10

	// wideSize is how many bytes sums adds in one round. wideMost is the most rounds of one call: each
	// may add 94,860 to a lane of 32 bits.
	wideSize = 64
	wideMost = 1 << 14

	evenBytes = 0x00ff00ff00ff00ff
	evenLanes = 0x0000ffff0000ffff
)

// Checksum returns the Adler-32 of p.
func Checksum(p []byte) uint32 {
	a, b := uint64(1), uint64(0)
	for wide && len(p) >= wideSize {
		n := min(len(p)/wideSize, wideMost)
		a, b = updateWide(a, b, p[:n*wideSize])
		p = p[n*wideSize:]
	}
	for len(p) >= chunkSize {
		n := min(len(p)/chunkSize, chunksPerMod) * chunkSize
		a, b = update(a, b, p[:n])
		p = p[n:]
	}
	for _, x := range p {
		a += uint64(x)
		b += a
	}
	return uint32(b%mod<<16 | a%mod)
}

// Replace returns the Adler-32 of data that had the checksum sum before bytes in it became others, as
// many. size is the number of bytes from them on up to the end of the data.
func Replace(sum uint32, size int64, before, after []byte) uint32 {
	a, b := uint64(sum&0xffff), uint64(sum>>16)
	for i, x := range after {
		// A byte counts once in the first sum, and in the second once for each byte from it on.
		more := uint64(x) + mod - uint64(before[i])
		a += more
		b += more * uint64((size-int64(i))%mod) % mod
	}
	return uint32(b%mod<<16 | a%mod)
}

// updateWide is update for whole rounds of sums. In the second sum of Adler-32 a byte counts once for
// each byte from it on. So it counts 64 times for each later round, and in its own as often as sums
// counts it.
func updateWide(a, b uint64, p []byte) (uint64, uint64) {
	var s [3]uint64
	sums(&p[0], len(p)/wideSize, &factors, &s)
	return (a + s[0]) % mod, (b + a*uint64(len(p)) + wideSize*s[1] + s[2]) % mod
}

// update adds whole chunks to both sums.
//
// The bytes of a word are added as lanes of 16 bits: those with an even place, and the others. For
// each there are a sum, and a sum of the sums before each word: a byte counts in that once
// for every word behind its own. So in the second sum of Adler-32 a byte weighs 8 times that,
// and what is left of its own word.
func update(a, b uint64, p []byte) (uint64, uint64) {
	for ; len(p) >= chunkSize; p = p[chunkSize:] {
		var even, odd, evens, odds uint64
		for c := p[:chunkSize]; len(c) >= 2*wordSize; c = c[2*wordSize:] {
			w := binary.LittleEndian.Uint64(c)
			evens += even
			odds += odd
			even += w & evenBytes
			odd += w >> 8 & evenBytes
			w = binary.LittleEndian.Uint64(c[wordSize:])
			evens += even
			odds += odd
			even += w & evenBytes
			odd += w >> 8 & evenBytes
		}
		b += chunkSize*a + wordSize*(lanes(evens)+lanes(odds)) + weigh(even, 8) + weigh(odd, 7)
		a += lanes(even) + lanes(odd)
	}
	return a % mod, b % mod
}

// lanes returns the sum of the four lanes of v.
func lanes(v uint64) uint64 {
	v = v&evenLanes + v>>16&evenLanes
	return v&0xffffffff + v>>32
}

// weigh returns the sum of the four lanes of v, of which the first weighs most, and each of the
// others two less than the one before.
func weigh(v, most uint64) uint64 {
	return v&0xffff*most + v>>16&0xffff*(most-2) + v>>32&0xffff*(most-4) + v>>48*(most-6)
}
