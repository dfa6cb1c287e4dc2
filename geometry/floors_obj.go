package geometry

import "fmt"

// FloorsOBJ returns a mesh of all floors of a zone in Wavefront's OBJ format. Each square
// is an object. Each face is a floor, or several floors of one height side by side in the y
// of a square. Positions are those of the world whose origin lies at the corner of zone
// origin; z is up.
func FloorsOBJ(z *Zone, at, origin ZonePosition) Text {
	x, y := at.Corner(origin)
	return floorsOBJ{z: z, at: at, x: int(x), y: int(y)}
}

// floorsOBJ has a part for each square, and one before them. Faces number their corners
// from the end, -1 being the newest, so that a part does not depend on the parts before it.
type floorsOBJ struct {
	z    *Zone
	at   ZonePosition
	x, y int
}

func (t floorsOBJ) Parts() int { return ZoneSquares + 1 }

func (t floorsOBJ) AppendPart(dst []byte, i int) []byte {
	if i == 0 {
		return fmt.Appendf(dst, "# lorefs floors of zone %v\n# v x y z: position units of the world, 25 are a metre; z is up\no %v\n", t.at, t.at)
	}
	square := i - 1
	s := t.z.Square(square)
	if len(s.volumes) == 0 {
		return dst
	}
	r := floorRuns{
		x: t.x + square/ZoneSide*SquareSize,
		y: t.y + square%ZoneSide*SquareSize,
	}
	for cell, volumes := range s.Cells {
		if cell%SquareSide == 0 {
			dst = r.endColumn(dst, cell/SquareSide-1)
		}
		dst = r.add(dst, cell, volumes)
	}
	return r.endColumn(dst, SquareSide-1)
}

// floorRuns joins floors in a column of cells.
type floorRuns struct {
	// x and y are the square's corner.
	x, y int
	// open are the runs that reach the newest cell, older those that reach the cell before.
	open, older []floorRun
}

type floorRun struct {
	z int16
	// from is the first cy of the run.
	from int
}

// add takes the floors of a cell. They continue runs or begin new ones; all other runs end.
func (r *floorRuns) add(dst []byte, cell int, volumes Volumes) []byte {
	cx, cy := cell/SquareSide, cell%SquareSide
	r.open, r.older = r.older[:0], r.open
	for i := range volumes.Len() {
		run := floorRun{volumes.At(i).Z, cy}
		for k, old := range r.older {
			if old.z == run.z && old.from >= 0 {
				run.from = old.from
				r.older[k].from = -1 // it goes on
				break
			}
		}
		r.open = append(r.open, run)
	}
	for _, old := range r.older {
		if old.from >= 0 {
			dst = r.face(dst, cx, old, cy)
		}
	}
	return dst
}

// endColumn ends the runs of column cx.
func (r *floorRuns) endColumn(dst []byte, cx int) []byte {
	for _, run := range r.open {
		dst = r.face(dst, cx, run, SquareSide)
	}
	r.open = r.open[:0]
	return dst
}

// face appends the rectangle of a run in column cx up to cell end.
func (r *floorRuns) face(dst []byte, cx int, run floorRun, end int) []byte {
	x0, y0 := r.x+cx*CellSize, r.y+run.from*CellSize
	x1, y1 := x0+CellSize, r.y+end*CellSize
	for _, corner := range [4][2]int{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}} {
		dst = appendVertex(dst, corner[0], corner[1], int(run.z))
	}
	return append(dst, "f -4 -3 -2 -1\n"...)
}

func appendVertex(dst []byte, x, y, z int) []byte {
	dst = append(dst, 'v', ' ')
	dst = appendInt(dst, x)
	dst = append(dst, ' ')
	dst = appendInt(dst, y)
	dst = append(dst, ' ')
	dst = appendInt(dst, z)
	return append(dst, '\n')
}
