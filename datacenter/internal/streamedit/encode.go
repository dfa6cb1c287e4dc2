package streamedit

import (
	"math/bits"

	"lorefs/internal/inflate"
)

// Numbers of RFC 1951, 3.2.3 to 3.2.7.
const (
	typeStored  = 0
	typeFixed   = 1
	typeDynamic = 2

	headerBits  = 3
	endOfBlock  = 256
	numLitLen   = 286
	numDist     = 30
	numCodeLen  = 19
	maxCodeLen  = 15
	maxLenCode  = 7 // longest code of a code length
	maxStored   = 1<<16 - 1
	storedExtra = 32 // bits of the two lengths of a stored block
	minMatch    = 3
	maxMatch    = 258

	// maxTokens is the number of tokens in a new block, like zlib's largest blocks.
	maxTokens = 1 << 15
)

// newBlock is an encoded block. Its place in the stream is not known yet.
type newBlock struct {
	out   int64 // offset of its first byte in the new data
	final bool
	// stored is the content of a stored block, and nil otherwise.
	stored []byte
	// bits are those of another block, header included, and n is their number.
	bits []byte
	n    int64
	// patched are the parts of an old block that keeps its codes. Then there are no bits.
	patched []Piece
	// points are the wanted places in the block. In is relative to the header.
	points []inflate.Point
}

// lengthCode is the symbol of a length or distance, with the extra bits behind it.
type lengthCode struct {
	symbol uint16
	extra  uint8
	base   uint16
}

// lengthCodes are those of the match lengths from minMatch on.
var lengthCodes = func() (t [maxMatch - minMatch + 1]lengthCode) {
	n := 0
	for s := range 28 {
		extra := uint8(max(s-4, 0) / 4)
		for base := n; n < base+1<<extra && n < len(t); n++ {
			t[n] = lengthCode{uint16(endOfBlock + 1 + s), extra, uint16(base)}
		}
	}
	t[maxMatch-minMatch] = lengthCode{symbol: numLitLen - 1, base: maxMatch - minMatch}
	return t
}()

// distanceCodes are those of the distances; base is that of one less than the distance.
var distanceCodes = func() (t [numDist]lengthCode) {
	for s := range t {
		extra := max(s/2-1, 0)
		base := s
		if s > 3 {
			base = (2 + s&1) << extra
		}
		t[s] = lengthCode{uint16(s), uint8(extra), uint16(base)}
	}
	return t
}()

// distanceSymbol returns the symbol of a distance, 1 to inflate.WindowSize.
func distanceSymbol(dist int) int {
	d := dist - 1
	if d < 4 {
		return d
	}
	extra := bits.Len(uint(d)) - 2
	return 2*extra + d>>extra
}

