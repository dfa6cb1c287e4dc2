package form

import (
	"encoding/binary"
	"math/bits"

	"lorefs/datacenter/internal/words"
)

// Marks say which elements of a segmented region have more than one referrer: more than one node
// whose run they are in, of the nodes that a path leads to. An element without a mark can be changed
// in place, if its only referrer can. Runs that overlap count as two referrers of what they share.
type Marks struct {
	// Base has the number of each segment's first element that has an address.
	Base []uint32
	// Many has a bit for each such element.
	Many []uint64
	// Unused is the number of elements in use that no node refers to. It may be too low after a
	// splice, because an element that had many referrers may have lost all of them.
	Unused int64
}

func newMarks(segs []Segment) Marks {
	m := Marks{Base: AddressBases(segs)}
	m.Many = zeros(uint64(wordsFor(Addressable(segs))))
	return m
}

// wordsFor returns how many words hold n bits.
func wordsFor(n int64) int64 { return (n + 63) / 64 }

// AddressBases returns the number of each segment's first element, among those that have an
// address.
func AddressBases(segs []Segment) []uint32 {
	base := make([]uint32, len(segs))
	n := uint32(0)
	for i, s := range segs {
		base[i] = n
		n += s.Addressable()
	}
	return base
}

// Number returns the number of the element at addr.
func (m *Marks) Number(addr Address) uint32 { return m.Base[addr.Segment] + uint32(addr.Element) }

// Has reports whether element n has more than one referrer.
func (m *Marks) Has(n uint32) bool { return m.Many[n/64]>>(n%64)&1 != 0 }

// Shares reports whether the element at an address, which comes from a node, has more than one
// referrer.
func (m *Marks) Shares(addr Address) bool {
	if int(addr.Segment) >= len(m.Base) {
		return false
	}
	n := m.Number(addr)
	return int64(n) < int64(len(m.Many))*64 && m.Has(n)
}

// Set marks count elements from n on.
func (m *Marks) Set(n uint32, count uint16) {
	for w, mask := range masks(n, count) {
		m.Many[w] |= mask
	}
}

// None reports whether none of count elements from n on has more than one referrer.
func (m *Marks) None(n uint32, count uint16) bool {
	for w, mask := range masks(n, count) {
		if m.Many[w]&mask != 0 {
			return false
		}
	}
	return true
}

// Grow makes room for elements up to n.
func (m *Marks) Grow(n int64) {
	for int64(len(m.Many)) < wordsFor(n) {
		m.Many = append(m.Many, 0)
	}
}

// masks yields the words that have the bits from n on, and these bits in each.
func masks(n uint32, count uint16) func(func(int, uint64) bool) {
	return func(yield func(int, uint64) bool) {
		for left := uint32(count); left > 0; {
			at := n % 64
			k := min(64-at, left)
			if !yield(int(n/64), (^uint64(0)>>(64-k))<<at) {
				return
			}
			n += k
			left -= k
		}
	}
}

// marker makes marks during the first pass.
type marker struct {
	Marks
	seen []uint64 // elements that have a referrer
}

func newMarker(segs []Segment) marker {
	m := marker{Marks: newMarks(segs)}
	m.seen = zeros(uint64(len(m.Many)))
	return m
}

// isSeen reports whether element n has a referrer.
func (m *marker) isSeen(n uint32) bool { return m.seen[n/64]>>(n%64)&1 != 0 }

// claim notes one more referrer of a run.
func (m *marker) claim(addr Address, count uint16) {
	for w, mask := range masks(m.Number(addr), count) {
		m.Many[w] |= m.seen[w] & mask
		m.seen[w] |= mask
	}
}

// finish returns the marks, when all referrers are noted. others is the number of elements in use
// that need no referrer.
func (m *marker) finish(segs []Segment, others int64) Marks {
	m.Unused = Used(segs) - others
	for _, w := range m.seen {
		m.Unused -= int64(bits.OnesCount64(w))
	}
	return m.Marks
}

// append is the inverse of indexReader.marks.
func (m *Marks) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(m.Unused))
	return words.Append(b, m.Many)
}

// Marks reads the marks of a region.
func (c indexReader) marks(segs []Segment) Marks {
	const word = 8
	m := Marks{Base: AddressBases(segs), Unused: int64(c.LE64())}
	if m.Unused < 0 || m.Unused > Used(segs) {
		c.Fail("%d unused of %d", m.Unused, Used(segs))
	}
	m.Many = words.Of[uint64](c.Bytes(int(wordsFor(Addressable(segs))) * word))
	return m
}
