package datacenter

import "sync/atomic"

// equals remembers which parts of two files, f and g, are equal, so that shared parts are
// compared once. Several goroutines may use it. If one overwrites an entry of another, the
// lost part is compared again.
type equals struct {
	attrs, children equalRuns
	values          equalStrings
}

func newEquals(f *File) *equals {
	return &equals{
		attrs: newEqualRuns(f.regions.attributes), children: newEqualRuns(f.regions.nodes),
		values: newEqualStrings(f.regions.values.data),
	}
}

// equalRuns has an entry for each element of f, with the length of the run that begins
// there and the equal run of g. Nearly always only one run begins at an element. 0 is no
// entry, since no run is empty.
type equalRuns []equalSegment

func newEqualRuns(segs []segment) equalRuns {
	e := make(equalRuns, len(segs))
	for i, s := range segs {
		e[i].size = int(s.addressable())
	}
	return e
}

func (e equalRuns) at(x runKey) *atomic.Uint64 { return e[x.addr.Segment].at(int(x.addr.Element)) }

// equalSegment has the entries of a segment. They are made when the first of them is needed: a
// comparison of few nodes needs few segments.
type equalSegment struct {
	size    int
	entries atomic.Pointer[[]atomic.Uint64]
}

func (e *equalSegment) at(i int) *atomic.Uint64 {
	all := e.entries.Load()
	if all == nil {
		made := make([]atomic.Uint64, e.size)
		e.entries.CompareAndSwap(nil, &made) // else another goroutine was faster
		all = e.entries.Load()
	}
	return &(*all)[i]
}

func equalPair(x, y runKey) uint64 {
	return uint64(x.count)<<48 | uint64(y.count)<<32 | uint64(y.addr.packed())
}

// packed returns the address as one number.
func (a Address) packed() uint32 { return uint32(a.Segment)<<16 | uint32(a.Element) }

func (e equalRuns) known(x, y runKey) bool { return e.at(x).Load() == equalPair(x, y) }
func (e equalRuns) note(x, y runKey)       { e.at(x).Store(equalPair(x, y)) }

// equalStrings has an entry for each eight characters of f's values: the one at which a
// string begins, and the equal string of g.
type equalStrings []equalSegment

func newEqualStrings(segs []segment) equalStrings {
	e := make(equalStrings, len(segs))
	for i, s := range segs {
		e[i].size = int(s.used>>placeShift) + 1
	}
	return e
}

func (e equalStrings) at(x Address) *atomic.Uint64 {
	return e[x.Segment].at(int(x.Element >> placeShift))
}

// equalString returns an entry. It is never 0, which means no entry.
func equalString(x, y Address) uint64 {
	return 1<<63 | uint64(x.Element&(1<<placeShift-1))<<32 | uint64(y.packed())
}

func (e equalStrings) known(x, y Address) bool { return e.at(x).Load() == equalString(x, y) }
func (e equalStrings) note(x, y Address)       { e.at(x).Store(equalString(x, y)) }
