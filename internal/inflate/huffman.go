package inflate

import (
	"math/bits"
	"sync"
)

// Sizes from RFC 1951 section 3.2.5 to 3.2.7.
const (
	maxCodeLen  = 15
	endOfBlock  = 256
	numLitLen   = 288 // in the fixed code; 286 and 287 never occur in valid data
	numDist     = 32  // in the fixed code; 30 and 31 never occur in valid data
	maxHLIT     = 286
	maxHDIST    = 30
	numCodeLen  = 19
	maxMatchLen = 258
)

// A table turns the next bits of input into an entry by one lookup of a fixed number of
// root bits. Codes longer than that have a second lookup in a subtable, which lies in the
// same array behind the root.
//
// Entries are laid out so that a symbol and its extra bits are consumed by one shift:
//
//	bits  0-5   code and extra bits together; in a link, the subtable's index bits
//	bits  8-11  code bits
//	bits 12-15  flags
//	bits 16-31  literal, base of length or distance, code length symbol, or the
//	            index of the subtable
//
// The arrays are powers of two so that a masked index needs no bounds check. A subtable of
// 2^k entries belongs to a complete code of depth k, which has at least k+1 symbols. With k
// <= 4 for 288 symbols that makes at most 288/5*16 entries, and with k <= 6 for 32 symbols
// at most 32/7*64: the arrays suffice.
const (
	litLenRoot  = 11
	distRoot    = 9
	codeLenRoot = 7 // the longest code length code: no subtables

	litLenTableSize  = 1 << 12
	distTableSize    = 1 << 10
	codeLenTableSize = 1 << codeLenRoot

	lenMask      = 63
	codeLenShift = 8
	valueShift   = 16

	flagInvalid = 1 << 12 // no such symbol
	flagEnd     = 1 << 13 // end-of-block
	flagLink    = 1 << 14 // to a subtable
	flagLiteral = 1 << 15
)

type (
	litLenTable  [litLenTableSize]uint32
	distTable    [distTableSize]uint32
	codeLenTable [codeLenTableSize]uint32
)

// Entries without their code lengths, by symbol.
var (
	litLenEntries  = makeLitLenEntries()
	distEntries    = makeDistEntries()
	codeLenEntries = makeCodeLenEntries()
)

// makeLitLenEntries follows the first table of RFC 1951 section 3.2.5.
func makeLitLenEntries() (t [numLitLen]uint32) {
	for i := range endOfBlock {
		t[i] = flagLiteral | uint32(i)<<valueShift
	}
	t[endOfBlock] = flagEnd
	base := uint32(3)
	for i := endOfBlock + 1; i < 285; i++ {
		extra := uint32(max(i-261, 0) / 4)
		t[i] = base<<valueShift | extra
		base += 1 << extra
	}
	t[285] = maxMatchLen << valueShift
	t[286], t[287] = flagInvalid, flagInvalid
	return t
}

// makeDistEntries follows the second table of RFC 1951 section 3.2.5.
func makeDistEntries() (t [numDist]uint32) {
	base := uint32(1)
	for i := range maxHDIST {
		extra := uint32(max(i-2, 0) / 2)
		t[i] = base<<valueShift | extra
		base += 1 << extra
	}
	t[30], t[31] = flagInvalid, flagInvalid
	return t
}

func makeCodeLenEntries() (t [numCodeLen]uint32) {
	for i := range t {
		t[i] = uint32(i) << valueShift
	}
	return t
}

// huffman is the code for a list of code lengths (RFC 1951 section 3.2.2): its symbols
// sorted by length, then value, and the number of each length.
type huffman struct {
	count  [maxCodeLen + 1]int
	sorted [numLitLen]uint16
	n      int // symbols that have a code
	short  int // symbols with a code of at most root bits
}

// sort fills h from lengths. It reports whether the code is complete, or one of the two
// incomplete codes that zlib and compress/flate accept: no symbol at all, and a single one
// of length 1.
func (h *huffman) sort(lengths []uint8, root uint) bool {
	h.count = [maxCodeLen + 1]int{}
	for _, n := range lengths {
		h.count[n&maxCodeLen]++
	}
	h.count[0] = 0
	var next [maxCodeLen + 1]int
	h.n, h.short = 0, 0
	kraft := 0
	for n := uint(1); n <= maxCodeLen; n++ {
		next[n] = h.n
		h.n += h.count[n]
		kraft += h.count[n] << (maxCodeLen - n)
		if n <= root {
			h.short = h.n
		}
	}
	for symbol, n := range lengths {
		if n &= maxCodeLen; n != 0 {
			h.sorted[next[n]] = uint16(symbol)
			next[n]++
		}
	}
	return kraft == 1<<maxCodeLen || h.n == 0 || h.n == 1 && h.count[1] == 1
}

