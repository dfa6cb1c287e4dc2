package streamedit

import (
	"cmp"
	"math/bits"
	"slices"
)

// code is a Huffman code (RFC 1951, 3.2.2).
type code struct {
	lengths []uint8
	bits    []uint16 // of each symbol, the first one lowest
}

// newCode returns the best code for symbols of the given frequencies, where no code is longer
// than limit. Like zlib's, it has two symbols at least, so that it is complete: some
// inflaters refuse others.
func newCode(freq []int, limit int) *code {
	c := &code{lengths: make([]uint8, len(freq)), bits: make([]uint16, len(freq))}
	symbols := used(freq)
	n := len(symbols)
	depths := make([]int, limit+1) // number of symbols of each length
	for _, d := range treeDepths(freq, symbols) {
		depths[min(d, limit)]++
	}
	complete(depths)
	// The rarest symbols get the longest codes.
	for length := limit; length > 0; length-- {
		for range depths[length] {
			c.lengths[symbols[len(symbols)-n]] = uint8(length)
			n--
		}
	}
	c.assign()
	return c
}

// used returns the symbols that occur, the rarest first.
func used(freq []int) []int {
	var symbols []int
	for s, n := range freq {
		if n > 0 {
			symbols = append(symbols, s)
		}
	}
	slices.SortStableFunc(symbols, func(a, b int) int { return cmp.Compare(freq[a], freq[b]) })
	for s := 0; len(symbols) < 2; s++ {
		if freq[s] == 0 {
			symbols = slices.Insert(symbols, 0, s)
		}
	}
	return symbols
}

// treeDepths returns the depth of each of the symbols in a Huffman tree, not in their order.
func treeDepths(freq, symbols []int) []int {
	n := len(symbols)
	// The leaves come first, then the inner nodes in the order in which they are made, which is
	// that of their weights.
	weight, parent := make([]int, 2*n-1), make([]int, 2*n-1)
	for i, s := range symbols {
		weight[i] = freq[s]
	}
	leaf, inner := 0, n
	for made := n; made < 2*n-1; made++ {
		for range 2 {
			least := inner
			if inner == made || leaf < n && weight[leaf] <= weight[inner] {
				least = leaf
				leaf++
			} else {
				inner++
			}
			weight[made] += weight[least]
			parent[least] = made
		}
	}
	depth := make([]int, 2*n-1)
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
	}
	return depth[:n]
}

// complete makes the code complete again whose longest codes were cut. depths has the number
// of symbols of each length.
func complete(depths []int) {
	limit := len(depths) - 1
	used := 0 // in codes of the longest length
	for d, n := range depths {
		used += n << (limit - d)
	}
	used -= depths[0] << limit
	for ; used > 1<<limit; used-- {
		// A shorter code becomes two codes of the next length, of which a longest one gets the
		// second.
		d := limit - 1
		for depths[d] == 0 {
			d--
		}
		depths[d]--
		depths[d+1] += 2
		depths[limit]--
	}
}

// assign gives the symbols their bits.
func (c *code) assign() {
	var next [16]uint16
	for _, n := range c.lengths {
		next[n]++
	}
	next[0] = 0
	first := uint16(0)
	for n := 1; n < len(next); n++ {
		count := next[n]
		first <<= 1
		next[n] = first
		first += count
	}
	for s, n := range c.lengths {
		if n > 0 {
			c.bits[s] = bits.Reverse16(next[n]) >> (16 - n)
			next[n]++
		}
	}
}

// set makes c the code for count symbols of which the first ones have the given lengths, and the others
// none.
func (c *code) set(lengths []uint8, count int) {
	c.lengths = append(append(c.lengths[:0], lengths...), make([]uint8, count-len(lengths))...)
	if c.bits == nil {
		c.bits = make([]uint16, count)
	}
	c.assign()
}

// put writes a symbol. It reports false if that has no code.
func (c *code) put(w *bitBuffer, symbol int) bool {
	n := c.lengths[symbol]
	if n == 0 {
		return false
	}
	w.put(uint64(c.bits[symbol]), uint(n))
	return true
}

// fixedCode returns the code for literals and lengths in fixed blocks (RFC 1951, 3.2.6).
func fixedCode() *code {
	c := &code{lengths: make([]uint8, 288), bits: make([]uint16, 288)}
	for s := range c.lengths {
		switch {
		case s < 144:
			c.lengths[s] = 8
		case s < 256:
			c.lengths[s] = 9
		case s < 280:
			c.lengths[s] = 7
		default:
			c.lengths[s] = 8
		}
	}
	c.assign()
	return c
}

// fixedDistances returns the code for distances in fixed blocks.
func fixedDistances() *code {
	c := &code{lengths: slices.Repeat([]uint8{5}, 32), bits: make([]uint16, 32)}
	c.assign()
	return c
}
