package datacenter

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// stringStore lays out a string table. A string is stored once.
type stringStore struct {
	buckets  uint32
	segments [][]byte
	// byHash finds the last entry whose string has a hash, and before the one
	// in front of each: both count from 1 on, 0 is none.
	byHash  map[uint64]uint32
	before  []uint32
	entries []stringEntry
	units   []uint16
}

func newStringStore(buckets uint32) stringStore {
	return stringStore{buckets: buckets, byHash: map[uint64]uint32{}}
}

// add gives the address of the string that has these UTF-16 units.
func (s *stringStore) add(units []byte) (Address, error) {
	h := xxhash.Sum64(units)
	for i := s.byHash[h]; i > 0; i = s.before[i-1] {
		if e := s.entries[i-1]; bytes.Equal(s.text(e), units) {
			return e.addr, nil
		}
	}
	addr, err := s.place(units)
	if err != nil {
		return Address{}, err
	}
	s.units = appendUnits(s.units[:0], units)
	index := uint32(len(s.entries)) + 1
	s.before = append(s.before, s.byHash[h])
	s.byHash[h] = index
	s.entries = append(s.entries, stringEntry{
		hash: HashString(s.units), length: uint32(len(units)/charSize) + 1, index: index, addr: addr,
	})
	return addr, nil
}

// text gives the units of an entry's string.
func (s *stringStore) text(e stringEntry) []byte {
	return s.segments[e.addr.Segment][int(e.addr.Element)*charSize:][:(e.length-1)*charSize]
}

// at gives the units of the string that begins at addr.
func (s *stringStore) at(addr Address) []byte {
	b := s.segments[addr.Segment][int(addr.Element)*charSize:]
	return b[:nulAt(b)]
}

// place stores a string and its NUL. One that is longer than a segment has a
// segment of its own, as novadrop does it.
func (s *stringStore) place(units []byte) (Address, error) {
	if nulAt(units) >= 0 {
		return Address{}, fmt.Errorf("datacenter: %w: a string with a NUL in it", ErrValue)
	}
	if len(units)/charSize >= maxString {
		return Address{}, fmt.Errorf("datacenter: a string of %d characters: %w", len(units)/charSize, ErrTooLarge)
	}
	last := len(s.segments) - 1
	if last < 0 || (len(s.segments[last])+len(units))/charSize+1 > maxElements {
		if len(s.segments) == maxSegments-1 {
			return Address{}, fmt.Errorf("datacenter: more than %d segments of strings: %w", len(s.segments), ErrTooLarge)
		}
		room := firstSegment
		if last >= 0 {
			room = maxElements * charSize
		}
		s.segments = append(s.segments, make([]byte, 0, max(room, len(units)+charSize)))
		last++
	}
	addr := Address{Segment: uint16(last), Element: uint16(len(s.segments[last]) / charSize)}
	s.segments[last] = append(append(s.segments[last], units...), 0, 0)
	return addr, nil
}

// table gives the entries of each bucket, in the order of their hashes, and of
// their indexes where hashes are equal.
func (s *stringStore) table() [][]stringEntry {
	table := make([][]stringEntry, s.buckets)
	for _, e := range s.entries {
		i := (e.hash ^ e.hash>>16) % s.buckets
		table[i] = append(table[i], e)
	}
	for _, b := range table {
		slices.SortStableFunc(b, func(x, y stringEntry) int { return cmp.Compare(x.hash, y.hash) })
	}
	return table
}
