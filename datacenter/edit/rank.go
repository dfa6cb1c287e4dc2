package edit

import "math"

// Ordinals are labels: they stay the same as long as the Draft lives, while each written
// file counts siblings of one name from 0 on. So a rank, not the ordinal, orders siblings,
// also in records: it means the same in the Draft and in its base. Ranks are far apart. So
// there is room between them for nodes that are inserted after a save at an ordinal in the
// middle.

// RankGap is the distance between the ranks of a file's siblings, and the rank of the
// first.
const RankGap = rankGap

const rankGap = 1 << 31

// maxRank is the highest rank, twice the rank of any ordinal.
const maxRank = math.MaxUint64 - uint64(rankGap)

// rankOf returns the rank of the sibling with an ordinal if nothing was saved since the
// sibling got that ordinal.
func rankOf(ordinal uint32) uint64 { return (uint64(ordinal) + 1) * rankGap }

// ordinalOf returns the ordinal whose rank is nearest.
func ordinalOf(rank uint64) uint32 {
	return uint32(min(max(rank/rankGap, 1)-1, math.MaxUint32))
}

// rank returns the rank for a node that gets an ordinal among parent's children: behind the
// sibling with the next lower ordinal.
func (d *Draft) rank(parent *draftNode, e *Edit) uint64 {
	want := rankOf(e.Ordinal)
	name, known := d.index[e.Name]
	if !parent.ranked || !known {
		return want
	}
	before := parent.below(name, e.Node, e.Ordinal)
	low, ordinal := uint64(0), int64(-1) // of the sibling before
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

// siblingSpot is the place among its siblings of one name where Rank put a node: behind one
// of them, or before all if behind is 0. share is the part of the gap up to the next
// sibling that lies before the node. Behind the last sibling, share is the distance of the
// ranks.
type siblingSpot struct {
	behind Number
	last   bool
	share  float64
}

// spot returns the place where an edit with a Rank puts its node, so that place can find it
// again after all ranks have changed.
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

// place returns the rank of a spot among the present siblings.
func (d *Draft) place(parent *draftNode, e *Edit, s siblingSpot) uint64 {
	name, low := d.index[e.Name], uint64(0)
	if k := d.sibling(parent, name, s.behind); s.behind != e.Node && k != nil {
		low = k.rank
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
