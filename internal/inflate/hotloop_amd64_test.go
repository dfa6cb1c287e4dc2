//go:build linux

package inflate

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"lorefs/internal/testneeds"
)

const pageSize = 4096

// guarded returns whole pages between two that can't be touched.
func guarded(t *testing.T, pages int) []byte {
	t.Helper()
	size := pageSize * pages
	all, err := unix.Mmap(-1, 0, size+2*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(all) })
	for _, guard := range [][]byte{all[:pageSize], all[pageSize+size:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[pageSize:][:size:size]
}

// guardedDecoder returns a Decoder whose input ends where memory ends that may be touched.
func guardedDecoder(t *testing.T) *Decoder {
	t.Helper()
	const size = int(unsafe.Sizeof(Decoder{}))
	all := guarded(t, size/pageSize+1)
	d := (*Decoder)(unsafe.Pointer(&all[len(all)-size]))
	if unsafe.Pointer(&d.in[inputSize-1]) != unsafe.Pointer(&all[len(all)-1]) {
		t.Fatal("the input is not the last in a Decoder")
	}
	return d
}

// randomLengths returns the lengths of a complete code of some of n symbols, or of none or one.
func randomLengths(rng *rand.Rand, n int) []uint8 {
	lengths, leaves := make([]uint8, n), []uint8{0}
	most, onlyLast := rng.IntN(1+rng.IntN(n)), rng.IntN(3) == 0
	for range most {
		i := rng.IntN(len(leaves))
		if onlyLast {
			i = len(leaves) - 1 // makes it deep
		}
		if leaves[i] < maxCodeLen {
			leaves[i]++
			leaves = append(leaves, leaves[i])
		}
	}
	if len(leaves) == 1 {
		leaves[0] = uint8(rng.IntN(2))
	}
	for i, symbol := range rng.Perm(n)[:len(leaves)] {
		lengths[symbol] = leaves[i]
	}
	return lengths
}

// randomCodes returns codes whose tables have something else where no code leads.
func randomCodes(t *testing.T, rng *rand.Rand) *codes {
	t.Helper()
	if rng.IntN(8) == 0 {
		return fixedCodes()
	}
	c := &codes{}
	for i := range c.litLen {
		c.litLen[i] = rng.Uint32()
	}
	for i := range c.dist {
		c.dist[i] = rng.Uint32()
	}
	lengths, distances := randomLengths(rng, maxHLIT), randomLengths(rng, maxHDIST)
	c.endBits = uint(lengths[256])
	var h huffman
	if !h.build(c.litLen[:], litLenEntries[:], lengths, litLenRoot) || !h.build(c.dist[:], distEntries[:], distances, distRoot) {
		t.Fatalf("no codes: %v, %v", lengths, distances)
	}
	return c
}

// TestHotLoopAtEnds has hotLoop inflate random input by random codes where input and output end at memory that
// can't be touched, and compares all that it leaves with what decodePortable does.
func TestHotLoopAtEnds(t *testing.T) {
	testneeds.Seconds(t)
	if !hasHotLoop {
		t.Skip("the processor can't run it")
	}
	hot, want := guardedDecoder(t), &Decoder{}
	out := guarded(t, 10)
	before := make([]byte, len(out))
	endings := map[string]int{}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(1, seed))
		for i := range before {
			before[i] = byte(rng.Uint32())
		}
		buf := out
		if size := fastOutput + rng.IntN(3000); seed%3 == 1 {
			buf = out[:size]
		} else if seed%3 == 2 {
			buf = out[len(out)-size:]
		}
		copy(buf, before)
		wantBuf := bytes.Clone(buf)
		p := rng.IntN(len(buf) - fastOutput + 1)
		floor := rng.IntN(2) * rng.IntN(p+1)
		*want = Decoder{codes: randomCodes(t, rng), final: true, state: inHuffman, end: inputSize}
		for i := range want.in {
			want.in[i] = byte(rng.Uint32())
		}
		want.pos = inputSize - fastInput - rng.IntN(1500)
		want.nbits = uint(rng.IntN(64))
		want.bits = rng.Uint64() & (1<<want.nbits - 1)
		*hot = *want
		got, what := hot.decodeHot(buf, p, floor)
		end, wantWhat := want.decodePortable(wantBuf, p, floor)
		if got != end || what != wantWhat || !bytes.Equal(buf[:got], wantBuf[:end]) {
			t.Fatalf("seed %d: up to %d, %q, want %d, %q, or other bytes", seed, got, what, end, wantWhat)
		}
		if hot.pos != want.pos || hot.bits != want.bits || hot.nbits != want.nbits || hot.state != want.state || hot.last != want.last {
			t.Fatalf("seed %d: at %d, %d bits %x, state %d, last %d: want %d, %d, %x, %d, %d", seed,
				hot.pos, hot.nbits, hot.bits, hot.state, hot.last, want.pos, want.nbits, want.bits, want.state, want.last)
		}
		switch {
		case what == "" && hot.state == atEnd:
			what = "end"
		case what == "" && len(buf)-got < fastOutput:
			what = "room"
		case what == "":
			what = "input"
		}
		endings[what]++
	}
	for _, what := range []string{"end", "room", "input", badLength, badDistance, farDistance} {
		if endings[what] < 10 {
			t.Errorf("%q ended it %d times", what, endings[what])
		}
	}
}
