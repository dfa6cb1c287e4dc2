package geometry

import "slices"

// patch is a rectangle of floors of one height in a square, from cell x0, y0 up to x1, y1: a run that
// is the same in each column from x0 up to x1.
type patch struct {
	run    run
	x0, x1 uint8
}

// heights counts the floors of a square at each height. Heights that are equal modulo its length share a
// count, so that few have to be cleared.
type heights [1 << 10]uint16

func (h *heights) of(z int16) *uint16 { return &h[int(uint16(z))%len(h)] }

func (h *heights) count(s Square) {
	clear(h[:])
	for b := s.volumes; len(b) >= volumeSize; b = b[volumeSize:] {
		*h.of(volumeAt(b).Z)++
	}
}

// alone reports whether there is surely no other floor at the height of one.
func (h *heights) alone(z int16) bool { return *h.of(z) == 1 }

// patches joins floors of a square to rectangles. It first joins cells along y to runs, then
// equal runs along x. Both lists that are compared are sorted, so the time is hardly more
// than linear in the number of floors.
type patches struct {
	done []patch
	// runs are those of the newest column. open are the patches that reach the column before,
	// next those that reach the newest; their x1 is not known yet.
	runs       []run
	open, next []patch
	// cell has the heights of a cell, low the runs that reach it, nextLow those that go on or
	// begin there; their y1 is not known yet.
	cell         []int16
	low, nextLow []run
}

// run is a run in a column. It has the bits
//
//	z+32768:16 y0:4 y1:4
type run uint32

const (
	yBits = 4
	yMask = 1<<yBits - 1
)

func packRun(z int16, y0, y1 uint8) run {
	return run(uint16(z)^1<<15)<<(2*yBits) | run(y0)<<yBits | run(y1)
}

func (r run) z() int16  { return int16(uint16(r>>(2*yBits)) ^ 1<<15) }
func (r run) y0() uint8 { return uint8(r >> yBits & yMask) }
func (r run) y1() uint8 { return uint8(r & yMask) }

// below reports whether a run is lower than another.
func (r run) below(other run) bool { return r>>(2*yBits) < other>>(2*yBits) }

// take takes the height of a floor in the cell that endCell is called for next.
func (p *patches) take(z int16) { p.cell = append(p.cell, z) }

// endCell joins the floors of cell x, y. Cells come in their order.
func (p *patches) endCell(x, y uint8) {
	if len(p.cell)+len(p.low) > 0 {
		p.addCell(y)
	}
	if y == SquareSide-1 && len(p.runs)+len(p.low)+len(p.open) > 0 {
		p.endColumn(x)
	}
}

// finish returns the patches of a square whose cells have all ended. They may be used until the next
// cell ends.
func (p *patches) finish() []patch {
	done := p.done
	for _, o := range p.open {
		done = append(done, patch{o.run, o.x0, SquareSide})
	}
	p.open, p.done = p.open[:0], done[:0]
	return done
}

// addCell continues the runs that have a floor in p.cell, ends the others, and begins new
// ones.
func (p *patches) addCell(y uint8) {
	if !slices.IsSorted(p.cell) {
		slices.Sort(p.cell)
	}
	old, next, ended := p.low, p.nextLow[:0], p.runs
	for _, z := range p.cell {
		here := packRun(z, y, 0)
		for len(old) > 0 && old[0].below(here) {
			ended = append(ended, old[0]|run(y))
			old = old[1:]
		}
		if len(old) > 0 && !here.below(old[0]) {
			here = old[0]
			old = old[1:]
		}
		next = append(next, here)
	}
	p.runs = ended
	p.endRuns(old, y)
	p.low, p.nextLow = next, p.low
	p.cell = p.cell[:0]
}

func (p *patches) endRuns(all []run, y uint8) {
	for _, r := range all {
		p.runs = append(p.runs, r|run(y))
	}
}

// endColumn continues the patches that have an equal run in column x, ends the others, and
// begins new ones.
func (p *patches) endColumn(x uint8) {
	p.endRuns(p.low, SquareSide)
	p.low = p.low[:0]
	slices.Sort(p.runs)
	old, next, done := p.open, p.next[:0], p.done
	for _, r := range p.runs {
		for len(old) > 0 && old[0].run < r {
			done = append(done, patch{old[0].run, old[0].x0, x})
			old = old[1:]
		}
		here := patch{run: r, x0: x}
		if len(old) > 0 && old[0].run == r {
			here = old[0]
			old = old[1:]
		}
		next = append(next, here)
	}
	for _, o := range old {
		done = append(done, patch{o.run, o.x0, x})
	}
	p.done = done
	p.runs = p.runs[:0]
	p.open, p.next = next, p.open
}
