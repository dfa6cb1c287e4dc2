package md5s

import (
	"math"

	"golang.org/x/sys/cpu"
)

// sideBySide says that messages can be hashed side by side.
var sideBySide = cpu.X86.HasAVX2

// sines are the constants of the 64 steps, by the formula of RFC 1321 section 3.4.
var sines = func() (all [64]uint32) {
	for i := range all {
		all[i] = uint32(math.Floor(math.Abs(math.Sin(float64(i+1))) * (1 << 32)))
	}
	return all
}()

// ternary says that AVX-512 is there for registers of 256 bits. It makes a function of three words
// in one instruction, as it does a rotation, and so shortens the chain of a step.
var ternary = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL

// hashBlocks hashes n blocks of each lane, which begin at the places in at.
func hashBlocks(s *state, at *[lanes]*byte, sines *[64]uint32, n int) {
	if ternary {
		hashAVX512(s, at, sines, n)
		return
	}
	hashAVX2(s, at, sines, n)
}

//go:noescape
func hashAVX2(s *state, at *[lanes]*byte, sines *[64]uint32, n int)

//go:noescape
func hashAVX512(s *state, at *[lanes]*byte, sines *[64]uint32, n int)
