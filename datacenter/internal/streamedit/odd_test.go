package streamedit

import (
	"bytes"
	stdflate "compress/flate"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lorefs/internal/inflate"
	"lorefs/internal/testneeds"
)

// strict inflates a stream by the rules of RFC 1951 that some inflaters enforce and others do not:
// complete codes, no more symbols than there are, zeros as padding, and nothing behind the last block.
type strict struct {
	in  []byte
	bit int
	out []byte
}

var errStrict = errors.New("against RFC 1951")

func (s *strict) fail(format string, args ...any) {
	panic(fmt.Errorf("%w: at bit %d: %s", errStrict, s.bit, fmt.Sprintf(format, args...)))
}

func (s *strict) bits(n int) (v int) {
	for i := range n {
		if s.bit>>3 >= len(s.in) {
			s.fail("the stream ends")
		}
		v |= int(s.in[s.bit>>3]>>(s.bit&7)&1) << i
		s.bit++
	}
	return v
}

// huffman has the symbols of a code by their lengths and bits.
type huffman map[[2]int]int

// code makes a code. lonely allows one symbol of one bit, or none, as distances may have.
func (s *strict) code(lengths []int, lonely bool) huffman {
	h, next, used := huffman{}, 0, 0
	for length := 1; length <= 15; length++ {
		for symbol, l := range lengths {
			if l == length {
				h[[2]int{length, next}] = symbol
				next++
				used += 1 << (15 - length)
			}
		}
		next <<= 1
	}
	few := lonely && (len(h) == 0 || len(h) == 1 && used == 1<<14)
	if used != 1<<15 && !few {
		s.fail("a code of %v", lengths)
	}
	return h
}

func (s *strict) symbol(h huffman) int {
	for length, v := 1, 0; length <= 15; length++ {
		v = v<<1 | s.bits(1)
		if symbol, ok := h[[2]int{length, v}]; ok {
			return symbol
		}
	}
	s.fail("no symbol")
	return 0
}

// inflate inflates all blocks.
func (s *strict) inflate() (err error) {
	defer func() {
		if e, ok := recover().(error); ok {
			err = e
		}
	}()
	for final := 0; final == 0; {
		final = s.bits(1)
		switch kind := s.bits(2); kind {
		case 0:
			s.stored()
		case 1:
			lengths := slices.Concat(slices.Repeat([]int{8}, 144), slices.Repeat([]int{9}, 112), slices.Repeat([]int{7}, 24), slices.Repeat([]int{8}, 8))
			s.block(s.code(lengths, false), s.code(slices.Repeat([]int{5}, 32), false))
		case 2:
			s.block(s.dynamic())
		default:
			s.fail("block type %d", kind)
		}
	}
	if s.bits(-s.bit&7) != 0 || s.bit != len(s.in)*8 {
		s.fail("the last block ends, %d bytes there", len(s.in))
	}
	return nil
}

func (s *strict) stored() {
	if s.bits(-s.bit&7) != 0 {
		s.fail("padded with ones")
	}
	n := s.bits(16)
	if s.bits(16) != n^0xffff {
		s.fail("a stored block of %d", n)
	}
	for range n {
		s.out = append(s.out, byte(s.bits(8)))
	}
}

// dynamic reads the codes of a block (RFC 1951, 3.2.7).
func (s *strict) dynamic() (litLen, dists huffman) {
	numLit, numDists, count := s.bits(5)+257, s.bits(5)+1, s.bits(4)+4
	if numLit > 286 || numDists > 30 {
		s.fail("%d and %d symbols", numLit, numDists)
	}
	order := []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	lengths := make([]int, len(order))
	for _, symbol := range order[:count] {
		lengths[symbol] = s.bits(3)
	}
	code := s.code(lengths, false)
	var all []int
	for len(all) < numLit+numDists {
		switch symbol := s.symbol(code); symbol {
		case 16:
			if len(all) == 0 {
				s.fail("nothing to repeat")
			}
			all = append(all, slices.Repeat(all[len(all)-1:], 3+s.bits(2))...)
		case 17:
			all = append(all, make([]int, 3+s.bits(3))...)
		case 18:
			all = append(all, make([]int, 11+s.bits(7))...)
		default:
			all = append(all, symbol)
		}
	}
	if len(all) > numLit+numDists || all[256] == 0 {
		s.fail("%d lengths, %d for the end of the block", len(all), all[256])
	}
	return s.code(all[:numLit], false), s.code(all[numLit:], true)
}

