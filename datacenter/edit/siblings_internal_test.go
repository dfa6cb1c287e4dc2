package edit

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// manyKids returns a node with children of two names, in no order.
func manyKids(rng *rand.Rand, count int) *draftNode {
	n := &draftNode{homeKids: count}
	for i, ordinal := range rng.Perm(count) {
		n.kids = append(n.kids, draftChild{
			number: Number(i + 1), name: uint16(1 + i%2), ordinal: uint32(ordinal), rank: rankOf(uint32(rng.IntN(2 * count))),
		})
	}
	return n
}

// nearest looks at all children: it returns the highest rank of one before a rank, the lowest of the
// others, and the highest ordinal below an ordinal. Each is 0 if there is none.
func (n *draftNode) nearest(name uint16, but Number, rank uint64, ordinal uint32) (low, high uint64, below uint32) {
	for _, k := range n.kids {
		switch {
		case k.dead || k.name != name || k.number == but:
			continue
		case k.rank < rank:
			low = max(low, k.rank)
		case high == 0 || k.rank < high:
			high = k.rank
		}
		if k.ordinal < ordinal {
			below = max(below, k.ordinal)
		}
	}
	return low, high, below
}

// TestNeighbours adds, removes and brings back children, and compares what an order finds with what
// a look at all children does.
func TestNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		n := manyKids(rng, 1+rng.IntN(40))
		for step := range 300 {
			i := rng.IntN(len(n.kids))
			switch k := &n.kids[i]; rng.IntN(8) {
			case 0:
				k.dead = false
				n.revived(k.name)
			case 1, 2:
				k.dead = true
			case 3:
				n.settle()
			case 4:
				if last := len(n.kids) - 1; last >= n.homeKids {
					n.kids = n.kids[:last]
					n.forgetFrom(last)
				}
			default:
				n.kids = append(n.kids, draftChild{
					number: Number(1000 + step), name: uint16(1 + rng.IntN(2)), ordinal: uint32(1000 + step), rank: rankOf(rng.Uint32N(100)) + rng.Uint64N(3),
				})
			}
			name, but := uint16(1+rng.IntN(2)), Number(rng.IntN(50))
			rank, ordinal := rankOf(rng.Uint32N(100)), rng.Uint32N(1400)
			low, high, below := n.nearest(name, but, rank, ordinal)
			before, after := n.around(name, but, rank)
			lower := n.below(name, but, ordinal)
			for what, got := range map[string]struct {
				k    *draftChild
				is   func(*draftChild) bool
				none bool
			}{
				"before":  {before, func(k *draftChild) bool { return k.rank == low }, low == 0},
				"after":   {after, func(k *draftChild) bool { return k.rank == high }, high == 0},
				"ordinal": {lower, func(k *draftChild) bool { return k.ordinal == below }, below == 0},
			} {
				if got.k == nil && !got.none || got.k != nil && (got.k.dead || got.k.name != name || got.k.number == but || !got.is(got.k)) {
					t.Fatalf("step %d: %s: %+v; want the ranks %d and %d, and the ordinal %d", step, what, got.k, low, high, below)
				}
			}
		}
	}
}

// TestNeighboursOfMany checks that a neighbour is found by a few looks, not by one at each child, while
// children are added and removed.
func TestNeighboursOfMany(t *testing.T) {
	const count = 60_000
	rng := rand.New(rand.NewPCG(1, 2))
	n := manyKids(rng, count)
	first := n.order(1)
	for i := range 1000 {
		looks := 0
		rank := rankOf(rng.Uint32N(2 * count))
		o := n.order(1)
		o.neighbours(n.kids, o.byRank, 0, func(k *draftChild) bool {
			looks++
			return k.rank >= rank
		})
		if most := bits.Len(count) + 1; looks > most {
			t.Fatalf("%d looks at %d children", looks, count)
		}
		n.kids = append(n.kids, draftChild{number: Number(count + i), name: 1, ordinal: uint32(count + i), rank: rank + 1})
		if i%2 == 0 {
			n.kids[rng.IntN(len(n.kids))].dead = true
		}
	}
	if n.order(1) != first || first.known != len(n.kids) {
		t.Error("the order was made again")
	}

	// Once all others are dead, they are passed once, not each time.
	for i := range n.kids[1:] {
		n.kids[1+i].dead = true
	}
	passed := 0
	for range 1000 {
		before := n.order(1).passed
		n.around(1, 0, rankOf(count))
		passed += n.orders[1].passed - before
	}
	if passed > 3*count {
		t.Errorf("%d dead children were passed for 1,000 neighbours", passed)
	}
}
