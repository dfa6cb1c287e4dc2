package datacenter

import (
	"bytes"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// maxElements is how many elements a segment is given, as in official files.
const maxElements = 1<<16 - 1

// absent is the address of a run of no elements.
var absent = Address{Segment: 0xffff, Element: 0xffff}

// firstSegment is the room that a region begins with, in bytes.
const firstSegment = 4 << 10

// runStore lays out the runs of a segmented region, in the form they have in
// the file. Runs that are equal are stored once.
type runStore struct {
	size     int // of an element
	segments [][]byte
	// byHash finds a run by its content. Of two with one hash only the first is
	// found again, which costs room and nothing else.
	byHash map[uint64]Address
}

func newRunStore(size int64) runStore {
	return runStore{size: int(size), byHash: map[uint64]Address{}}
}

// add gives the address of a run, of which it keeps no more than a copy.
func (s *runStore) add(run []byte) (Address, error) {
	if len(run) == 0 {
		return absent, nil
	}
	h := xxhash.Sum64(run)
	addr, found := s.byHash[h]
	if found && bytes.Equal(s.at(addr, len(run)), run) {
		return addr, nil
	}
	addr, err := s.place(run)
	if err == nil && !found {
		s.byHash[h] = addr
	}
	return addr, err
}

// at gives n bytes at an address, fewer where the segment ends.
func (s *runStore) at(addr Address, n int) []byte {
	b := s.segments[addr.Segment][int(addr.Element)*s.size:]
	return b[:min(n, len(b))]
}

// place puts a run into the last segment, or begins another if it does not fit:
// no run straddles two.
func (s *runStore) place(run []byte) (Address, error) {
	last := len(s.segments) - 1
	if last < 0 || (len(s.segments[last])+len(run))/s.size > maxElements {
		if len(s.segments) == maxSegments-1 {
			return Address{}, fmt.Errorf("datacenter: more than %d segments: %w", len(s.segments), ErrTooLarge)
		}
		// What follows a full segment will likely be full as well. Were it to
		// grow, twice its size would be garbage.
		room := firstSegment
		if last >= 0 {
			room = maxElements * s.size
		}
		s.segments = append(s.segments, make([]byte, 0, max(room, len(run))))
		last++
	}
	addr := Address{Segment: uint16(last), Element: uint16(len(s.segments[last]) / s.size)}
	s.segments[last] = append(s.segments[last], run...)
	return addr, nil
}
