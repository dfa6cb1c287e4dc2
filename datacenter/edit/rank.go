package edit

import (
	"iter"
	"math"
)

// Ordinals are labels: they last as long as the Draft, while each file that is
// written counts siblings of one name from 0 on. So what orders siblings, and
// what a record says, is a rank: it means the same in the Draft and in its base.
// Ranks lie so far apart that there is room in between for what is added after a
// save at an ordinal that is in the middle.

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
	low, ordinal := uint64(0), int64(-1) // of the one before
	if before != nil {
		low, ordinal = before.rank, int64(before.ordinal)
	}
	last, _ := parent.around(name, e.Node, math.MaxUint64)
	_, after := parent.around(name, e.Node, low+1)
	switch {
	case low < want && (after == nil || want < after.rank):
		return want
	case after == nil || after.rank-low < 2: // in the latter case no room is left
		return min(last.rank+rankGap, maxRank)
	}
	room := after.rank - low
	if after.ordinal > e.Ordinal { // room for all ordinals in between
		if share := uint64(int64(after.ordinal) - ordinal); share > 2 && share < room {
			return low + room/share*uint64(int64(e.Ordinal)-ordinal)
		}
	}
	return low + room/2
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

// siblingSpot is where among its siblings of one name a node was put by its Rank: behind
// one, or ahead of all if that is 0, so that share of the room up to the next one is ahead
// of it. Behind the last one share is how much its rank is higher.
type siblingSpot struct {
	behind Number
	last   bool
	share  float64
}

// spot tells where an edit with a Rank puts its node, so that place can find it when all
// have other ranks.
func (d *Draft) spot(parent *draftNode, e *Edit) siblingSpot {
	before, after := parent.around(d.index[e.Name], e.Node, e.Rank)
	s := siblingSpot{last: after == nil}
	low := uint64(0)
	if before != nil {
		s.behind, low = before.number, before.rank
	}
	s.share = float64(e.Rank - low)
	if after != nil {
		s.share /= float64(after.rank - low)
	}
	return s
}

// place is the rank of a spot among the siblings that there are now.
func (d *Draft) place(parent *draftNode, e *Edit, s siblingSpot) uint64 {
	name, low := d.index[e.Name], uint64(0)
	for k := range parent.siblings(name, e.Node) {
		if k.number == s.behind {
			low = k.rank
		}
	}
	_, after := parent.around(name, e.Node, low+1)
	switch {
	case after == nil && s.last:
		return min(low+uint64(s.share), maxRank)
	case after == nil:
		return min(low+rankGap, maxRank)
	case s.last:
		return low + (after.rank-low)/2
	}
	return low + min(max(uint64(s.share*float64(after.rank-low)), 1), after.rank-low-1)
}

// around gives the siblings of a name next to a rank, but for the one with a number: the
// last of those with lower ranks, and the first of the others. They are nil if there are none.
func (n *draftNode) around(name uint16, but Number, rank uint64) (before, after *draftChild) {
	for k := range n.siblings(name, but) {
		switch {
		case k.rank < rank && (before == nil || k.rank > before.rank):
			before = k
		case k.rank >= rank && (after == nil || k.rank < after.rank):
			after = k
		}
	}
	return before, after
}