// block reads the symbols of a block (RFC 1951, 3.2.5).
func (s *strict) block(litLen, dists huffman) {
	for {
		symbol := s.symbol(litLen)
		switch {
		case symbol < 256:
			s.out = append(s.out, byte(symbol))
			continue
		case symbol == 256:
			return
		case symbol > 285:
			s.fail("length symbol %d", symbol)
		}
		length := 258
		switch k := symbol - 257; {
		case k < 8:
			length = 3 + k
		case k < 28:
			extra := k/4 - 1
			length = 3 + (4+k%4)<<extra + s.bits(extra)
		}
		d := s.symbol(dists)
		if d > 29 {
			s.fail("distance symbol %d", d)
		}
		dist := 1 + d
		if d > 3 {
			extra := d/2 - 1
			dist = 1 + (2+d%2)<<extra + s.bits(extra)
		}
		if dist > len(s.out) {
			s.fail("a distance of %d at %d", dist, len(s.out))
		}
		for range length {
			s.out = append(s.out, s.out[len(s.out)-dist])
		}
	}
}

// oddEdits are edits at the places where a splice has to do something else than elsewhere. Each
// returns no edit where there is no such place.
var oddEdits = []struct {
	name string
	make func(rng *rand.Rand, s *sample) []Edit
}{
	{"the first byte", func(_ *rand.Rand, s *sample) []Edit { return []Edit{{Len: 1, New: []byte{^s.data[0]}}} }},
	{"before the first byte", func(rng *rand.Rand, _ *sample) []Edit { return []Edit{{New: noise(rng, 5)}} }},
	{"the last byte", func(_ *rand.Rand, s *sample) []Edit {
		at := len(s.data) - 1
		return []Edit{{Off: int64(at), Len: 1, New: []byte{^s.data[at]}}}
	}},
	{"behind the last byte", func(rng *rand.Rand, s *sample) []Edit {
		return []Edit{{Off: int64(len(s.data)), New: noise(rng, 70)}}
	}},
	{"inserted between blocks", func(rng *rand.Rand, s *sample) []Edit { return []Edit{{Off: boundary(rng, s), New: noise(rng, 3)}} }},
	{"across two blocks", func(rng *rand.Rand, s *sample) []Edit {
		at := boundary(rng, s)
		n := min(4, at, int64(len(s.data))-at)
		return []Edit{{Off: at - n, Len: 2 * n, New: noise(rng, 2*n)}}
	}},
	{"removed up to a block", func(rng *rand.Rand, s *sample) []Edit {
		at := boundary(rng, s)
		n := min(9, at)
		return []Edit{{Off: at - n, Len: n}}
	}},
	{"a whole block", func(rng *rand.Rand, s *sample) []Edit {
		i := rng.IntN(len(s.blocks) - 1)
		return []Edit{{Off: s.blocks[i].Out, Len: s.blocks[i+1].Out - s.blocks[i].Out}}
	}},
	{"neighbours", func(rng *rand.Rand, s *sample) []Edit {
		at := rng.Int64N(max(int64(len(s.data))-8, 1))
		if at+8 > int64(len(s.data)) {
			return nil
		}
		return []Edit{{Off: at, New: noise(rng, 2)}, {Off: at, Len: 1, New: noise(rng, 1)}, {Off: at + 1, Len: 2}, {Off: at + 4, Len: 1, New: noise(rng, 30)}}
	}},
	{"a window longer", func(rng *rand.Rand, s *sample) []Edit {
		return []Edit{{Off: rng.Int64N(int64(len(s.data))), New: noise(rng, inflate.WindowSize-rng.Int64N(3))}}
	}},
	{"a window shorter", func(rng *rand.Rand, s *sample) []Edit {
		at := rng.Int64N(int64(len(s.data)))
		return []Edit{{Off: at, Len: min(inflate.WindowSize+rng.Int64N(3)-1, int64(len(s.data))-at)}}
	}},
	{"longer here, shorter there", func(rng *rand.Rand, s *sample) []Edit {
		at := rng.Int64N(max(int64(len(s.data))-400, 1))
		if at+400 > int64(len(s.data)) {
			return nil
		}
		return []Edit{{Off: at, New: noise(rng, 7)}, {Off: at + 300, Len: 7}}
	}},
	{"more than a stored block holds", func(rng *rand.Rand, s *sample) []Edit {
		return []Edit{{Off: rng.Int64N(int64(len(s.data))), New: noise(rng, maxStored+rng.Int64N(3))}}
	}},
	{"many bytes", func(rng *rand.Rand, s *sample) (edits []Edit) {
		for at := rng.Int64N(90); at < int64(len(s.data)); at += 80 + rng.Int64N(20) {
			edits = append(edits, Edit{Off: at, Len: 1, New: noise(rng, 1)})
		}
		return edits
	}},
	{"nearly all", func(_ *rand.Rand, s *sample) []Edit { return []Edit{{Off: 1, Len: int64(len(s.data)) * 9 / 10}} }},
}

