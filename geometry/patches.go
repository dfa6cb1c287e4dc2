package geometry

import (
	"math"
	"slices"
)

// patch is a rectangle of floors of one height in a square, from cell x0, y0 up to x1, y1: a run that
// is the same in columns x0 to x1.
type patch struct {
	run    run
	x0, x1 uint8
}

// heights counts the floors of a square at each height, in places that several heights have: their
// number can be cleared quickly.
type heights [1 << 10]uint16

func (h *heights) place(z int16) *uint16 { return &h[int(uint16(z))%len(h)] }

func (h *heights) count(of Square) {
	clear(h[:])
	for b := of.volumes; len(b) >= volumeSize; b = b[volumeSize:] {
		*h.place(volumeAt(b).Z)++
	}
}

// alone reports whether a height surely has only one floor.
func (h *heights) alone(z int16) bool { return *h.place(z) == 1 }

// patches joins the floors of a square to rectangles. It first joins cells along y to runs,
// then equal runs along x. Both lists that are compared are sorted, so the time is hardly more
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
	runBits = 4
	runMask = 1<<runBits - 1
)

func packRun(z int16, y0, y1 uint8) run {
	return run(uint16(z)^1<<15)<<(2*runBits) | run(y0)<<runBits | run(y1)
}

func (r run) z() int16  { return int16(uint16(r>>(2*runBits)) ^ 1<<15) }
func (r run) y0() uint8 { return uint8(r >> runBits & runMask) }
func (r run) y1() uint8 { return uint8(r & runMask) }

// below reports whether a run is lower than another.
func (r run) below(other run) bool { return r>>(2*runBits) < other>>(2*runBits) }

// join finds the patches of a square's floors that may not be alone at their height.
func (p *patches) join(s Square, all *heights) {
	p.done = p.done[:0]
	for cell, volumes := range s.Cells {
		x, y := uint8(cell/SquareSide), uint8(cell%SquareSide)
		p.sortCell(volumes, all)
		p.addCell(y)
		if y == SquareSide-1 {
			p.endColumn(x)
		}
	}
	for _, o := range p.open {
		p.done = append(p.done, patch{o.run, o.x0, SquareSide})
	}
	p.open = p.open[:0]
}

// addCell continues the runs that have a floor in the cell, ends the others, and begins new
// ones.
func (p *patches) addCell(y uint8) {
	old, next, ended := p.low, p.nextLow[:0], p.runs
	for _, z := range p.cell {
		begun := packRun(z, y, 0)
		for len(old) > 0 && old[0].below(begun) {
			ended = append(ended, old[0]|run(y))
			old = old[1:]
		}
		if len(old) > 0 && !begun.below(old[0]) {
			begun = old[0]
			old = old[1:]
		}
		next = append(next, begun)
	}
	p.runs = ended
	p.endRuns(old, y)
	p.low, p.nextLow = next, p.low
}

// sortCell takes the heights of a cell that may have other floors, in their order.
func (p *patches) sortCell(volumes Volumes, all *heights) {
	cell, sorted, last := p.cell[:0], true, int16(math.MinInt16)
	for i := range volumes.Len() {
		z := volumes.At(i).Z
		if all.alone(z) {
			continue
		}
		cell, sorted, last = append(cell, z), sorted && last <= z, z
	}
	p.cell = cell
	if !sorted {
		slices.Sort(cell)
	}
}

// endRuns ends runs at y.
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
		begun := patch{run: r, x0: x}
		if len(old) > 0 && old[0].run == r {
			begun = old[0]
			old = old[1:]
		}
		next = append(next, begun)
	}
	for _, o := range old {
		done = append(done, patch{o.run, o.x0, x})
	}
	p.done = done
	p.runs = p.runs[:0]
	p.open, p.next = next, p.open
}
