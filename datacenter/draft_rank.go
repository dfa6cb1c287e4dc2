package datacenter

import (
	"iter"
	"math"
)

// Ordinals are labels: they last as long as the Draft, while each file that is
// written counts siblings of one name from 0 on. So what orders siblings, and
// what a record says, is a rank: it means the same in the Draft and in the file
// that was written last. Ranks lie so far apart that there is room in between for
// what is added after a save at an ordinal that is in the middle.

// RankGap is how far the ranks of a file's siblings are apart. That of the first is
// RankGap.
const RankGap = rankGap

const rankGap = 1 << 31

// maxRank is the highest, twice that of any ordinal.
const maxRank = math.MaxUint64 - uint64(rankGap)

// rankOf is the rank of the sibling with an ordinal, if nothing was saved since
// it had that.
func rankOf(ordinal uint32) uint64 { return (uint64(ordinal) + 1) * rankGap }

// ordinalOf is the ordinal that a rank is nearest to.
func ordinalOf(rank uint64) uint32 {
	return uint32(min(max(rank/rankGap, 1)-1, math.MaxUint32))
}

// rank gives the rank for a node that goes to an ordinal among parent's children:
// behind the sibling whose ordinal is the next lower one.
func (d *Draft) rank(parent *draftNode, e *Edit) uint64 {
	want := rankOf(e.Ordinal)
	name, known := d.index[e.Name]
	if !parent.ranked || !known {
		return want
	}
	var before *draftChild
	for k := range parent.siblings(name, e.Node) {
		if k.ordinal < e.Ordinal && (before == nil || k.ordinal > before.ordinal) {
			before = k
		}
	}
	low, high, last := uint64(0), uint64(math.MaxUint64), uint64(0)
	ordinal := int64(-1) // of the one before
	if before != nil {
		low, ordinal = before.rank, int64(before.ordinal)
	}
	share := uint64(2) // of the room in between, one part goes ahead of the node
	for k := range parent.siblings(name, e.Node) {
		if k.rank > low && k.rank < high {
			high, share = k.rank, 2
			if k.ordinal > e.Ordinal { // room for all ordinals in between
				share = uint64(int64(k.ordinal) - ordinal)
			}
		}
		last = max(last, k.rank)
	}
	switch {
	case low < want && want < high:
		return want
	case high == math.MaxUint64 || high-low < 2: // in the latter case no room is left
		return min(last+rankGap, maxRank)
	}
	if share > 2 && share < high-low {
		return low + (high-low)/share*uint64(int64(e.Ordinal)-ordinal)
	}
	return low + (high-low)/2
}

// siblings gives the children that have a name, but for the one with a number.
func (n *draftNode) siblings(name uint16, but Number) iter.Seq[*draftChild] {
	return func(yield func(*draftChild) bool) {
		for i := range n.kids {
			if k := &n.kids[i]; !k.dead && k.name == name && k.number != but && !yield(k) {
				return
			}
		}
	}
}

// rerank gives the children of n, whose places are in the order of the file, the
// ranks that they have in it.
func (n *draftNode) rerank(order []int) {
	n.ranked = false
	ordinals := map[uint16]uint32{}
	for _, i := range order {
		k := &n.kids[i]
		k.rank = rankOf(ordinals[k.name])
		ordinals[k.name]++
		n.ranked = n.ranked || k.rank != rankOf(k.ordinal)
	}
}
