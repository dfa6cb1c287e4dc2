package write

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// trie writes words as a trie of the marisa-trie library without its magic: with a
// node a byte, and without links. It gives the numbers of the words too.
func trie(words []string) ([]byte, map[string]int) {
	words = slices.Clone(words)
	slices.Sort(words)
	words = slices.Compact(words)
	louds, terminals, labels := []bool{true, false}, []bool{}, []byte{0}
	numbers := map[string]int{}
	// A node is the words that go through it; they differ from depth on.
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
	b := trieBits(trieBits(nil, louds), terminals)
	b = trieBits(b, make([]bool, len(labels)))
	b = trieVector(b, labels)
	b = append(trieVector(b, nil), make([]byte, 16)...) // extras
	b = trieBits(trieVector(b, nil), nil)               // tail
	return append(trieVector(b, make([]byte, 12)), make([]byte, 8)...), numbers
}

func trieVector(b, data []byte) []byte {
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(data))), data...)
	return append(b, make([]byte, -len(data)&7)...)
}

func trieBits(b []byte, set []bool) []byte {
	units := make([]byte, (len(set)+63)/64*8)
	for i, s := range set {
		if s {
			units[i/8] |= 1 << (i % 8)
		}
	}
	ones := 0
	for _, u := range units {
		ones += bits.OnesCount8(u)
	}
	b = trieVector(b, units)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(set)))
	b = binary.LittleEndian.AppendUint32(b, uint32(ones))
	for range 3 {
		b = trieVector(b, nil)
	}
	return b
}