// build makes the table for the code that lengths describe, and reports whether that code
// is acceptable. entries has the meaning of each symbol.
func (h *huffman) build(table, entries []uint32, lengths []uint8, root uint) bool {
	if !h.sort(lengths, root) {
		return false
	}
	if h.n <= 1 {
		// Bits that are no code consume what compress/flate reads before it finds that out:
		// none in an empty code, one in a single-symbol code. It decides between corrupt
		// and truncated input.
		hole := uint32(flagInvalid | h.n | h.n<<codeLenShift)
		for i := range table[:1<<root] {
			table[i] = hole
		}
	}
	code := h.fillRoot(table, entries, lengths, root)
	if h.short < h.n {
		h.link(table, lengths, root, code)
		h.fillSubtables(table, entries, lengths, root, code)
	}
	return true
}

// fillRoot enters the codes that fit into root bits and returns the next code,
// as a number of the length of the first longer one.
func (h *huffman) fillRoot(table, entries []uint32, lengths []uint8, root uint) uint {
	var code, length uint
	for _, symbol := range h.sorted[:h.short] {
		n := uint(lengths[symbol])
		code <<= n - length
		double(table, length, n)
		length = n
		table[reverse(code, n)] = entries[symbol] + uint32(n|n<<codeLenShift)
		code++
	}
	double(table, length, root)
	if h.short < h.n {
		code <<= uint(lengths[h.sorted[h.short]]) - length
	}
	return code
}

// double repeats the first 2^from entries up to 2^to: bits behind a code make no difference.
func double(table []uint32, from, to uint) {
	for ; from < to; from++ {
		copy(table[1<<from:2<<from], table[:1<<from])
	}
}

// link enters the links to the subtables and lays these out behind the root. A
// subtable has as many index bits as its longest code needs, which is the last
// of those that share the root bits.
func (h *huffman) link(table []uint32, lengths []uint8, root, code uint) {
	long := h.sorted[h.short:h.n]
	next := uint32(1) << root
	length := uint(lengths[long[0]])
	prefix, index := -1, uint(0)
	for i, symbol := range long {
		n := uint(lengths[symbol])
		code <<= n - length
		length = n
		p := reverse(code, n) & (1<<root - 1)
		if p != prefix && i > 0 {
			table[prefix] = flagLink | next<<valueShift | uint32(index)
			next += 1 << index
		}
		prefix, index = p, n-root
		code++
	}
	table[prefix] = flagLink | next<<valueShift | uint32(index)
}

func (h *huffman) fillSubtables(table, entries []uint32, lengths []uint8, root, code uint) {
	long := h.sorted[h.short:h.n]
	length := uint(lengths[long[0]])
	for _, symbol := range long {
		n := uint(lengths[symbol])
		code <<= n - length
		length = n
		rev := reverse(code, n)
		l := table[rev&(1<<root-1)]
		sub := table[l>>valueShift:][:1<<(l&lenMask)]
		e := entries[symbol] + uint32(n|n<<codeLenShift)
		for i := rev >> root; i < len(sub); i += 1 << (n - root) {
			sub[i] = e
		}
		code++
	}
}

// reverse turns the n bits of a code around: Huffman codes are packed starting
// with their most significant bit, everything else with the least (RFC 1951
// section 3.1.1).
func reverse(code, n uint) int {
	return int(bits.Reverse16(uint16(code)) >> (16 - n))
}

// codes are the tables a block is decoded with.
type codes struct {
	litLen litLenTable
	dist   distTable
	// endBits is the length of the end-of-block code. With fewer bits left the input is
	// truncated, whatever they are.
	endBits uint
}

// fixedCodes returns the codes of RFC 1951 section 3.2.6.
var fixedCodes = sync.OnceValue(func() *codes {
	var lengths [numLitLen]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	c := &codes{endBits: 7}
	var h huffman
	h.build(c.litLen[:], litLenEntries[:], lengths[:], litLenRoot)
	for i := range numDist {
		lengths[i] = 5
	}
	h.build(c.dist[:], distEntries[:], lengths[:numDist], distRoot)
	return c
})
