package geometry

import (
	"fmt"
	"sync"
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

// meshers keeps the memory of meshers.
var meshers = sync.Pool{New: func() any { return new(mesher) }}

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
	m := meshers.Get().(*mesher)
	defer meshers.Put(m)
	m.patches.join(of)
	m.put(s, t.x+square/ZoneSide*SquareSize, t.y+square%ZoneSide*SquareSize)
}

// mesher writes the mesh of a square.
type mesher struct {
	patches  patches
	vertices vertices
	// heights counts the patches of each height, in places that several heights have.
	heights [1 << heightBits]uint16
	// xs and ys have the beginning and the middle of a vertex's line for each place on an axis.
	xs, ys [SquareSide + 1][]byte
	// end has the end of a vertex's line if it is written, endSize its size.
	end     []byte
	endSize int
}

// heightBits makes places for more heights than most squares have, which can be cleared quickly.
const heightBits = 10

// newFace is the line of a face behind four vertices of its own.
const newFace = "f -4 -3 -2 -1\n"

// put writes the faces of all patches, each behind those of its corners that no other face
// had. x and y are the square's corner.
func (m *mesher) put(s *sink, x, y int) {
	for i := range m.xs {
		m.xs[i] = appendInt(append(m.xs[i][:0], "v "...), x+i*CellSize)
		m.ys[i] = appendInt(append(m.ys[i][:0], ' '), y+i*CellSize)
	}
	m.vertices.reset(4 * m.countHeights())
	for _, p := range m.patches.done {
		m.setEnd(s, p.z)
		if *m.height(p.z) == 1 {
			m.putAlone(s, p)
		} else {
			m.putPatch(s, p)
		}
	}
}

// height returns the place of a height.
func (m *mesher) height(z int16) *uint16 { return &m.heights[uint16(z)%(1<<heightBits)] }

// countHeights counts the patches of each height, and returns how many may not be alone with theirs.
// All others share no corner: most patches, for which there is no need to search for it.
func (m *mesher) countHeights() (together int) {
	clear(m.heights[:])
	for _, p := range m.patches.done {
		*m.height(p.z)++
	}
	for _, p := range m.patches.done {
		if *m.height(p.z) > 1 {
			together++
		}
	}
	return together
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

// putAlone writes a patch that shares no corner.
func (m *mesher) putAlone(s *sink, p patch) {
	m.vertices.count += 4
	if s.counts {
		// Each place on an axis is that of two corners.
		s.count += 2*(len(m.xs[p.x0])+len(m.xs[p.x1])+len(m.ys[p.y0])+len(m.ys[p.y1])) + 4*m.endSize + len(newFace)
		return
	}
	m.putVertex(s, p.x0, p.y0)
	m.putVertex(s, p.x1, p.y0)
	m.putVertex(s, p.x1, p.y1)
	m.putVertex(s, p.x0, p.y1)
	s.str(newFace)
}

// putPatch writes a patch that may share corners.
func (m *mesher) putPatch(s *sink, p patch) {
	before := m.vertices.count
	face := [4]int{
		m.putCorner(s, p.x0, p.y0, p.z), m.putCorner(s, p.x1, p.y0, p.z),
		m.putCorner(s, p.x1, p.y1, p.z), m.putCorner(s, p.x0, p.y1, p.z),
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

// vertices numbers the corners of faces, from 0 on, in a hash table.
type vertices struct {
	slots []vertexSlot
	shift uint8
	count int
}

// vertexSlot has 1 more than the number of a vertex, or 0 if it is free.
type vertexSlot struct{ key, number uint32 }

// reset makes room for most vertices.
func (v *vertices) reset(most int) {
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