func noise(rng *rand.Rand, n int64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// boundary returns where a block begins or ends.
func boundary(rng *rand.Rand, s *sample) int64 { return s.blocks[rng.IntN(len(s.blocks))].Out }

// TestOddEdits makes edits at odd places, each on top of what the last one made.
func TestOddEdits(t *testing.T) {
	testneeds.Seconds(t)
	rounds, size := testneeds.Cases(1, 6, 60), testneeds.Cases(30_000, 100_000, 100_000)
	for _, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for seed := range rounds {
				rng := rand.New(rand.NewPCG(uint64(seed), 8))
				data := sampleData(rng, size)
				s := scan(t, w.write(rng, data), len(data))
				for _, i := range rng.Perm(len(oddEdits)) {
					edits := oddEdits[i].make(rng, s)
					if len(apply(s.data, edits)) == 0 {
						continue
					}
					s = s.edit(t, edits)
					x := strict{in: s.stream}
					if err := x.inflate(); err != nil || !bytes.Equal(x.out, s.data) {
						t.Fatalf("seed %d, %s: %d bytes of %d: %v", seed, oddEdits[i].name, len(x.out), len(s.data), err)
					}
				}
			}
		})
	}
}

// TestEmptiedStoredBlock removes all that the first block holds. Nothing was encoded before it.
func TestEmptiedStoredBlock(t *testing.T) {
	data := noise(rand.New(rand.NewPCG(1, 1)), 100_000)
	var stream bytes.Buffer
	w := must(stdflate.NewWriter(&stream, stdflate.NoCompression))
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := scan(t, stream.Bytes(), len(data))
	if len(s.blocks) < 3 || !s.blocks[0].Stored {
		t.Fatalf("the blocks are %v", s.blocks)
	}
	next := s.edit(t, []Edit{{Len: s.blocks[1].Out}})
	if !next.blocks[0].Stored || next.blocks[1].Out != 0 {
		t.Errorf("the blocks are %v", next.blocks)
	}
}

// oddStream makes a stream of random tokens, with matches at all distances up to the largest one, in
// blocks of all kinds and sizes, many of them empty. It returns the data as well.
func oddStream(rng *rand.Rand) (stream, data []byte) {
	var w bitBuffer
	add := func(blocks []newBlock) {
		for _, b := range blocks {
			if b.stored == nil {
				w.copyBits(b.bits, 0, b.n)
				continue
			}
			header := uint64(0)
			if b.final {
				header = 1
			}
			w.put(header, headerBits)
			w.align()
			n := uint16(len(b.stored))
			for _, half := range []uint16{n, ^n} {
				w.put(uint64(half), 16)
			}
			w.copyBits(b.stored, 0, int64(n)*8)
		}
	}
	if rng.IntN(2) == 0 { // so that there are far matches
		data = noise(rng, inflate.WindowSize-rng.Int64N(300))
		add(encodeStored(data, 0, false, nil))
	}
	for left := rng.IntN(40); left >= 0; left-- {
		last := left == 0
		begin := len(data)
		var tokens []inflate.Token
		for range rng.IntN(rng.IntN(60) + 1) {
			if t := oddToken(rng, len(data)); t.Dist() == 0 {
				tokens, data = append(tokens, t), append(data, t.Byte())
			} else {
				tokens = append(tokens, t)
				for range t.Len() {
					data = append(data, data[len(data)-t.Dist()])
				}
			}
		}
		if last && len(data) == 0 {
			tokens, data = []inflate.Token{inflate.Literal(1)}, []byte{1}
		}
		if rng.IntN(3) == 0 {
			add(encodeStored(data[begin:], 0, last, nil))
		} else {
			add(encodeTokens(tokens, 0, last, nil))
		}
	}
	w.align()
	return w.b, data
}

// oddToken returns a token that can stand behind have bytes.
func oddToken(rng *rand.Rand, have int) inflate.Token {
	if have == 0 || rng.IntN(2) == 0 {
		return inflate.Literal(byte(rng.IntN(rng.IntN(256) + 1)))
	}
	most := min(have, inflate.WindowSize)
	dist := 1 + rng.IntN(most)
	switch rng.IntN(4) {
	case 0:
		dist = most
	case 1:
		dist = 1 + rng.IntN(min(most, 5))
	}
	return inflate.Match(minMatch+rng.IntN(rng.IntN(maxMatch-minMatch+1)+1), dist)
}

// TestOddStreams makes edits of odd streams. There is a checkpoint every few bytes, so that many are
// inside matches and between empty blocks.
func TestOddStreams(t *testing.T) {
	for seed := range testneeds.Cases(10, 40, 1000) {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		stream, data := oddStream(rng)
		s := scanEvery(t, stream, len(data), 1+rng.IntN(300))
		for round := range 4 {
			edits := randomEdits(rng, s.data)
			if rng.IntN(2) == 0 {
				edits = oddEdits[rng.IntN(len(oddEdits))].make(rng, s)
			}
			if len(apply(s.data, edits)) == 0 {
				continue
			}
			s = s.edit(t, edits)
			x := strict{in: s.stream}
			if err := x.inflate(); err != nil || !bytes.Equal(x.out, s.data) {
				t.Fatalf("seed %d, round %d: %d bytes of %d: %v", seed, round, len(x.out), len(s.data), err)
			}
		}
	}
}
