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
type equalRuns struct {
	base  []int64
	equal []atomic.Uint64
}

func newEqualRuns(segs []segment) equalRuns {
	base := segmentBases(segs)
	return equalRuns{base, make([]atomic.Uint64, base[len(segs)])}
}

func (e *equalRuns) at(x runKey) *atomic.Uint64 {
	return &e.equal[e.base[x.addr.Segment]+int64(x.addr.Element)]
}

func equalPair(x, y runKey) uint64 {
	return uint64(x.count)<<48 | uint64(y.count)<<32 | uint64(y.addr.packed())
}

// packed returns the address as one number.
func (a Address) packed() uint32 { return uint32(a.Segment)<<16 | uint32(a.Element) }

func (e *equalRuns) known(x, y runKey) bool { return e.at(x).Load() == equalPair(x, y) }
func (e *equalRuns) note(x, y runKey)       { e.at(x).Store(equalPair(x, y)) }

// equalStrings has an entry for each eight characters of f's values: the one at which a
// string begins, and the equal string of g.
type equalStrings struct {
	base  []int64
	equal []atomic.Uint64
}

func newEqualStrings(segs []segment) equalStrings {
	e := equalStrings{}
	n := int64(0)
	for _, s := range segs {
		e.base = append(e.base, n)
		n += int64(s.used>>placeShift) + 1
	}
	e.equal = make([]atomic.Uint64, n)
	return e
}

func (e *equalStrings) at(x Address) *atomic.Uint64 {
	return &e.equal[e.base[x.Segment]+int64(x.Element>>placeShift)]
}

// equalString returns an entry. It is never 0, which means no entry.
func equalString(x, y Address) uint64 {
	return 1<<63 | uint64(x.Element&(1<<placeShift-1))<<32 | uint64(y.packed())
}

func (e *equalStrings) known(x, y Address) bool { return e.at(x).Load() == equalString(x, y) }
func (e *equalStrings) note(x, y Address)       { e.at(x).Store(equalString(x, y)) }
