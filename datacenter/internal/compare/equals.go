package compare

import (
	"sync/atomic"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/rewrite"
)

// equals remembers which parts of two files, f and g, are equal, so that shared parts are
// compared once. Several goroutines may use it. If one overwrites an entry of another, the
// lost part is compared again.
type equals struct {
	attrs, children equalRuns
	values          equalStrings
	// moved has the parts that were proved to be equal besides, or is nil.
	moved *rewrite.Moved
}

// sameAttributes and sameChildren report whether two runs are known to be equal.
func (e *equals) sameAttributes(x, y form.RunKey) bool {
	return e.moved != nil && e.moved.AttrRuns.Has(x, y) || e.attrs.known(x, y)
}

func (e *equals) sameChildren(x, y form.RunKey) bool {
	return e.moved != nil && e.moved.ChildRuns.Has(x, y) || e.children.known(x, y)
}

func newEquals(f *form.File) *equals {
	return &equals{
		attrs: newEqualRuns(f.Regions.Attributes), children: newEqualRuns(f.Regions.Nodes),
		values: newEqualStrings(f.Regions.Values.Data),
	}
}

// equalEntries has an entry for each of some places in each segment of a region.
type equalEntries struct {
	first []int // the number of each segment's first entry
	count int
	// parts has the entries, equalPart each. A part is made when the first of its entries is
	// needed: a comparison of few nodes needs few.
	parts []atomic.Pointer[[]atomic.Uint64]
}

// equalPart is how many entries are made at once: 8 MiB of them.
const equalPart = 1 << 20

// newEqualEntries returns the entries of segments. sizeOf returns how many a segment has.
func newEqualEntries(segs []form.Segment, sizeOf func(form.Segment) int) equalEntries {
	e := equalEntries{first: make([]int, len(segs))}
	for i, s := range segs {
		e.first[i] = e.count
		e.count += sizeOf(s)
	}
	e.parts = make([]atomic.Pointer[[]atomic.Uint64], (e.count+equalPart-1)/equalPart)
	return e
}

// at returns entry i of a segment.
func (e *equalEntries) at(segment uint16, i int) *atomic.Uint64 {
	n := e.first[segment] + i
	part := &e.parts[n/equalPart]
	all := part.Load()
	if all == nil {
		made := make([]atomic.Uint64, min(equalPart, e.count-n/equalPart*equalPart))
		part.CompareAndSwap(nil, &made) // else another goroutine was faster
		all = part.Load()
	}
	return &(*all)[n%equalPart]
}

// equalRuns has an entry for each element of f, with the length of the run that begins
// there and the equal run of g. Nearly always only one run begins at an element. 0 is no
// entry, since no run is empty.
type equalRuns struct{ entries equalEntries }

func newEqualRuns(segs []form.Segment) equalRuns {
	return equalRuns{newEqualEntries(segs, func(s form.Segment) int { return int(s.Addressable()) })}
}

func (e *equalRuns) at(x form.RunKey) *atomic.Uint64 {
	return e.entries.at(x.Addr.Segment, int(x.Addr.Element))
}

func equalPair(x, y form.RunKey) uint64 {
	return uint64(x.Count)<<48 | uint64(y.Count)<<32 | uint64(y.Addr.Ref())
}

func (e *equalRuns) known(x, y form.RunKey) bool { return e.at(x).Load() == equalPair(x, y) }
func (e *equalRuns) note(x, y form.RunKey)       { e.at(x).Store(equalPair(x, y)) }

// equalStrings has an entry for each eight characters of f's values: the one at which a
// string begins, and the equal string of g.
type equalStrings struct{ entries equalEntries }

func newEqualStrings(segs []form.Segment) equalStrings {
	return equalStrings{newEqualEntries(segs, func(s form.Segment) int { return int(s.Used>>rewrite.PlaceShift) + 1 })}
}

func (e *equalStrings) at(x form.Address) *atomic.Uint64 {
	return e.entries.at(x.Segment, int(x.Element>>rewrite.PlaceShift))
}

// equalString returns an entry. It is never 0, which means no entry.
func equalString(x, y form.Address) uint64 {
	return 1<<63 | uint64(x.Element&(1<<rewrite.PlaceShift-1))<<32 | uint64(y.Ref())
}

func (e *equalStrings) known(x, y form.Address) bool { return e.at(x).Load() == equalString(x, y) }
func (e *equalStrings) note(x, y form.Address)       { e.at(x).Store(equalString(x, y)) }
