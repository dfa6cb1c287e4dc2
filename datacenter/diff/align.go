package diff

import (
	"lorefs/datacenter"
	"lorefs/internal/align"
)

// align tells which of ys belongs to each of xs, siblings of one name: its place,
// or none.
func (c *comparer) align(xs, ys []child) ([]int32, error) {
	to := make([]int32, len(xs))
	for i := range to {
		to[i] = align.None
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
	align.FillGaps(to, len(ys))
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
	align.InTurn(p, q, to)
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
	align.InTurn(p, q, to)
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
	if align.Subsequence(p, q, to) {
		return nil
	}
	align.Unique(p, q, to)
	for i, stays := range align.Ascending(to) {
		if !stays {
			to[i] = align.None
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
