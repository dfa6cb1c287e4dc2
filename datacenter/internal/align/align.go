// Package align finds which elements of two sequences belong together. Elements are
// compared by hashes. Sequences may have a hundred thousand elements, and be hostile, so
// the work is bounded.
//
// The functions note the partner of each element of p in to, which is as long as p: a place
// in q, or None.
package align

// None is the place of an element without partner.
const None = -1

// InTurn matches equal hashes: the first in p with the first in q, and so on. It leaves the entries
// of unmatched elements as they are.
func InTurn(p, q []uint64, to []int32) {
	first := make(map[uint64]int32, len(q)) // the next place in q of each hash
	next := make([]int32, len(q))
	for j := len(q) - 1; j >= 0; j-- {
		next[j] = None
		if k, ok := first[q[j]]; ok {
			next[j] = k
		}
		first[q[j]] = int32(j)
	}
	for i, h := range p {
		if j, ok := first[h]; ok && j != None {
			to[i] = j
			first[h] = next[j]
		}
	}
}

// Unique matches equal hashes that occur once in p and once in q.
func Unique(p, q []uint64, to []int32) {
	type times struct{ p, q, at int32 }
	counts := make(map[uint64]times, len(p))
	for _, h := range p {
		t := counts[h]
		t.p++
		counts[h] = t
	}
	for j, h := range q {
		t := counts[h]
		t.q, t.at = t.q+1, int32(j)
		counts[h] = t
	}
	for i, h := range p {
		if t := counts[h]; t.p == 1 && t.q == 1 {
			to[i] = t.at
		}
	}
}

// FillGaps matches the elements that lie between the same two matches, the first with the first,
// and returns how many it has matched. Of the matches in to, only those that keep their order bound
// gaps. n is the length of q.
func FillGaps(to []int32, n int) (filled int) {
	stays := Ascending(to)
	taken := make([]bool, n)
	for _, j := range to {
		if j != None {
			taken[j] = true
		}
	}
	j := 0 // elements of q before j are matched, or belong to an earlier gap
	for i := 0; i < len(to); {
		end, jEnd := i, n
		for end < len(to) && !stays[end] {
			end++
		}
		if end < len(to) {
			jEnd = int(to[end])
		}
		for ; i < end; i++ {
			for j < jEnd && taken[j] {
				j++
			}
			if to[i] == None && j < jEnd {
				to[i] = int32(j)
				filled++
				j++
			}
		}
		i, j = end+1, jEnd+1
	}
	return filled
}
