package datacenter

import (
	"math"
)

// runKey is a run of the file that is read. movedRun is a run of the file that is written,
// which has fewer elements if there were placeholders.
type (
	runKey struct {
		addr  Address
		count uint16
	}
	movedRun struct {
		addr  Address
		count uint16
	}
)

// movedRuns remembers where runs were moved. Nearly always one short run begins at an
// element and loses no placeholders. Such a run is kept by its place, without a map.
type movedRuns struct {
	base   []int64 // the number of each segment's first element
	counts []uint8 // 0 where no moved run begins, and inOthers where only others has some
	moved  []Address
	others map[runKey]movedRun
}

// inOthers is what counts has instead of the length of a run.
const inOthers = math.MaxUint8

func newMovedRuns(segs []segment) movedRuns {
	m := movedRuns{others: map[runKey]movedRun{}}
	n := int64(0)
	for _, s := range segs {
		m.base = append(m.base, n)
		n += int64(s.addressable())
	}
	m.counts, m.moved = make([]uint8, n), make([]Address, n)
	return m
}

// get finds a run of at least one element.
func (m *movedRuns) get(k runKey) (movedRun, bool) {
	i := m.base[k.addr.Segment] + int64(k.addr.Element)
	switch count := m.counts[i]; {
	case count == 0:
		return movedRun{}, false
	case uint16(count) == k.count && count < inOthers:
		return movedRun{m.moved[i], k.count}, true
	}
	r, ok := m.others[k]
	return r, ok
}

func (m *movedRuns) put(k runKey, r movedRun) {
	i := m.base[k.addr.Segment] + int64(k.addr.Element)
	if m.counts[i] == 0 {
		if r.count == k.count && k.count < inOthers {
			m.counts[i], m.moved[i] = uint8(k.count), r.addr
			return
		}
		m.counts[i] = inOthers
	}
	m.others[k] = r
}

// movedStrings remembers where strings were moved. Nearly always at most one string begins
// among eight characters. The first one is kept by that place, the others in a map.
type movedStrings struct {
	base []int64 // the number of each segment's first group of eight characters
	// first has, for each eight characters, one more than the string's place in a
	// stringStore. The lowest bits say at which of the eight the string begins. It is 0 where
	// no moved string begins, and placeInOthers where only others has some.
	first  []uint32
	others map[Address]uint32
}

const (
	placeShift = 3
	maxPlace   = 1<<(32-placeShift) - 2 // what fits into first
	// placeInOthers is less than what first has of any place.
	placeInOthers = 1
)

func newMovedStrings(segs []segment) movedStrings {
	m := movedStrings{others: map[Address]uint32{}}
	n := int64(0)
	for _, s := range segs {
		m.base = append(m.base, n)
		n += int64(s.addressable()+1<<placeShift-1) >> placeShift
	}
	m.first = make([]uint32, n)
	return m
}

func (m *movedStrings) at(addr Address) *uint32 {
	return &m.first[m.base[addr.Segment]+int64(addr.Element>>placeShift)]
}

// get finds a string by its address, which must exist.
func (m *movedStrings) get(addr Address) (uint32, bool) {
	const low = 1<<placeShift - 1
	switch p := *m.at(addr); {
	case p == 0:
		return 0, false
	case p != placeInOthers && uint16(p&low) == addr.Element&low:
		return p>>placeShift - 1, true
	}
	place, ok := m.others[addr]
	return place, ok
}

func (m *movedStrings) put(addr Address, place uint32) {
	const low = 1<<placeShift - 1
	if p := m.at(addr); *p == 0 {
		if place <= maxPlace {
			*p = (place+1)<<placeShift | uint32(addr.Element&low)
			return
		}
		*p = placeInOthers
	}
	m.others[addr] = place
}
