package dctest

import (
	"encoding/binary"
	"fmt"

	"lorefs/datacenter"
)

// maxRun is the most elements that one node can refer to.
const maxRun = 65535

// absent is the address in official files where nothing is referred to.
var absent = datacenter.Address{Segment: 65535, Element: 65535}

// space allocates places in the segments of a region, first fit. No allocation crosses the
// end of a segment.
type space struct {
	limit int
	used  []int
}

func (s *space) take(n int) datacenter.Address {
	for i, used := range s.used {
		if used+n <= s.limit {
			s.used[i] += n
			return address(i, used)
		}
	}
	s.used = append(s.used, n)
	return address(len(s.used)-1, 0)
}

func address(segment, element int) datacenter.Address {
	if segment > 65535 || element > 65535 {
		panic(fmt.Sprintf("dctest: BUG: no address for %d:%d", segment, element))
	}
	return datacenter.Address{Segment: uint16(segment), Element: uint16(element)}
}

// node and attr are the elements of an image, without their undefined fields.
type node struct {
	name, key           uint16
	attrCount, children uint16
	attrAddr, childAddr datacenter.Address
}

// attr has a value, which is an index into the table of values if text is set.
type attr struct {
	name, code uint16
	value      uint32
	text       bool
}

func appendNodeKey(b []byte, n node) []byte {
	b = binary.LittleEndian.AppendUint16(b, n.name)
	b = binary.LittleEndian.AppendUint16(b, n.key)
	b = binary.LittleEndian.AppendUint16(b, n.attrCount)
	b = binary.LittleEndian.AppendUint16(b, n.children)
	b = appendAddress(b, n.attrAddr)
	return appendAddress(b, n.childAddr)
}

func appendAttrKey(b []byte, a attr) []byte {
	b = binary.LittleEndian.AppendUint16(b, a.name)
	b = binary.LittleEndian.AppendUint16(b, a.code)
	b = binary.LittleEndian.AppendUint32(b, a.value)
	if a.text {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendAddress(b []byte, a datacenter.Address) []byte {
	b = binary.LittleEndian.AppendUint16(b, a.Segment)
	return binary.LittleEndian.AppendUint16(b, a.Element)
}

// runs is a region of nodes or attributes.
type runs[T any] struct {
	space    space
	segments [][]T

	// appendKey appends the bytes by which elements are compared, the same number for each.
	appendKey func([]byte, T) []byte
	share     bool
	overlap   bool
	seen      map[string]datacenter.Address
	key       []byte
}

func newRuns[T any](o Options, appendKey func([]byte, T) []byte) *runs[T] {
	return &runs[T]{
		space:     space{limit: o.segmentSize()},
		appendKey: appendKey,
		share:     !o.NoSharing,
		overlap:   o.Overlap,
		seen:      map[string]datacenter.Address{},
	}
}

// place returns the address of a run, and stores it unless an equal one is stored.
func (r *runs[T]) place(run []T) datacenter.Address {
	if len(run) == 0 {
		return absent
	}
	if len(run) > maxRun {
		panic(fmt.Sprintf("dctest: BUG: a run of %d elements", len(run)))
	}
	r.key = r.key[:0]
	for _, e := range run {
		r.key = r.appendKey(r.key, e)
	}
	if a, ok := r.seen[string(r.key)]; ok && r.share {
		return a
	}
	a := r.store(run)
	if r.share {
		r.remember(a, len(run))
	}
	return a
}

func (r *runs[T]) store(run []T) datacenter.Address {
	a := r.space.take(len(run))
	if int(a.Segment) == len(r.segments) {
		r.segments = append(r.segments, nil)
	}
	r.segments[a.Segment] = append(r.segments[a.Segment], run...)
	return a
}

// remember records the run with the current key, and its tails if runs may overlap.
func (r *runs[T]) remember(a datacenter.Address, n int) {
	r.seen[string(r.key)] = a
	if !r.overlap {
		return
	}
	size := len(r.key) / n
	for i := 1; i < n; i++ {
		tail := string(r.key[i*size:])
		if _, ok := r.seen[tail]; !ok {
			r.seen[tail] = address(int(a.Segment), int(a.Element)+i)
		}
	}
}
