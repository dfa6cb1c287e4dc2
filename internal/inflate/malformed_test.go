package inflate

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// bitWriter makes streams by hand.
type bitWriter struct {
	out []byte
	n   uint
}

// bits writes the lowest n bits of v, lowest first.
func (w *bitWriter) bits(v, n uint) {
	for i := range n {
		if w.n&7 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.n>>3] |= byte(v >> i & 1 << (w.n & 7))
		w.n++
	}
}

// code writes the lowest n bits of v, highest first.
func (w *bitWriter) code(v, n uint) {
	for i := n; i > 0; i-- {
		w.bits(v>>(i-1), 1)
	}
}

func (w *bitWriter) align()        { w.n = (w.n + 7) &^ 7 }
func (w *bitWriter) bytes() []byte { return w.out }
func (w *bitWriter) fixedHeader()  { w.bits(1|typeFixed<<1, 3) }

// dynamicHeader describes two codes. The code length code has a code of 4 bits
// for each length.
func (w *bitWriter) dynamicHeader(litLen, dist []uint8) {
	w.bits(1|typeDynamic<<1, 3)
	w.bits(uint(len(litLen)-257), 5)
	w.bits(uint(len(dist)-1), 5)
	w.bits(numCodeLen-4, 4)
	for _, symbol := range codeLengthOrder {
		if symbol < repeatPrevious {
			w.bits(4, 3)
		} else {
			w.bits(0, 3)
		}
	}
	for _, n := range slices.Concat(litLen, dist) {
		w.code(uint(n), 4)
	}
}

// lengthsOf makes code lengths for n symbols from pairs of symbol and length.
func lengthsOf(n int, pairs ...int) []uint8 {
	lengths := make([]uint8, n)
	for ; len(pairs) > 0; pairs = pairs[2:] {
		lengths[pairs[0]] = uint8(pairs[1])
	}
	return lengths
}

func stream(f func(w *bitWriter)) []byte {
	var w bitWriter
	f(&w)
	return w.bytes()
}

