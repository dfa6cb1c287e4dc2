package adler

import "golang.org/x/sys/cpu"

// wide says that the processor adds 32 bytes at a time.
var wide = cpu.X86.HasAVX2

// factors are what bytes are multiplied by: how often each of 64 counts, and sixteen ones of 16 bits.
var factors = func() (f [wideSize + 32]int8) {
	for i := range wideSize {
		f[i] = int8(wideSize - i)
	}
	for i := wideSize; i < len(f); i += 2 {
		f[i] = 1
	}
	return f
}()

// sums computes the sums of n times 64 bytes from p on: of the bytes; of the bytes before each 64;
// and, within each 64, of each byte times the number of bytes from it on.
//
//go:noescape
func sums(p *byte, n int, factors *[wideSize + 32]int8, s *[3]uint64)
