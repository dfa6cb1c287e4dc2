package datacenter

import (
	"encoding/binary"
	"math/bits"

	"lorefs/datacenter/internal/words"
)

// marks say which elements of a segmented region have more than one referrer: more than one node
// whose run they are in, of the nodes that a path leads to. An element without a mark can be changed
// in place, if its only referrer can. Runs that overlap count as two referrers of what they share.
type marks struct {
	// base has the number of each segment's first element that has an address.
	base []uint32
	// many has a bit for each such element.
	many []uint64
	// unused is the number of elements in use that no node refers to. It may be too low after a
	// splice, because an element that had many referrers may have lost all of them.
	unused int64
}

func newMarks(segs []segment) marks {
	m := marks{base: addressBases(segs)}
	m.many = zeros(uint64(wordsFor(addressable(segs))))
	return m
}

// wordsFor returns how many words hold n bits.
func wordsFor(n int64) int64 { return (n + 63) / 64 }

// addressBases returns the number of each segment's first element, among those that have an
// address.
func addressBases(segs []segment) []uint32 {
	base := make([]uint32, len(segs))
	n := uint32(0)
	for i, s := range segs {
		base[i] = n
		n += s.addressable()
	}
	return base
}

// number returns the number of the element at addr.
func (m *marks) number(addr Address) uint32 { return m.base[addr.Segment] + uint32(addr.Element) }

// has reports whether element n has more than one referrer.
func (m *marks) has(n uint32) bool { return m.many[n/64]>>(n%64)&1 != 0 }

// shares reports whether the element at an address, which comes from a node, has more than one
// referrer.
func (m *marks) shares(addr Address) bool {
	if int(addr.Segment) >= len(m.base) {
		return false
	}
	n := m.number(addr)
	return int64(n) < int64(len(m.many))*64 && m.has(n)
}

// set marks count elements from n on.
func (m *marks) set(n uint32, count uint16) {
	for w, mask := range masks(n, count) {
		m.many[w] |= mask
	}
}

// none reports whether none of count elements from n on has more than one referrer.
func (m *marks) none(n uint32, count uint16) bool {
	for w, mask := range masks(n, count) {
		if m.many[w]&mask != 0 {
			return false
		}
	}
	return true
}

// grow makes room for elements up to n.
func (m *marks) grow(n int64) {
	for int64(len(m.many)) < wordsFor(n) {
		m.many = append(m.many, 0)
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
	marks
	seen []uint64 // elements that have a referrer
}

func newMarker(segs []segment) marker {
	m := marker{marks: newMarks(segs)}
	m.seen = zeros(uint64(len(m.many)))
	return m
}

// isSeen reports whether element n has a referrer.
func (m *marker) isSeen(n uint32) bool { return m.seen[n/64]>>(n%64)&1 != 0 }

// claim notes one more referrer of a run.
func (m *marker) claim(addr Address, count uint16) {
	for w, mask := range masks(m.number(addr), count) {
		m.many[w] |= m.seen[w] & mask
		m.seen[w] |= mask
	}
}

// finish returns the marks, when all referrers are noted. others is the number of elements in use
// that need no referrer.
func (m *marker) finish(segs []segment, others int64) marks {
	m.unused = used(segs) - others
	for _, w := range m.seen {
		m.unused -= int64(bits.OnesCount64(w))
	}
	return m.marks
}

// append is the inverse of indexReader.marks.
func (m *marks) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(m.unused))
	return words.Append(b, m.many)
}

// marks reads the marks of a region.
func (c indexReader) marks(segs []segment) marks {
	const word = 8
	m := marks{base: addressBases(segs), unused: int64(c.LE64())}
	if m.unused < 0 || m.unused > used(segs) {
		c.Fail("%d unused of %d", m.unused, used(segs))
	}
	m.many = words.Of[uint64](c.Bytes(int(wordsFor(addressable(segs))) * word))
	return m
}