// TestHandMade has streams that no compressor writes.
func TestHandMade(t *testing.T) {
	// Codes used below: 'a' 0, end-of-block 10, length 3 11.
	three := lengthsOf(258, 'a', 1, 256, 2, 257, 2)
	one := lengthsOf(1, 0, 1)
	// A code length code for 16, 17, 18 and 0, and then always the same bit.
	codeLengths := func(bit uint, lengths ...uint) func(*bitWriter) {
		return func(w *bitWriter) {
			w.bits(1|typeDynamic<<1, 3)
			w.bits(0, 14)
			for _, l := range lengths {
				w.bits(l, 3)
			}
			for w.n < 4000 {
				w.bits(bit, 1)
			}
		}
	}
	dynamic := func(litLen, dist []uint8, codes ...uint) func(*bitWriter) {
		return func(w *bitWriter) {
			w.dynamicHeader(litLen, dist)
			for i := 0; i < len(codes); i += 2 {
				w.code(codes[i], codes[i+1])
			}
			w.align()
		}
	}
	fixed := func(codes ...uint) func(*bitWriter) {
		return func(w *bitWriter) {
			w.fixedHeader()
			for i := 0; i < len(codes); i += 2 {
				w.code(codes[i], codes[i+1])
			}
			w.bits(0, 64)
		}
	}
	raw := func(b ...byte) func(*bitWriter) { return func(w *bitWriter) { w.out = b } }
	const eof = "EOF"
	const short = "unexpected EOF"
	const (
		badClen = "invalid code length code"
		badLit  = "invalid literal/length code"
		badDist = "invalid distance code"
	)
	for _, tt := range []struct {
		name string
		make func(*bitWriter)
		out  string
		want string
	}{
		{"nothing", raw(), "", short},
		{"block type 3", raw(7), "", "invalid block type"},
		{"stored", raw(1, 2, 0, 0xfd, 0xff, 'h', 'i'), "hi", eof},
		{"stored, padding not zero", raw(0xf9, 2, 0, 0xfd, 0xff, 'h', 'i'), "hi", eof},
		{"stored, empty, not final", raw(0, 0, 0, 0xff, 0xff), "", short},
		{"stored, lengths differ", raw(1, 2, 0, 0xfd, 0xfe, 'h', 'i'), "", "stored block lengths do not match"},
		{"stored, no lengths", raw(1, 2, 0, 0xfd), "", short},
		{"stored, data missing", raw(1, 2, 0, 0xfd, 0xff, 'h'), "h", short},

		{"fixed, empty", fixed(0, 7), "", eof},
		{"fixed, cut", raw(3), "", short},
		{"fixed, length 286", fixed(0xc6, 8), "", badLength},
		{"fixed, length 287", fixed(0xc7, 8), "", badLength},
		{"fixed, distance 30", fixed(0x30+'a', 8, 1, 7, 30, 5), "a", badDistance},
		{"fixed, distance 31", fixed(0x30+'a', 8, 1, 7, 31, 5), "a", badDistance},
		{"fixed, distance at start", fixed(1, 7, 0, 5), "", farDistance},
		{"fixed, distance too far", fixed(0x30+'a', 8, 1, 7, 1, 5), "a", farDistance},
		{"fixed, distance just right", fixed(0x30+'a', 8, 1, 7, 0, 5, 0, 7), "aaaa", eof},

		{"HLIT 287", func(w *bitWriter) { w.bits(5, 3); w.bits(30, 5); w.bits(0, 30) }, "", "too many length or distance symbols"},
		{"HLIT 288", func(w *bitWriter) { w.bits(5, 3); w.bits(31, 5); w.bits(0, 30) }, "", "too many length or distance symbols"},
		{"HDIST 31", func(w *bitWriter) { w.bits(5, 3); w.bits(0, 5); w.bits(30, 30) }, "", "too many length or distance symbols"},
		{"HDIST 32", func(w *bitWriter) { w.bits(5, 3); w.bits(0, 5); w.bits(31, 30) }, "", "too many length or distance symbols"},

		{"code length code, none", codeLengths(0, 0, 0, 0, 0), "", "invalid code length symbol"},
		{"code length code, single of 1", codeLengths(0, 0, 0, 0, 1), "", "missing end-of-block code"},
		{"code length code, single of 2", codeLengths(0, 0, 0, 0, 2), "", badClen},
		{"code length code, under", codeLengths(0, 0, 2, 2, 2), "", badClen},
		{"code length code, over", codeLengths(0, 0, 1, 1, 1), "", badClen},
		{"code length code, cut", raw(5, 0xe0), "", short},
		{"repeat without previous", codeLengths(1, 1, 0, 0, 1), "", "no code length to repeat"},
		{"repeat too much", codeLengths(1, 0, 0, 1, 1), "", "too many code lengths"},

		{"no end-of-block", dynamic(lengthsOf(257, 'a', 1, 'b', 1), one), "", "missing end-of-block code"},
		{"literal code over", dynamic(lengthsOf(257, 'a', 1, 'b', 1, 256, 1), one), "", badLit},
		{"literal code under", dynamic(lengthsOf(257, 'a', 1, 256, 2), one), "", badLit},
		{"end-of-block alone", dynamic(lengthsOf(257, 256, 1), one, 0, 1), "", eof},
		{"end-of-block alone, other bit", dynamic(lengthsOf(257, 256, 1), one, 1, 1), "", badLength},
		{"end-of-block alone, length 2", dynamic(lengthsOf(257, 256, 2), one), "", badLit},

		{"distance code over", dynamic(three, lengthsOf(3, 0, 1, 1, 1, 2, 1)), "", badDist},
		{"distance code under", dynamic(three, lengthsOf(3, 0, 1, 1, 2)), "", badDist},
		{"distance code single", dynamic(three, one, 0, 1, 3, 2, 0, 1, 2, 2), "aaaa", eof},
		{"distance code single, other bit", dynamic(three, one, 0, 1, 3, 2, 1, 1, 2, 2), "a", badDistance},
		{"distance code single, length 2", dynamic(three, lengthsOf(1, 0, 2)), "", badDist},
		{"distance code single, not the first", dynamic(three, lengthsOf(2, 1, 1), 0, 1, 0, 1, 3, 2, 0, 1, 2, 2), "aaaaa", eof},
		{"distance code empty, unused", dynamic(three, lengthsOf(1), 0, 1, 2, 2), "a", eof},
		{"distance code empty, used", dynamic(three, lengthsOf(1), 0, 1, 3, 2, 0, 1, 2, 2), "a", badDistance},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := stream(tt.make)
			var end Point
			for _, pad := range []int{0, 400} { // the latter reaches the hot loop
				if pad > 0 && tt.want == short {
					continue
				}
				padded := append(bytes.Clone(s), make([]byte, pad)...)
				d := NewDecoder(bytes.NewReader(padded), int64(len(padded)))
				buf := make([]byte, 1000)
				n, err := d.Decode(buf, 0)
				checkHandMade(t, err, tt.want)
				if string(buf[:n]) != tt.out {
					t.Errorf("output %q, want %q", buf[:n], tt.out)
				}
				if pad == 0 {
					end = d.Point()
				} else if got := d.Point(); tt.want == eof && got != end {
					t.Errorf("the end is at %+v, want %+v", got, end)
				}
				compare(t, padded, 1000, fixedPiece(1))
				compare(t, padded, 1000, fixedPiece(1000))
			}
		})
	}
}

// TestLongSymbols has symbols of all bits that there may be: literals of 11, a length of 15 and 5, and distances
// of 15 and 13.
func TestLongSymbols(t *testing.T) {
	lit, dist := lengthsOf(286, 'b', 1, 285, 2, 256, 15, 284, 15), lengthsOf(30, 0, 1, 27, 2, 28, 15, 29, 15)
	for n := 3; n < 15; n++ {
		lit['a'+n], dist[n] = uint8(n), uint8(n)
	}
	s := stream(func(w *bitWriter) {
		w.dynamicHeader(lit, dist)
		w.bits(0, 1) // b
		for range 150 {
			w.bits(1, 3) // 258 bytes from 1 before
		}
		for i := range 600 {
			w.bits(0, uint(i%23))
			for range i / 23 % 3 {
				w.code(0x7fe, 11) // 'a'+11
			}
			w.code(0x7fff, 15) // 284
			w.bits(30, 5)
			w.code(0x7ffe+uint(i&1), 15) // 28 or 29
			w.bits(uint(i)*2654435761>>7, 13)
		}
		w.code(0x7ffe, 15)
		w.bits(0, 400) // reaches the hot loop to the end
	})
	compare(t, s, 1<<20, fixedPiece(1<<20))
}

func checkHandMade(t *testing.T, err error, want string) {
	t.Helper()
	var corruptErr *CorruptError
	got := ""
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		got = io.ErrUnexpectedEOF.Error()
	case errors.Is(err, io.EOF):
		got = io.EOF.Error()
	case errors.As(err, &corruptErr):
		got = corruptErr.What
	}
	if got != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
