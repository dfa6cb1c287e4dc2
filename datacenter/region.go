package datacenter

import (
	"errors"
	"fmt"
	"io"
)

// span is the place of the elements of a simple region.
type span struct {
	off   int64
	count uint32
}

// segment is the place of the elements of one DataCenterRegion. Elements between used and
// full are undefined.
type segment struct {
	off        int64
	full, used uint32
}

// stringTable is the place of the parts of a DataCenterStringTable.
type stringTable struct {
	data    []segment
	buckets []span
	addrs   span
}

// regions is the place of everything in the inflated data.
type regions struct {
	keys       span
	attributes []segment
	nodes      []segment
	values     stringTable
	names      stringTable
	footer     int64 // offset; footerMissing if the data ends there
	marker     int32
	end        int64 // offset behind the last byte that belongs to the chain
}

// addressable returns how many elements are in use and have an address.
func (s segment) addressable() uint32 { return min(s.used, maxAddressable) }

const footerMissing = -1

// maxSegments is the number of segments that an address can name, and maxAddressable the
// number of elements in each.
const (
	maxSegments    = 1 << 16
	maxAddressable = 1 << 16
)

// run returns the offset of count elements of size bytes at addr. A run must lie within the
// used part of one segment, and each of its elements must have an address: an index above
// 65,535 would wrap to the segment's start.
func run(segs []segment, addr Address, count int, size int64) (int64, error) {
	if int(addr.Segment) >= len(segs) {
		return 0, fmt.Errorf("%w: %v is beyond the %d segments", ErrAddress, addr, len(segs))
	}
	s := segs[addr.Segment]
	if end := s.addressable(); int64(addr.Element)+int64(count) > int64(end) {
		return 0, fmt.Errorf("%w: %d elements at %v pass the segment's end at %d", ErrAddress, count, addr, end)
	}
	return s.off + int64(addr.Element)*size, nil
}

// fits reports whether [run] returns no error.
func fits(segs []segment, addr Address, count int) bool {
	return int(addr.Segment) < len(segs) && int(addr.Element)+count <= int(segs[addr.Segment].addressable())
}

// scanner is shown the nodes while scan reads past them.
type scanner interface {
	// visit gets nodes of seg, starting with number first; b holds at least one. For an
	// empty segment it is called once.
	visit(seg segment, first int, b []byte)
	// visited is called after the last node. r has no string tables yet.
	visited(r *regions)
}

// scan follows the chain of regions in layout l.
func scan(s *stream, l Layout, v scanner) (Header, *regions, error) {
	b, err := s.next(int(l.HeaderSize()))
	if err != nil {
		return Header{}, nil, fmt.Errorf("header: %w", err)
	}
	h := parseHeader(b, l)
	if h.Version != l.Version() {
		return h, nil, badf(0, "version %d: want %d for layout %v", h.Version, l.Version(), l)
	}
	r := &regions{}
	if r.keys, err = s.simple(keySize, false); err != nil {
		return h, nil, fmt.Errorf("keys: %w", err)
	}
	if r.attributes, err = s.segmented(l.AttributeSize(), nil); err != nil {
		return h, nil, fmt.Errorf("attributes: %w", err)
	}
	if r.nodes, err = s.segmented(l.NodeSize(), v.visit); err != nil {
		return h, nil, fmt.Errorf("nodes: %w", err)
	}
	v.visited(r)
	if r.values, err = s.stringTable(valueBuckets); err != nil {
		return h, nil, fmt.Errorf("values: %w", err)
	}
	if r.names, err = s.stringTable(nameBuckets); err != nil {
		return h, nil, fmt.Errorf("names: %w", err)
	}
	return h, r, r.scanFooter(s)
}

// scanFooter accepts a missing footer, since some old tools write none. Verify reports it.
func (r *regions) scanFooter(s *stream) error {
	r.footer = s.off()
	marker, err := s.u32()
	if err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		r.end, r.footer = r.footer, footerMissing
		return nil
	}
	r.marker = int32(marker)
	r.end = s.off()
	return nil
}

// simple reads past a DataCenterSimpleRegion.
func (s *stream) simple(size int64, offByOne bool) (span, error) {
	count, err := s.u32()
	if err != nil {
		return span{}, err
	}
	if offByOne && count > 0 {
		count--
	}
	p := span{off: s.off(), count: count}
	return p, s.skip(int64(count) * size)
}

// segmented reads past a DataCenterSegmentedRegion.
func (s *stream) segmented(size int64, visit func(segment, int, []byte)) ([]segment, error) {
	at := s.off()
	count, err := s.u32()
	if err != nil {
		return nil, err
	}
	if count > maxSegments {
		return nil, badf(at, "%d segments: at most %d can be addressed", count, maxSegments)
	}
	var segs []segment
	for i := range count {
		seg, err := s.segment(size, visit)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", i, err)
		}
		segs = append(segs, seg)
	}
	return segs, nil
}

func (s *stream) segment(size int64, visit func(segment, int, []byte)) (segment, error) {
	at := s.off()
	full, err := s.u32()
	if err != nil {
		return segment{}, err
	}
	used, err := s.u32()
	if err != nil {
		return segment{}, err
	}
	if used > full {
		return segment{}, badf(at, "%d of %d elements used", used, full)
	}
	seg := segment{off: s.off(), full: full, used: used}
	if left := s.size - seg.off; int64(full)*size > left {
		return segment{}, badf(at, "%d elements of %d bytes do not fit the %d bytes left", full, size, left)
	}
	if visit == nil {
		return seg, s.skip(int64(full) * size)
	}
	if used == 0 {
		visit(seg, 0, nil)
	}
	if err := s.each(int(used), int(size), func(first int, b []byte) { visit(seg, first, b) }); err != nil {
		return seg, err
	}
	return seg, s.skip(int64(full-used) * size)
}

// stringTable reads past a DataCenterStringTable of n buckets.
func (s *stream) stringTable(n int) (t stringTable, err error) {
	if t.data, err = s.segmented(charSize, nil); err != nil {
		return t, fmt.Errorf("data: %w", err)
	}
	t.buckets = make([]span, n)
	for i := range t.buckets {
		if t.buckets[i], err = s.simple(stringSize, false); err != nil {
			return t, fmt.Errorf("table %d: %w", i, err)
		}
	}
	if t.addrs, err = s.simple(addressSize, true); err != nil {
		return t, fmt.Errorf("addresses: %w", err)
	}
	return t, nil
}
