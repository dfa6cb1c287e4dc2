package diff

import "lorefs/datacenter"

// none is the place of what belongs to nothing.
const none = -1

// align tells which of ys belongs to each of xs, siblings of one name: its place,
// or none.
func (c *comparer) align(xs, ys []child) ([]int32, error) {
	to := make([]int32, len(xs))
	for i := range to {
		to[i] = none
	}
	if len(xs) == 0 || len(ys) == 0 {
		return to, nil
	}
	def := c.keyDefinition(xs[0].node, ys[0].node)
	if len(def) > 0 {
		return to, c.alignByKeys(xs, ys, def, to)
	}
	if ok, err := c.alignByID(xs, ys, to); ok || err != nil {
		return to, err
	}
	if len(xs) > 1 || len(ys) > 1 {
		if err := c.alignByContent(xs, ys, to); err != nil {
			return nil, err
		}
	}
	fillGaps(to, len(ys))
	return to, nil
}

// keyDefinition is what siblings are told apart by: the keys that the first of
// them has. Both sides must go by one definition, also if it was edited.
func (c *comparer) keyDefinition(x, y datacenter.Node) []uint32 {
	if def := c.defs[c.a.keysOf(x)]; len(def) > 0 {
		return def
	}
	return c.defs[c.b.keysOf(y)]
}

func (c *comparer) alignByKeys(xs, ys []child, def []uint32, to []int32) error {
	p, _, err := c.keyHashes(c.a, xs, def)
	if err != nil {
		return err
	}
	q, _, err := c.keyHashes(c.b, ys, def)
	if err != nil {
		return err
	}
	matchInTurn(p, q, to)
	return nil
}

// alignByID is for nodes that all have an id, which no two share. ok is false if
// they are none.
func (c *comparer) alignByID(xs, ys []child, to []int32) (ok bool, err error) {
	def := []uint32{c.id}
	p, all, err := c.keyHashes(c.a, xs, def)
	if err != nil || !all || !unique(p) {
		return false, err
	}
	q, all, err := c.keyHashes(c.b, ys, def)
	if err != nil || !all || !unique(q) {
		return false, err
	}
	matchInTurn(p, q, to)
	return true, nil
}

// alignByContent finds a common subsequence of equal nodes. They are told apart by
// hashes only: those that belong together are compared afterwards.
func (c *comparer) alignByContent(xs, ys []child, to []int32) error {
	p, err := c.contentHashes(c.a, xs)
	if err != nil {
		return err
	}
	q, err := c.contentHashes(c.b, ys)
	if err != nil {
		return err
	}
	if commonSubsequence(p, q, to) {
		return nil
	}
	matchUnique(p, q, to)
	for i, stays := range longestAscending(to) {
		if !stays {
			to[i] = none
		}
	}
	return nil
}

func unique(hashes []uint64) bool {
	seen := make(map[uint64]struct{}, len(hashes))
	for _, h := range hashes {
		seen[h] = struct{}{}
	}
	return len(seen) == len(hashes)
}

// matchInTurn matches equal hashes: the first in p with the first in q, and so on.
func matchInTurn(p, q []uint64, to []int32) {
	first := make(map[uint64]int32, len(q)) // the next place in q of each hash
	next := make([]int32, len(q))
	for j := len(q) - 1; j >= 0; j-- {
		next[j] = none
		if k, ok := first[q[j]]; ok {
			next[j] = k
		}
		first[q[j]] = int32(j)
	}
	for i, h := range p {
		if j, ok := first[h]; ok && j != none {
			to[i] = j
			first[h] = next[j]
		}
	}
}

// matchUnique matches equal hashes that come once in p and once in q.
func matchUnique(p, q []uint64, to []int32) {
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

// fillGaps matches what lies between matches that ascend, the first with the first.
func fillGaps(to []int32, n int) {
	j := 0
	for i := 0; i < len(to); {
		end, jEnd := i, n
		for end < len(to) && to[end] == none {
			end++
		}
		if end < len(to) {
			jEnd = int(to[end])
		}
		for ; i < end && j < jEnd; i, j = i+1, j+1 {
			to[i] = int32(j)
		}
		i, j = end+1, jEnd+1
	}
}
