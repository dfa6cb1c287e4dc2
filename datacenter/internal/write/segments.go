package write

import (
	"encoding/binary"
	"fmt"
	"io"

	"lorefs/datacenter/internal/form"
)

// firstSegment is the initial capacity of a region, in bytes.
const firstSegment = 4 << 10

// segmentStore lays out the elements of a segmented region. A full segment is compressed
// while the next one is filled.
type segmentStore struct {
	deflate *deflater // nil if nothing is compressed
	size    int       // of an element, as it is kept in memory
	// unpack appends the written form of an element. It is nil if that is the form in
	// memory.
	unpack func(dst, element []byte) []byte
	// A block consists of group segments. The first held blocks are compressed only at the
	// end, since some of their elements may still change.
	group, held int

	segments [][]byte
	blocks   []*deflated // nil for a block that is held
}

// place appends the parts, one behind the other, to the last segment. If they do not fit,
// it begins another segment, since nothing may straddle two.
func (s *segmentStore) place(parts ...[]byte) (form.Address, error) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	last := len(s.segments) - 1
	if last < 0 || (len(s.segments[last])+n)/s.size > form.MaxElements {
		if len(s.segments) == form.MaxSegments-1 {
			return form.Address{}, fmt.Errorf("datacenter: more than %d segments: %w", len(s.segments), form.ErrTooLarge)
		}
		// The segment after a full one will probably be full as well. If it had to grow,
		// the growing would leave garbage of twice its size.
		room := firstSegment
		if last >= 0 {
			room = form.MaxElements * s.size
			s.full()
		}
		s.segments = append(s.segments, make([]byte, 0, max(room, n)))
		last++
	}
	addr := form.Address{Segment: uint16(last), Element: uint16(len(s.segments[last]) / s.size)}
	for _, p := range parts {
		s.segments[last] = append(s.segments[last], p...)
	}
	return addr, nil
}

// from returns the segment of addr from that element on.
func (s *segmentStore) from(addr form.Address) []byte {
	return s.segments[addr.Segment][int(addr.Element)*s.size:]
}

// full begins to compress the last segments if they make up a block.
func (s *segmentStore) full() {
	if s.deflate == nil || len(s.segments)%s.group > 0 {
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
	s.blocks[i] = s.deflate.start(s.deflate.level, func(w io.Writer) error { return s.write(w, segs) })
}

// finish begins to compress the remaining blocks. Nothing may be added afterwards.
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

// write writes segments. Other goroutines call it, so it must not read what still changes.
func (s *segmentStore) write(w io.Writer, segs [][]byte) error {
	const step = 1 << 10 // elements: few enough for the unpacked ones to stay in the CPU cache
	var buf []byte
	for _, seg := range segs {
		buf = s.appendCounts(buf[:0], seg)
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

// appendCounts appends the counts before a segment, full and used: all of it is used.
func (s *segmentStore) appendCounts(dst, seg []byte) []byte {
	n := uint32(len(seg) / s.size)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, n), n)
}

func (s *segmentStore) unpacked(dst, elements []byte) []byte {
	for ; len(elements) > 0; elements = elements[s.size:] {
		dst = s.unpack(dst, elements[:s.size])
	}
	return dst
}

// written returns how many bytes write writes for all segments if an element has size
// bytes.
func (s *segmentStore) written(size int64) int64 {
	const heads = 8 // full_count and used_count
	n := int64(0)
	for _, seg := range s.segments {
		n += heads + int64(len(seg)/s.size)*size
	}
	return n
}
