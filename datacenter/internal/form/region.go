package form

import (
	"errors"
	"fmt"
	"io"
)

// Span is the place of the elements of a simple region.
type Span struct {
	Off   int64
	Count uint32
}

// Segment is the place of the elements of one DataCenterRegion. Elements between used and
// full are undefined.
type Segment struct {
	Off        int64
	Full, Used uint32
}

// StringTable is the place of the parts of a DataCenterStringTable.
type StringTable struct {
	Data    []Segment
	Buckets []Span
	Addrs   Span
}

// Regions is the place of everything in the inflated data.
type Regions struct {
	Keys       Span
	Attributes []Segment
	Nodes      []Segment
	Values     StringTable
	Names      StringTable
	Footer     int64 // offset; footerMissing if the data ends there
	Marker     int32
	End        int64 // offset behind the last byte that belongs to the chain
}

// Addressable returns how many elements are in use and have an address.
func (s Segment) Addressable() uint32 { return min(s.Used, maxAddressable) }

// MaxElements is the maximum number of elements in a written segment, as in official files.
const MaxElements = 1<<16 - 1

const footerMissing = -1

// MaxSegments is the number of segments that an address can name, and maxAddressable the
// number of elements in each.
const (
	MaxSegments    = 1 << 16
	maxAddressable = 1 << 16
)

// Run returns the offset of count elements of size bytes at addr. A run must lie within the
// used part of one segment, and each of its elements must have an address: an index above
// 65,535 would wrap to the segment's start.
func Run(segs []Segment, addr Address, count int, size int64) (int64, error) {
	if int(addr.Segment) >= len(segs) {
		return 0, fmt.Errorf("%w: %v is beyond the %d segments", ErrAddress, addr, len(segs))
	}
	s := segs[addr.Segment]
	if end := s.Addressable(); int64(addr.Element)+int64(count) > int64(end) {
		return 0, fmt.Errorf("%w: %d elements at %v pass the segment's end at %d", ErrAddress, count, addr, end)
	}
	return s.Off + int64(addr.Element)*size, nil
}

// fits reports whether [run] returns no error.
func fits(segs []Segment, addr Address, count int) bool {
	return int(addr.Segment) < len(segs) && int(addr.Element)+count <= int(segs[addr.Segment].Addressable())
}

// scanner is shown the nodes while scan reads past them.
type scanner interface {
	// visit gets nodes of seg, starting with number first; b holds at least one. For an
	// empty segment it is called once.
	visit(seg Segment, first int, b []byte)
	// visited is called after the last node. r has no string tables yet.
	visited(r *Regions)
}

// scan follows the chain of regions in layout l.
func scan(s *stream, l Layout, v scanner) (Header, *Regions, error) {
	b, err := s.next(int(l.HeaderSize()))
	if err != nil {
		return Header{}, nil, fmt.Errorf("header: %w", err)
	}
	h := parseHeader(b, l)
	if h.Version != l.Version() {
		return h, nil, Badf(0, "version %d: want %d for layout %v", h.Version, l.Version(), l)
	}
	r := &Regions{}
	if r.Keys, err = s.simple(KeySize, false); err != nil {
		return h, nil, fmt.Errorf("keys: %w", err)
	}
	if r.Attributes, err = s.segmented(l.AttributeSize(), nil); err != nil {
		return h, nil, fmt.Errorf("attributes: %w", err)
	}
	if r.Nodes, err = s.segmented(l.NodeSize(), v.visit); err != nil {
		return h, nil, fmt.Errorf("nodes: %w", err)
	}
	v.visited(r)
	if r.Values, err = s.stringTable(ValueBuckets); err != nil {
		return h, nil, fmt.Errorf("values: %w", err)
	}
	if r.Names, err = s.stringTable(NameBuckets); err != nil {
		return h, nil, fmt.Errorf("names: %w", err)
	}
	return h, r, r.scanFooter(s)
}

// scanFooter accepts a missing footer, since some old tools write none. Verify reports it.
func (r *Regions) scanFooter(s *stream) error {
	r.Footer = s.off()
	marker, err := s.u32()
	if err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		r.End, r.Footer = r.Footer, footerMissing
		return nil
	}
	r.Marker = int32(marker)
	r.End = s.off()
	return nil
}

// simple reads past a DataCenterSimpleRegion.
func (s *stream) simple(size int64, offByOne bool) (Span, error) {
	count, err := s.u32()
	if err != nil {
		return Span{}, err
	}
	if offByOne && count > 0 {
		count--
	}
	p := Span{Off: s.off(), Count: count}
	return p, s.skip(int64(count) * size)
}

// segmented reads past a DataCenterSegmentedRegion.
func (s *stream) segmented(size int64, visit func(Segment, int, []byte)) ([]Segment, error) {
	at := s.off()
	count, err := s.u32()
	if err != nil {
		return nil, err
	}
	if count > MaxSegments {
		return nil, Badf(at, "%d segments: at most %d can be addressed", count, MaxSegments)
	}
	var segs []Segment
	for i := range count {
		seg, err := s.segment(size, visit)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", i, err)
		}
		segs = append(segs, seg)
	}
	return segs, nil
}

func (s *stream) segment(size int64, visit func(Segment, int, []byte)) (Segment, error) {
	at := s.off()
	full, err := s.u32()
	if err != nil {
		return Segment{}, err
	}
	used, err := s.u32()
	if err != nil {
		return Segment{}, err
	}
	if used > full {
		return Segment{}, Badf(at, "%d of %d elements used", used, full)
	}
	seg := Segment{Off: s.off(), Full: full, Used: used}
	if left := s.size - seg.Off; int64(full)*size > left {
		return Segment{}, Badf(at, "%d elements of %d bytes do not fit the %d bytes left", full, size, left)
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

// StringTable reads past a DataCenterStringTable of n buckets.
func (s *stream) stringTable(n int) (t StringTable, err error) {
	if t.Data, err = s.segmented(CharSize, nil); err != nil {
		return t, fmt.Errorf("data: %w", err)
	}
	t.Buckets = make([]Span, n)
	for i := range t.Buckets {
		if t.Buckets[i], err = s.simple(StringSize, false); err != nil {
			return t, fmt.Errorf("table %d: %w", i, err)
		}
	}
	if t.Addrs, err = s.simple(AddressSize, true); err != nil {
		return t, fmt.Errorf("addresses: %w", err)
	}
	return t, nil
}
