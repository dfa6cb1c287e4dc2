package splice

import (
	"fmt"

	"lorefs/datacenter/internal/form"
)

// grownRegion is a segmented region of a file, to which elements are added at the end.
type grownRegion struct {
	size int64 // of an element
	old  []form.Segment
	// counts are the segments as they become, with their old offsets. Only the last old one may
	// differ from it, and new ones may follow.
	counts []form.Segment
	// added has the new elements of each segment from first on.
	first int
	added [][]byte
}

func newGrownRegion(segs []form.Segment, size int64) grownRegion {
	first := max(len(segs)-1, 0)
	return grownRegion{
		size: size, old: segs, counts: append([]form.Segment(nil), segs...),
		first: first, added: make([][]byte, len(segs)-first),
	}
}

// place adds elements that must be neighbours. They go behind the used ones of the last segment or,
// if they have no address there, into a new segment.
func (g *grownRegion) place(elements []byte) (form.Address, error) {
	n := int64(len(elements)) / g.size
	last := len(g.counts) - 1
	if n > g.room() {
		if len(g.counts) >= form.MaxSegments-1 {
			return form.Address{}, whole("no more segments can be addressed")
		}
		g.counts, g.added = append(g.counts, form.Segment{}), append(g.added, nil)
		last++
	}
	s := &g.counts[last]
	addr := form.Address{Segment: uint16(last), Element: uint16(s.Used)}
	s.Used += uint32(n)
	s.Full = max(s.Full, s.Used)
	g.added[last-g.first] = append(g.added[last-g.first], elements...)
	return addr, nil
}

// room returns how many elements fit into the last segment.
func (g *grownRegion) room() int64 {
	if len(g.counts) == 0 {
		return 0
	}
	return form.MaxElements - int64(g.counts[len(g.counts)-1].Used)
}

// isNew reports whether what is at addr was added.
func (g *grownRegion) isNew(addr form.Address) bool {
	i := int(addr.Segment)
	return i >= len(g.old) || uint32(addr.Element) >= g.old[i].Used
}

// at returns the added elements from addr on.
func (g *grownRegion) at(addr form.Address) []byte {
	i := int(addr.Segment)
	first := uint32(0)
	if i < len(g.old) {
		first = g.old[i].Used
	}
	return g.added[i-g.first][int64(uint32(addr.Element)-first)*g.size:]
}

// edits adds the edits that add the elements. count is the offset of the number of segments.
func (g *grownRegion) edits(l *editList, count int64) {
	if len(g.counts) > len(g.old) {
		l.u32(count, uint32(len(g.counts)))
	}
	end := count + 4
	if n := len(g.old); n > 0 {
		was, is := g.old[n-1], g.counts[n-1]
		end = was.Off + int64(was.Full)*g.size
		if was.Used != is.Used {
			l.u32(was.Off-8, is.Full)
			l.u32(was.Off-4, is.Used)
			at := was.Off + int64(was.Used)*g.size
			l.replace(at, min(end-at, int64(len(g.added[0]))), g.added[0])
		}
	}
	for i, s := range g.counts[len(g.old):] {
		head := append(appendU32(nil, s.Full), appendU32(nil, s.Used)...)
		l.replace(end, 0, append(head, g.added[len(g.old)+i-g.first]...))
	}
}

// place returns the place of the segments if their region begins at off, and the offset behind it.
func placeSegments(segs []form.Segment, off, size int64) ([]form.Segment, int64) {
	off += 4
	placed := make([]form.Segment, len(segs))
	for i, s := range segs {
		off += 8
		s.Off = off
		placed[i] = s
		off += int64(s.Full) * size
	}
	return placed, off
}

// whole returns an ErrWhole that says why.
func whole(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrWhole, fmt.Errorf(format, args...))
}
