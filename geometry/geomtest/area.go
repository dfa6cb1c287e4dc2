package geomtest

import (
	"encoding/binary"
	"math"

	"lorefs/geometry"
)

// Area is an area as in its file.
type Area struct {
	Nodes []Node
	Zones []AreaZone
}

// Node is a node of an area.
type Node struct {
	Position [3]float32
	// Edges are in the order of their bits.
	Edges []geometry.Edge
}

// AreaZone is a zone of an area. Squares that it does not name have no nodes, and 0 as
// their first.
type AreaZone struct {
	Position geometry.ZonePosition
	Squares  map[int]geometry.NodeRange
}

// Raw returns the decompressed area.
func (a Area) Raw() []byte {
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(a.Nodes)))
	for _, n := range a.Nodes {
		raw = appendPosition(raw, n.Position)
		bits := len(raw)
		raw = append(raw, 0)
		for _, e := range n.Edges {
			raw[bits] |= 1 << e.Bit
			raw = binary.LittleEndian.AppendUint32(raw, e.Target)
		}
	}
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(a.Zones)))
	for _, z := range a.Zones {
		raw = binary.LittleEndian.AppendUint32(raw, z.Position.X)
		raw = binary.LittleEndian.AppendUint32(raw, z.Position.Y)
		for square := range 120 * 120 {
			raw = binary.LittleEndian.AppendUint32(raw, z.Squares[square].First)
			raw = append(raw, z.Squares[square].Count)
		}
	}
	return raw
}

func appendPosition(raw []byte, position [3]float32) []byte {
	for _, v := range position {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// File returns an .apd file.
func (a Area) File() []byte { return Compress(a.Raw()) }

// Original returns the area as the original server's .gdi and .nod files. Its zones must be
// a rectangle in the order of x.
func (a Area) Original() (gdi, nod []byte) {
	first, last := a.Zones[0].Position, a.Zones[len(a.Zones)-1].Position
	for _, v := range []uint32{first.X, first.Y, last.X, last.Y, uint32(len(a.Nodes))} {
		gdi = binary.LittleEndian.AppendUint32(gdi, v)
	}
	for _, z := range a.Zones {
		for square := range 120 * 120 {
			gdi = binary.LittleEndian.AppendUint16(gdi, uint16(z.Squares[square].Count))
		}
	}
	for _, z := range a.Zones {
		for square := range 120 * 120 {
			gdi = binary.LittleEndian.AppendUint32(gdi, z.Squares[square].First)
		}
	}
	for _, n := range a.Nodes {
		nod = appendPosition(nod, n.Position)
		targets := [8]uint32{}
		for i := range targets {
			targets[i] = math.MaxUint32
		}
		for _, e := range n.Edges {
			targets[e.Bit] = e.Target
		}
		for _, target := range targets {
			nod = binary.LittleEndian.AppendUint32(nod, target)
		}
		for _, target := range targets {
			distance := uint32(16)
			if target == math.MaxUint32 {
				distance = math.MaxInt32
			}
			nod = binary.LittleEndian.AppendUint32(nod, distance)
		}
	}
	return gdi, nod
}

// step is the number of squares between the nodes of Paths along an axis.
const step = 10

// octants[i][k] is the bit for a step of i-1 in x and k-1 in y. The entry for no step is
// unused.
var octants = [3][3]uint8{{4, 3, 2}, {5, 0, 1}, {6, 7, 0}}

// Paths returns an area with a node in the middle of every tenth square of each zone, in
// both axes, and edges to the nodes around it in the same zone. The last node's edges lead
// one way only.
func Paths(origin geometry.ZonePosition, zones ...geometry.ZonePosition) Area {
	const side = 120 / step
	var a Area
	for _, at := range zones {
		base := len(a.Nodes)
		z := AreaZone{Position: at, Squares: map[int]geometry.NodeRange{}}
		for i := range side * side {
			x, y := i/side, i%side
			z.Squares[x*step*120+y*step] = geometry.NodeRange{First: uint32(base + i), Count: 1}
			a.Nodes = append(a.Nodes, Node{
				Position: [3]float32{
					float32((int(at.X)-int(origin.X))*15360 + x*step*128 + 72),
					float32((int(at.Y)-int(origin.Y))*15360 + y*step*128 + 72),
					float32(x*25 - y*10),
				},
				Edges: around(base, x, y, side),
			})
		}
		a.Zones = append(a.Zones, z)
	}
	a.Nodes = append(a.Nodes, Node{
		Position: [3]float32{0.1, -1e-20, float32(math.Copysign(0, -1))},
		Edges:    []geometry.Edge{{Bit: 7, Target: 0}},
	})
	return a
}

// around returns the edges from x, y to its neighbours in a grid of nodes.
func around(base, x, y, side int) []geometry.Edge {
	var byBit [8]*geometry.Edge
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			tx, ty := x+dx, y+dy
			if (dx != 0 || dy != 0) && tx >= 0 && ty >= 0 && tx < side && ty < side {
				bit := octants[dx+1][dy+1]
				byBit[bit] = &geometry.Edge{Bit: bit, Target: uint32(base + tx*side + ty)}
			}
		}
	}
	var edges []geometry.Edge
	for _, e := range byBit {
		if e != nil {
			edges = append(edges, *e)
		}
	}
	return edges
}
