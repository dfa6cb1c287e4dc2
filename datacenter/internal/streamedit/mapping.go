package streamedit

import (
	"iter"
	"math"
	"sort"
)

// Part is a part of edited data: New or, if that is nil, Len bytes of the old data at Off.
type Part struct {
	Off, Len int64
	New      []byte
}

// mapping tells where the data lies after the edits.
type mapping struct {
	edits []Edit
	// before has by how much the data behind each edit, and before the next one, moves. Its
	// first element is that before the first edit.
	before []int64
	size   int64 // of the new data
}

// newMapping returns the mapping of size bytes of data.
func newMapping(edits []Edit, size int64) *mapping {
	m := &mapping{edits: edits, before: make([]int64, 1, len(edits)+1)}
	moved := int64(0)
	for _, e := range edits {
		moved += int64(len(e.New)) - e.Len
		m.before = append(m.before, moved)
	}
	m.size = size + moved
	return m
}

// begun returns the number of edits that begin before off.
func (m *mapping) begun(off int64) int {
	return sort.Search(len(m.edits), func(i int) bool { return m.edits[i].Off >= off })
}

// cut returns where data that is cut before the byte at off is cut after the edits. What is
// inserted there lies behind the cut.
func (m *mapping) cut(off int64) int64 { return m.after(m.begun(off), off) }

// place returns where the byte at off lies after the edits.
func (m *mapping) place(off int64) int64 { return m.after(m.begun(off+1), off) }

// after returns where off lies after the first n edits, of which none but the last can reach
// beyond off.
func (m *mapping) after(n int, off int64) int64 {
	if n == 0 {
		return off
	}
	e := &m.edits[n-1]
	if e.Off+e.Len <= off {
		return off + m.before[n]
	}
	return e.Off + m.before[n-1] + min(off-e.Off, int64(len(e.New)))
}

// ended returns where the first n edits end, in the data before them.
func (m *mapping) ended(n int) int64 {
	if n == 0 {
		return 0
	}
	return m.edits[n-1].Off + m.edits[n-1].Len
}

// beginOf returns where edit n begins, in the data before the edits.
func (m *mapping) beginOf(n int) int64 {
	if n == len(m.edits) {
		return math.MaxInt64
	}
	return m.edits[n].Off
}

// newEnd returns where the new bytes of edit i end.
func (m *mapping) newEnd(i int) int64 {
	return m.edits[i].Off + m.before[i] + int64(len(m.edits[i].New))
}

// former returns where data between two new offsets lay before the edits. ok is false if it did not lie
// there as it is now.
func (m *mapping) former(from, to int64) (old int64, ok bool) {
	i := sort.Search(len(m.edits), func(i int) bool { return m.newEnd(i) > from })
	return from - m.before[i], i == len(m.edits) || m.edits[i].Off+m.before[i] >= to
}

// untouched reports whether no edit changes a byte between two offsets or inserts one there.
func (m *mapping) untouched(from, to int64) bool {
	n := m.begun(to)
	return n == 0 || m.ended(n) <= from
}

// data returns bytes of the edited data, of which old reads what stays. They are in buf if that has
// room.
func (m *mapping) data(buf []byte, from, to int64, old func(off int64, p []byte) error) ([]byte, error) {
	if int64(cap(buf)) < to-from {
		buf = make([]byte, to-from)
	}
	buf = buf[:to-from]
	left := buf
	for x := range m.parts(from, to) {
		if x.New == nil {
			if err := old(x.Off, left[:x.Len]); err != nil {
				return nil, err
			}
		}
		copy(left, x.New)
		left = left[x.Len:]
	}
	return buf, nil
}

// parts yields the parts of the edited data between two offsets.
func (m *mapping) parts(from, to int64) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		i := sort.Search(len(m.edits), func(i int) bool { return m.newEnd(i) > from })
		for at := from; at < to; {
			// What lies before edit i is old data.
			end := m.size
			if i < len(m.edits) {
				end = m.edits[i].Off + m.before[i]
			}
			if n := min(end, to) - at; n > 0 {
				if !yield(Part{Off: at - m.before[i], Len: n}) {
					return
				}
				at += n
			}
			if i < len(m.edits) && at < to {
				e := m.edits[i].New[at-end:]
				e = e[:min(int64(len(e)), to-at)]
				if len(e) > 0 && !yield(Part{Len: int64(len(e)), New: e}) {
					return
				}
				at += int64(len(e))
				i++
			}
		}
	}
}
