package datacenter

import (
	"encoding/binary"
	"fmt"
	"io"
)

// maxElements is how many elements a segment is given, as in official files.
const maxElements = 1<<16 - 1

// firstSegment is the room that a region begins with, in bytes.
const firstSegment = 4 << 10

// segmentStore lays out the elements of a segmented region. A segment that is
// full is compressed while the next one fills up.
type segmentStore struct {
	deflate *deflater
	size    int // of an element, as it is kept
	// unpack appends an element as it is written; nil if it is kept as such.
	unpack func(dst, element []byte) []byte
	// Each group of segments makes a block. The first held blocks are not begun
	// until all elements are there, since some of theirs may be changed.
	group, held int

	segments [][]byte
	blocks   []*deflated // nil is one that was held
}

// place puts the parts behind each other into the last segment, or begins
// another if they do not fit: nothing straddles two.
func (s *segmentStore) place(parts ...[]byte) (Address, error) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	last := len(s.segments) - 1
	if last < 0 || (len(s.segments[last])+n)/s.size > maxElements {
		if len(s.segments) == maxSegments-1 {
			return Address{}, fmt.Errorf("datacenter: more than %d segments: %w", len(s.segments), ErrTooLarge)
		}
		// What follows a full segment will likely be full as well. Were it to
		// grow, twice its size would be garbage.
		room := firstSegment
		if last >= 0 {
			room = maxElements * s.size
			s.full()
		}
		s.segments = append(s.segments, make([]byte, 0, max(room, n)))
		last++
	}
	addr := Address{Segment: uint16(last), Element: uint16(len(s.segments[last]) / s.size)}
	for _, p := range parts {
		s.segments[last] = append(s.segments[last], p...)
	}
	return addr, nil
}

// from gives all that lies in the segment of addr from there on.
func (s *segmentStore) from(addr Address) []byte {
	return s.segments[addr.Segment][int(addr.Element)*s.size:]
}

// full begins the block of the last segments, if they are as many as it needs.
func (s *segmentStore) full() {
	if len(s.segments)%s.group > 0 {
		return
	}
	s.blocks = append(s.blocks, nil)
	if i := len(s.blocks) - 1; i >= s.held {
		s.begin(i)
	}
}

// begin begins to compress block i.
func (s *segmentStore) begin(i int) {
	segs := s.segments[i*s.group : min((i+1)*s.group, len(s.segments))]
	s.blocks[i] = s.deflate.start(func(w io.Writer) error { return s.write(w, segs) })
}

// finish begins the blocks that are left. Nothing may be added any more.
func (s *segmentStore) finish() {
	for len(s.blocks)*s.group < len(s.segments) {
		s.blocks = append(s.blocks, nil)
	}
	for i, b := range s.blocks {
		if b == nil {
			s.begin(i)
		}
	}
}

// write writes segments. It is called from other goroutines, and so touches
// nothing that changes.
func (s *segmentStore) write(w io.Writer, segs [][]byte) error {
	const step = 1 << 10 // elements: what is unpacked then stays in the cache
	var buf []byte
	for _, seg := range segs {
		n := uint32(len(seg) / s.size)
		buf = binary.LittleEndian.AppendUint32(buf[:0], n)
		buf = binary.LittleEndian.AppendUint32(buf, n)
		if _, err := w.Write(buf); err != nil {
			return err
		}
		for len(seg) > 0 {
			part := seg[:min(len(seg), step*s.size)]
			seg = seg[len(part):]
			if s.unpack != nil {
				buf = s.unpacked(buf[:0], part)
				part = buf
			}
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *segmentStore) unpacked(dst, elements []byte) []byte {
	for ; len(elements) > 0; elements = elements[s.size:] {
		dst = s.unpack(dst, elements[:s.size])
	}
	return dst
}

// written is how many bytes write writes of all, elements having size bytes.
func (s *segmentStore) written(size int64) int64 {
	const heads = 8 // full_count and used_count
	n := int64(0)
	for _, seg := range s.segments {
		n += heads + int64(len(seg)/s.size)*size
	}
	return n
}
