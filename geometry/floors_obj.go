package geometry

import (
	"fmt"
)

// FloorsOBJ returns a mesh of all floors of a zone in Wavefront's OBJ format. Each face is a
// rectangle: a floor, or several floors of one height side by side in a square. Corners at the
// same place of a square are one vertex. Positions are those of the world whose origin lies at
// the corner of zone origin; z is up.
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

func (t floorsOBJ) put(s *sink, i int) {
	if i == 0 {
		s.str(fmt.Sprintf("# lorefs floors of zone %v\n# v x y z: position units of the world, 25 are a metre; z is up\no %v\n", t.at, t.at))
		return
	}
	square := i - 1
	of := t.z.Square(square)
	if len(of.volumes) == 0 {
		return
	}
	var m mesher
	m.put(s, of, t.x+square/ZoneSide*SquareSize, t.y+square%ZoneSide*SquareSize)
}

// mesher writes the mesh of a square. Most floors are alone at their height: they can't be joined with
// others or share a corner. It writes these first, and looks for nothing.
type mesher struct {
	heights  heights
	patches  patches
	vertices vertices
	// xs and ys have the beginning and the middle of a vertex's line for each place on an axis.
	xs, ys [SquareSide + 1][]byte
	// end has the end of a vertex's line if it is written, endSize its size.
	end     []byte
	endSize int
}

// newFace is the line of a face behind four vertices of its own.
const newFace = "f -4 -3 -2 -1\n"

// put writes a square whose corner is x, y.
func (m *mesher) put(s *sink, of Square, x, y int) {
	m.setPlaces(x, y)
	m.heights.count(of)
	for cell, volumes := range of.Cells {
		x, y := uint8(cell/SquareSide), uint8(cell%SquareSide)
		if s.counts {
			m.countAlone(s, volumes, x, y)
		} else {
			m.putAlone(s, volumes, x, y)
		}
		m.patches.endCell(x, y)
	}
	m.putPatches(s, m.patches.finish())
}

// setPlaces sets the beginnings of vertices' lines.
func (m *mesher) setPlaces(x, y int) {
	for i := range m.xs {
		m.xs[i] = appendInt(append(m.xs[i][:0], "v "...), x+i*CellSize)
		m.ys[i] = appendInt(append(m.ys[i][:0], ' '), y+i*CellSize)
	}
}

// putAlone writes the floors of cell x, y that are alone at their height, with corners of their own. It
// gives the others to the patches.
func (m *mesher) putAlone(s *sink, volumes Volumes, x, y uint8) {
	for i := range volumes.Len() {
		z := volumes.At(i).Z
		if !m.heights.alone(z) {
			m.patches.take(z)
			continue
		}
		m.setEnd(s, z)
		m.putVertex(s, x, y)
		m.putVertex(s, x+1, y)
		m.putVertex(s, x+1, y+1)
		m.putVertex(s, x, y+1)
		s.str(newFace)
	}
}

// countAlone is putAlone for a sink that counts.
func (m *mesher) countAlone(s *sink, volumes Volumes, x, y uint8) {
	count, ends := 0, 0
	for i := range volumes.Len() {
		z := volumes.At(i).Z
		if !m.heights.alone(z) {
			m.patches.take(z)
			continue
		}
		ends += len(" \n") + digits(int(z))
		count++
	}
	// Each place on an axis is that of two corners.
	places := 2 * (len(m.xs[x]) + len(m.xs[x+1]) + len(m.ys[y]) + len(m.ys[y+1]))
	s.count += count*(places+len(newFace)) + 4*ends
}

// putPatches writes the faces of all patches, each behind those of its corners that no other face
// had.
func (m *mesher) putPatches(s *sink, all []patch) {
	m.vertices.clear(4 * len(all))
	for _, p := range all {
		m.setEnd(s, p.run.z())
		m.putPatch(s, p)
	}
}

// setEnd sets the end of the lines of vertices.
func (m *mesher) setEnd(s *sink, z int16) {
	if s.counts {
		m.endSize = len(" \n") + digits(int(z))
		return
	}
	m.end = append(appendInt(append(m.end[:0], ' '), int(z)), '\n')
}

// putVertex writes the line of a vertex.
func (m *mesher) putVertex(s *sink, x, y uint8) {
	if s.counts {
		s.count += len(m.xs[x]) + len(m.ys[y]) + m.endSize
		return
	}
	s.dst = append(s.dst, m.xs[x]...)
	s.dst = append(s.dst, m.ys[y]...)
	s.dst = append(s.dst, m.end...)
}

// putPatch writes a patch, which may share corners.
func (m *mesher) putPatch(s *sink, p patch) {
	before := m.vertices.count
	y0, y1, z := p.run.y0(), p.run.y1(), p.run.z()
	face := [4]int{
		m.putCorner(s, p.x0, y0, z), m.putCorner(s, p.x1, y0, z),
		m.putCorner(s, p.x1, y1, z), m.putCorner(s, p.x0, y1, z),
	}
	if m.vertices.count == before+len(face) {
		s.str(newFace)
		return
	}
	s.str("f")
	for _, number := range face {
		s.str(" ")
		s.int(number - m.vertices.count)
	}
	s.str("\n")
}

// putCorner returns the number of a vertex, and writes it if it is new.
func (m *mesher) putCorner(s *sink, x, y uint8, z int16) int {
	number, isNew := m.vertices.number(x, y, z)
	if isNew {
		m.putVertex(s, x, y)
	}
	return number
}

// vertices numbers the corners of patches, from 0 on, in a hash table.
type vertices struct {
	slots []vertexSlot
	shift uint8
	count int
}

// vertexSlot has 1 more than the number of a vertex, or 0 if it is free.
type vertexSlot struct{ key, number uint32 }

// clear empties the table, and makes room for so many vertices.
func (v *vertices) clear(most int) {
	v.count, v.shift = 0, 32
	size := 1
	for size < 2*most {
		size *= 2
		v.shift--
	}
	if cap(v.slots) < size {
		v.slots = make([]vertexSlot, size)
	}
	v.slots = v.slots[:size]
	clear(v.slots)
}

// number returns the number of the vertex at a place, which is new if it had none.
func (v *vertices) number(x, y uint8, z int16) (number int, isNew bool) {
	const golden = 0x9e3779b1 // spreads keys that follow each other
	key := uint32(x)<<20 | uint32(y)<<16 | uint32(uint16(z))
	i := key * golden >> v.shift
	for v.slots[i].number != 0 {
		if v.slots[i].key == key {
			return int(v.slots[i].number) - 1, false
		}
		i = (i + 1) & uint32(len(v.slots)-1)
	}
	v.count++
	v.slots[i] = vertexSlot{key, uint32(v.count)}
	return v.count - 1, true
}
