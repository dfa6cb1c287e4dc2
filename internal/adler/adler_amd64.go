package adler

import "golang.org/x/sys/cpu"

// wide says that the processor adds 32 bytes at a time.
var wide = cpu.X86.HasAVX2

// ones and weights are what the assembly multiplies by.
var (
	ones    = [16]int16{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	weights = func() (w [wideSize]int8) {
		for i := range w {
			w[i] = int8(wideSize - i)
		}
		return w
	}()
)

// sums computes the sums of n times 64 bytes from p on: of the bytes; of the bytes before each 64;
// and, within each 64, of each byte times the number of bytes from it on.
//
//go:noescape
func sums(p *byte, n int, s *[3]uint64)
