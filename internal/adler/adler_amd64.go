package adler

import "golang.org/x/sys/cpu"

const (
	// wideSize is how many bytes sums adds at a time, and wideBlocks how many times: its sums of 32
	// bits hold more.
	wideSize   = 32
	wideBlocks = 1 << 12
)

var hasWide = cpu.X86.HasAVX2

// sums returns the sum of the bytes of blocks of wideSize bytes, the sum of all bytes before each
// block, and the sum of the bytes of each block, each times the number of bytes from it to the end of
// its block. There must be at least one block and at most wideBlocks.
//
//go:noescape
func sums(p *byte, blocks int) (bytes, before, weighed uint64)

// updateWide adds whole blocks to both sums, if the processor can do it, and returns what is left.
func updateWide(a, b uint64, p []byte) (uint64, uint64, []byte) {
	for hasWide && len(p) >= wideSize {
		blocks := min(len(p)/wideSize, wideBlocks)
		bytes, before, weighed := sums(&p[0], blocks)
		n := blocks * wideSize
		b = (b + uint64(n)*a + wideSize*before + weighed) % mod
		a = (a + bytes) % mod
		p = p[n:]
	}
	return a, b, p
}
