package geometry

import "slices"

// patch is a rectangle of floors of one height in a square, from cell x0, y0 up to x1, y1.
type patch struct {
	z              int16
	x0, y0, x1, y1 uint8
}

// patches joins the floors of a square to rectangles. It first joins cells along y to runs,
// then equal runs along x. Both lists that are compared are sorted, so the time is hardly more
// than linear in the number of floors.
type patches struct {
	done []patch
	// runs are those of the newest column. open are the patches that reach the column before,
	// next those that reach the newest.
	runs       []uint32
	open, next []openPatch
	// cell has the heights of a cell, low those of the runs that reach it, nextLow of those
	// that go on or begin there.
	cell         []int16
	low, nextLow []openRun
}

// openRun is a run of floors that may go on. from is its first y.
type openRun struct {
	z    int16
	from uint8
}

// openPatch is a patch that may go on. x0 is its first x.
type openPatch struct {
	run uint32
	x0  uint8
}

// A run in a column has the bits
//
//	z+32768:16 y0:4 y1:4
const runBits = 4

func packRun(z int16, y0, y1 uint8) uint32 {
	return uint32(uint16(z)^1<<15)<<(2*runBits) | uint32(y0)<<runBits | uint32(y1)
}

// patchOf returns the patch of a run in columns x0 to x1.
func patchOf(run uint32, x0, x1 uint8) patch {
	const mask = 1<<runBits - 1
	return patch{int16(uint16(run>>(2*runBits)) ^ 1<<15), x0, uint8(run >> runBits & mask), x1, uint8(run & mask)}
}

// join finds the patches of a square.
func (p *patches) join(s Square) {
	p.done = p.done[:0]
	for cell, volumes := range s.Cells {
		x, y := uint8(cell/SquareSide), uint8(cell%SquareSide)
		p.addCell(y, volumes)
		if y == SquareSide-1 {
			p.endColumn(x)
		}
	}
	for _, o := range p.open {
		p.done = append(p.done, patchOf(o.run, o.x0, SquareSide))
	}
	p.open = p.open[:0]
}

// addCell continues the runs that have a floor in the cell, ends the others, and begins new
// ones.
func (p *patches) addCell(y uint8, volumes Volumes) {
	p.cell = p.cell[:0]
	for i := range volumes.Len() {
		p.cell = append(p.cell, volumes.At(i).Z)
	}
	if !slices.IsSorted(p.cell) {
		slices.Sort(p.cell)
	}
	p.nextLow = p.nextLow[:0]
	old := p.low
	for _, z := range p.cell {
		for len(old) > 0 && old[0].z < z {
			p.runs = append(p.runs, packRun(old[0].z, old[0].from, y))
			old = old[1:]
		}
		if len(old) > 0 && old[0].z == z {
			p.nextLow = append(p.nextLow, old[0])
			old = old[1:]
			continue
		}
		p.nextLow = append(p.nextLow, openRun{z, y})
	}
	p.endRuns(old, y)
	p.low, p.nextLow = p.nextLow, p.low
}

func (p *patches) endRuns(all []openRun, y uint8) {
	for _, r := range all {
		p.runs = append(p.runs, packRun(r.z, r.from, y))
	}
}

// endColumn continues the patches that have an equal run in column x, ends the others, and
// begins new ones.
func (p *patches) endColumn(x uint8) {
	p.endRuns(p.low, SquareSide)
	p.low = p.low[:0]
	slices.Sort(p.runs)
	p.next = p.next[:0]
	old := p.open
	for _, run := range p.runs {
		for len(old) > 0 && old[0].run < run {
			p.done = append(p.done, patchOf(old[0].run, old[0].x0, x))
			old = old[1:]
		}
		if len(old) > 0 && old[0].run == run {
			p.next = append(p.next, old[0])
			old = old[1:]
			continue
		}
		p.next = append(p.next, openPatch{run, x})
	}
	for _, o := range old {
		p.done = append(p.done, patchOf(o.run, o.x0, x))
	}
	p.runs = p.runs[:0]
	p.open, p.next = p.next, p.open
}
