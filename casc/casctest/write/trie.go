package write

import (
	"encoding/binary"
	"slices"
)

// trie writes words as a trie of the marisa-trie library without its magic, with one byte
// in each node and without links. It returns the numbers of the words too.
func trie(words []string) ([]byte, map[string]int) {
	words = slices.Clone(words)
	slices.Sort(words)
	words = slices.Compact(words)
	louds, terminals, labels := []bool{true, false}, []bool{}, []byte{0}
	numbers := map[string]int{}
	// A node is the words that pass through it; they differ from depth on.
	type node struct {
		words []string
		depth int
	}
	for queue := []node{{words, 0}}; len(queue) > 0; {
		n := queue[0]
		queue = queue[1:]
		terminal := len(n.words) > 0 && len(n.words[0]) == n.depth
		terminals = append(terminals, terminal)
		if terminal {
			numbers[n.words[0]] = len(numbers)
			n.words = n.words[1:]
		}
		for len(n.words) > 0 {
			c := n.words[0][n.depth]
			same := slices.IndexFunc(n.words, func(w string) bool { return w[n.depth] != c })
			if same < 0 {
				same = len(n.words)
			}
			louds, labels = append(louds, true), append(labels, c)
			queue = append(queue, node{n.words[:same], n.depth + 1})
			n.words = n.words[same:]
		}
		louds = append(louds, false)
	}
	firstLevel := slices.Index(louds[2:], false)
	b := trieBits(nil, louds, select0|select1)
	b = trieBits(b, terminals, select1)
	b = trieBits(b, make([]bool, len(labels)), 0) // links
	b = trieVector(b, labels)
	b = append(trieVector(b, nil), make([]byte, 16)...) // extras
	b = trieBits(trieVector(b, nil), nil, 0)            // tail
	b = trieVector(b, emptyCache)
	b = binary.LittleEndian.AppendUint32(b, uint32(firstLevel))
	return binary.LittleEndian.AppendUint32(b, trieFlags), numbers
}

// trieFlags say that there is one level, in the order of labels, with a tail of text and a
// cache of normal size.
const trieFlags = 1 | 0x200 | 0x1000 | 0x10000

// emptyCache is a cache with one empty place: no parent, no child, and no weight.
var emptyCache = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0x80, 0}

func trieVector(b, data []byte) []byte {
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(data))), data...)
	return append(b, make([]byte, -len(data)&7)...)
}

// select0 and select1 say which tables of places a row of bits has besides the ranks.
const (
	select0 = 1 << iota
	select1
)

// trieBits writes a row of bits and its lookup tables, which CascLib and the library rely
// on.
func trieBits(b []byte, set []bool, tables int) []byte {
	units := make([]byte, (len(set)+63)/64*8)
	ones := uint32(0)
	for i, s := range set {
		if s {
			units[i/8] |= 1 << (i % 8)
			ones++
		}
	}
	b = trieVector(b, units)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(set)))
	b = binary.LittleEndian.AppendUint32(b, ones)
	if len(set) == 0 {
		return trieVector(trieVector(trieVector(b, nil), nil), nil)
	}
	b = trieVector(b, trieRanks(set))
	var zeros, places []byte
	if tables&select0 != 0 {
		zeros = triePlaces(set, false)
	}
	if tables&select1 != 0 {
		places = triePlaces(set, true)
	}
	return trieVector(trieVector(b, zeros), places)
}

// trieBlock is how many bits a row of the table of ranks covers, and how many ones or zeros
// are between two places in a table.
const trieBlock = 512

// trieRanks returns the table of ranks. For each block and for the end it has the number of
// ones before it:4, and then, in 7, 8, 8, and four times 9 bits, how many ones of the block
// are before its second to eighth word.
func trieRanks(set []bool) (b []byte) {
	ones := uint32(0)
	for from := 0; ; from += trieBlock {
		var within uint64
		before, shift := ones, 0
		block := set[min(from, len(set)):min(from+trieBlock, len(set))]
		for word := range 8 {
			if word > 0 {
				within |= uint64(ones-before) << shift
				shift += []int{7, 8, 8, 9, 9, 9, 9}[word-1]
			}
			for _, s := range block[min(64*word, len(block)):min(64*word+64, len(block))] {
				if s {
					ones++
				}
			}
		}
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, before), within)
		if from >= len(set) {
			return b
		}
	}
}

// triePlaces returns the table of the places of every 512th one or zero, and of the end.
func triePlaces(set []bool, of bool) (b []byte) {
	n := 0
	for i, s := range set {
		if s != of {
			continue
		}
		if n%trieBlock == 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
		}
		n++
	}
	return binary.LittleEndian.AppendUint32(b, uint32(len(set)))
}
