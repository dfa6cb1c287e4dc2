package rewrite

import (
	"math"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
)

// MovedRuns remembers where runs were moved. Nearly always one short run begins at an
// element and loses no placeholders. Such a run is kept by its place, without a map.
type MovedRuns struct {
	Base   []int64 // the number of each segment's first element
	Counts []uint8 // 0 where no moved run begins, and InOthers where only others has some
	Moved  []form.Address
	Others map[form.RunKey]form.RunKey
}

// InOthers stands in counts instead of the length of a run.
const InOthers = math.MaxUint8

func newMovedRuns(segs []form.Segment) MovedRuns {
	m := MovedRuns{Others: map[form.RunKey]form.RunKey{}}
	n := int64(0)
	for _, s := range segs {
		m.Base = append(m.Base, n)
		n += int64(s.Addressable())
	}
	m.Counts, m.Moved = make([]uint8, n), make([]form.Address, n)
	return m
}

// get finds a run of at least one element.
func (m *MovedRuns) get(k form.RunKey) (form.RunKey, bool) {
	i := m.Base[k.Addr.Segment] + int64(k.Addr.Element)
	switch count := m.Counts[i]; {
	case count == 0:
		return form.RunKey{}, false
	case uint16(count) == k.Count && count < InOthers:
		return form.RunKey{Addr: m.Moved[i], Count: k.Count}, true
	}
	r, ok := m.Others[k]
	return r, ok
}

func (m *MovedRuns) put(k form.RunKey, r form.RunKey) {
	i := m.Base[k.Addr.Segment] + int64(k.Addr.Element)
	if m.Counts[i] == 0 {
		if r.Count == k.Count && k.Count < InOthers {
			m.Counts[i], m.Moved[i] = uint8(k.Count), r.Addr
			return
		}
		m.Counts[i] = InOthers
	}
	m.Others[k] = r
}

// movedStrings remembers where strings were moved. Nearly always at most one string begins
// among eight characters. The first one is kept by that place, the others in a map.
type movedStrings struct {
	Base []int64 // the number of each segment's first group of eight characters
	// First has, for each eight characters, one more than the string's place in a
	// stringStore. The lowest bits say at which of the eight the string begins. It is 0 where
	// no moved string begins, and PlaceInOthers where only others has some.
	First  []uint32
	Others map[form.Address]uint32
}

const (
	// PlaceShift is how many bits of an address are the place among eight characters.
	PlaceShift = 3
	maxPlace   = 1<<(32-PlaceShift) - 2 // what fits into first
	// PlaceInOthers is less than what first has of any place.
	PlaceInOthers = 1
)

func newMovedStrings(segs []form.Segment) movedStrings {
	m := movedStrings{Others: map[form.Address]uint32{}}
	n := int64(0)
	for _, s := range segs {
		m.Base = append(m.Base, n)
		n += int64(s.Addressable()+1<<PlaceShift-1) >> PlaceShift
	}
	m.First = make([]uint32, n)
	return m
}

func (m *movedStrings) at(addr form.Address) *uint32 {
	return &m.First[m.Base[addr.Segment]+int64(addr.Element>>PlaceShift)]
}

// get finds a string by its address, which must exist.
func (m *movedStrings) get(addr form.Address) (uint32, bool) {
	const low = 1<<PlaceShift - 1
	switch p := *m.at(addr); {
	case p == 0:
		return 0, false
	case p != PlaceInOthers && uint16(p&low) == addr.Element&low:
		return p>>PlaceShift - 1, true
	}
	place, ok := m.Others[addr]
	return place, ok
}

func (m *movedStrings) put(addr form.Address, place uint32) {
	const low = 1<<PlaceShift - 1
	if p := m.at(addr); *p == 0 {
		if place <= maxPlace {
			*p = (place+1)<<PlaceShift | uint32(addr.Element&low)
			return
		}
		*p = PlaceInOthers
	}
	m.Others[addr] = place
}

// Moved says where a Rewriter has moved the runs and the strings of a file. This is only what the
// Rewriter claims: Prove of package compare finds out whether it is true.
type Moved struct {
	Strings   movedStrings
	Entries   []write.StoredString
	AttrRuns  MovedRuns
	ChildRuns MovedRuns
}

// Moved returns where everything was moved. It must be called after Write.
func (r *Rewriter) Moved() *Moved {
	return &Moved{Strings: r.strings, Entries: r.b.Values.Entries, AttrRuns: r.attrRuns, ChildRuns: r.childRuns}
}

// HasString reports whether the string at x, which must exist, was moved to y.
func (m *Moved) HasString(x, y form.Address) bool {
	i, ok := m.Strings.get(x)
	return ok && m.Entries[i].Addr == y
}

// Has reports whether x was moved to y.
func (m *MovedRuns) Has(x, y form.RunKey) bool {
	to, ok := m.get(x)
	return ok && to == y
}