// encodeStored makes stored blocks of data, at least one. It copies data. Without any the block's
// stored is empty but not nil, which would make it a compressed one.
func encodeStored(data []byte, out int64, final bool, wanted []int64) (blocks []newBlock) {
	for first := true; first || len(data) > 0; first = false {
		part := data[:min(len(data), maxStored)]
		data = data[len(part):]
		b := newBlock{out: out, stored: append([]byte{}, part...), final: final && len(data) == 0}
		out += int64(len(part))
		for len(wanted) > 0 && (wanted[0] < out || len(data) == 0) {
			b.points = append(b.points, inflate.Point{Out: wanted[0], In: (wanted[0] - b.out) * 8})
			wanted = wanted[1:]
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// encodeTokens makes compressed blocks of tokens, at least one. It notes the places of the
// wanted offsets, which must lie in the blocks and ascend.
func encodeTokens(tokens []inflate.Token, out int64, final bool, wanted []int64) (blocks []newBlock) {
	count := max((len(tokens)+maxTokens-1)/maxTokens, 1)
	for i := range count {
		part := tokens[len(tokens)*i/count : len(tokens)*(i+1)/count]
		last := i == count-1
		e := tokenEncoder{newBlock: newBlock{out: out, final: final && last}}
		out, wanted = e.encode(part, wanted, last)
		blocks = append(blocks, e.newBlock)
	}
	return blocks
}

// tokenEncoder encodes one block.
type tokenEncoder struct {
	newBlock
	w             bitBuffer
	litLen, dists *code
	symbols       symbolTable
}

// encode encodes the tokens. It returns the offset behind them, and the wanted offsets that
// belong to the next block.
func (e *tokenEncoder) encode(tokens []inflate.Token, wanted []int64, last bool) (int64, []int64) {
	e.header(tokens)
	out := e.out
	for _, t := range tokens {
		next := out + int64(t.Len())
		if len(wanted) > 0 && wanted[0] == out {
			wanted = e.note(wanted, inflate.Point{})
		}
		e.token(t)
		for len(wanted) > 0 && wanted[0] < next {
			wanted = e.note(wanted, inflate.Point{Len: uint16(next - wanted[0]), Dist: uint16(t.Dist())})
		}
		out = next
	}
	for last && len(wanted) > 0 {
		wanted = e.note(wanted, inflate.Point{})
	}
	e.w.put(uint64(e.litLen.bits[endOfBlock]), uint(e.litLen.lengths[endOfBlock]))
	e.n = e.w.len()
	e.w.align()
	e.bits = e.w.b
	return out, wanted
}

// note stores the place of the first wanted offset, and returns the others.
func (e *tokenEncoder) note(wanted []int64, p inflate.Point) []int64 {
	p.Out, p.In = wanted[0], e.w.len()
	e.points = append(e.points, p)
	return wanted[1:]
}

func (e *tokenEncoder) token(t inflate.Token) {
	dist := t.Dist()
	if dist == 0 {
		x := e.symbols.literals[t.Byte()]
		e.w.put(uint64(x.bits), uint(x.n))
		return
	}
	x := e.symbols.lengths[uint8(t.Len()-minMatch)]
	e.w.put(uint64(x.bits), uint(x.n))
	s := distanceSymbol(dist)
	x = e.symbols.dists[s]
	e.w.put(uint64(x.bits)|uint64(dist-1-int(distanceCodes[s].base))<<x.n, uint(x.n+distanceCodes[s].extra))
}

// symbolBits are the first n bits that say something.
type symbolBits struct {
	bits uint32
	n    uint8
}

// symbolTable has what is written for each literal, each length with its extra bits, and each symbol of
// a distance without them.
type symbolTable struct {
	literals [256]symbolBits
	lengths  [len(lengthCodes)]symbolBits
	dists    [numDist]symbolBits
}

func (t *symbolTable) fill(litLen, dists *code) {
	for s := range t.literals {
		t.literals[s] = symbolBits{uint32(litLen.bits[s]), litLen.lengths[s]}
	}
	for i, l := range lengthCodes {
		n := litLen.lengths[l.symbol]
		t.lengths[i] = symbolBits{uint32(litLen.bits[l.symbol]) | uint32(i-int(l.base))<<n, n + l.extra}
	}
	for s := range t.dists {
		t.dists[s] = symbolBits{uint32(dists.bits[s]), dists.lengths[s]}
	}
}

// header chooses the codes for the tokens and writes the block's header: that of fixed codes,
// or of new ones if the block is shorter with them.
func (e *tokenEncoder) header(tokens []inflate.Token) {
	var litLen [numLitLen]int
	var dists [numDist]int
	for _, t := range tokens {
		if dist := t.Dist(); dist > 0 {
			litLen[lengthCodes[uint8(t.Len()-minMatch)].symbol]++
			dists[distanceSymbol(dist)]++
		} else {
			litLen[t.Byte()]++
		}
	}
	litLen[endOfBlock]++
	e.litLen, e.dists = newCode(litLen[:], maxCodeLen), newCode(dists[:], maxCodeLen)
	final := uint64(0)
	if e.final {
		final = 1
	}
	e.w.put(final|typeDynamic<<1, headerBits)
	e.codes()
	size := e.w.len() - headerBits + e.litLen.size(litLen[:]) + e.dists.size(dists[:])
	if fixedLitLen.size(litLen[:])+fixedDists.size(dists[:]) <= size {
		e.litLen, e.dists, e.w = fixedLitLen, fixedDists, bitBuffer{}
		e.w.put(final|typeFixed<<1, headerBits)
	}
	e.symbols.fill(e.litLen, e.dists)
}

var (
	fixedLitLen = fixedCode()
	fixedDists  = fixedDistances()
)

// size returns how many bits symbols of the given frequencies take, without extra bits.
func (c *code) size(freq []int) (n int64) {
	for s, f := range freq {
		n += int64(f) * int64(c.lengths[s])
	}
	return n
}

// codeLengthOrder is the order in which the lengths of the code length code are stored.
var codeLengthOrder = [numCodeLen]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codes writes the description of both codes (RFC 1951, 3.2.7).
func (e *tokenEncoder) codes() {
	litLen := trim(e.litLen.lengths, endOfBlock+1)
	dists := trim(e.dists.lengths, 1)
	symbols := appendLengths(appendLengths(nil, litLen), dists)
	var freq [numCodeLen]int
	for _, r := range symbols {
		freq[r.symbol]++
	}
	c := newCode(freq[:], maxLenCode)
	count := numCodeLen
	for count > 4 && c.lengths[codeLengthOrder[count-1]] == 0 {
		count--
	}
	e.w.put(uint64(len(litLen)-endOfBlock-1), 5)
	e.w.put(uint64(len(dists)-1), 5)
	e.w.put(uint64(count-4), 4)
	for _, s := range codeLengthOrder[:count] {
		e.w.put(uint64(c.lengths[s]), 3)
	}
	for _, r := range symbols {
		e.w.put(uint64(c.bits[r.symbol]), uint(c.lengths[r.symbol]))
		e.w.put(uint64(r.extra), uint(r.bits))
	}
}

// trim cuts zeros at the end, but leaves at least least lengths.
func trim(lengths []uint8, least int) []uint8 {
	n := len(lengths)
	for n > least && lengths[n-1] == 0 {
		n--
	}
	return lengths[:n]
}

// lengthSymbol is a symbol of the code length code with its extra bits.
type lengthSymbol struct {
	symbol, extra, bits uint8
}

// appendLengths encodes code lengths as single ones and repetitions.
func appendLengths(symbols []lengthSymbol, lengths []uint8) []lengthSymbol {
	for len(lengths) > 0 {
		value, n := lengths[0], 1
		for n < len(lengths) && lengths[n] == value {
			n++
		}
		lengths = lengths[n:]
		if value != 0 {
			symbols = append(symbols, lengthSymbol{symbol: value})
			n--
		}
		for n > 0 {
			r, k := longestRepeat(value, n)
			symbols = append(symbols, r)
			n -= k
		}
	}
	return symbols
}

// longestRepeat returns the symbol for as many as possible of the next n equal lengths, and their
// number.
func longestRepeat(value uint8, n int) (lengthSymbol, int) {
	switch {
	case n < 3:
		return lengthSymbol{symbol: value}, 1
	case value != 0:
		k := min(n, 6)
		return lengthSymbol{16, uint8(k - 3), 2}, k
	case n < 11:
		return lengthSymbol{17, uint8(n - 3), 3}, n
	}
	k := min(n, 138)
	return lengthSymbol{18, uint8(k - 11), 7}, k
}
