package geometry

import (
	"encoding/json"
	"fmt"
	"math"
)

// OpenSky is the height of a volume with nothing above it. Some generated zones have a
// smaller one, such as 32,750.
const OpenSky = 32767

// ZoneStatistics are figures of a zone. Lengths are position units.
type ZoneStatistics struct {
	// RawBytes is the size of the decompressed zone.
	RawBytes int `json:"raw_bytes"`
	// Volumes counts all volumes, EmptyCells the cells without one, and MaxVolumes the
	// volumes of the fullest cell.
	Volumes    int `json:"volumes"`
	EmptyCells int `json:"empty_cells"`
	MaxVolumes int `json:"max_volumes_per_cell"`
	// CellsByVolumes[n] counts the cells of n volumes.
	CellsByVolumes []int `json:"cells_by_volumes"`
	// MinZ and MaxZ are the lowest and the highest floor; nil without volumes.
	MinZ *int `json:"min_z"`
	MaxZ *int `json:"max_z"`
	// OpenSky counts the volumes with nothing above them, NoHeight those without room.
	OpenSky  int `json:"open_sky"`
	NoHeight int `json:"no_height"`
	// Overlapping counts the volumes that reach above the floor of the next in their cell,
	// Descending those that are not below it.
	Overlapping int `json:"overlapping"`
	Descending  int `json:"descending"`
	// EmptySquares counts the squares whose cells are all empty.
	EmptySquares int `json:"empty_squares"`
}

// StatisticsOfZone computes the figures of a zone.
func StatisticsOfZone(z *Zone) ZoneStatistics {
	s := ZoneStatistics{RawBytes: z.RawSize(), Volumes: z.Volumes()}
	var byVolumes [MaxVolumes + 1]int
	for square := range ZoneSquares {
		sq := z.Square(square)
		if len(sq.volumes) == 0 {
			s.EmptySquares++
		}
		for _, volumes := range sq.Cells {
			byVolumes[volumes.Len()]++
			s.MaxVolumes = max(s.MaxVolumes, volumes.Len())
			s.addCell(volumes)
		}
	}
	s.EmptyCells = byVolumes[0]
	s.CellsByVolumes = byVolumes[:s.MaxVolumes+1]
	return s
}

func (s *ZoneStatistics) addCell(volumes Volumes) {
	for i := range volumes.Len() {
		v := volumes.At(i)
		z := int(v.Z)
		if s.MinZ == nil {
			s.MinZ, s.MaxZ = new(z), new(z)
		}
		*s.MinZ, *s.MaxZ = min(*s.MinZ, z), max(*s.MaxZ, z)
		switch v.Height {
		case OpenSky:
			s.OpenSky++
		case 0:
			s.NoHeight++
		}
		if i == volumes.Len()-1 {
			continue
		}
		switch next := int(volumes.At(i + 1).Z); {
		case next <= z:
			s.Descending++
		case next < z+int(v.Height):
			s.Overlapping++
		}
	}
}

// AreaStatistics are figures of an area. Lengths are position units.
type AreaStatistics struct {
	// RawBytes is the size of the decompressed area.
	RawBytes int `json:"raw_bytes"`
	Nodes    int `json:"nodes"`
	Edges    int `json:"edges"`
	Zones    int `json:"zones"`
	// OneWay counts the edges without an edge back.
	OneWay int `json:"one_way_edges"`
	// NodesByEdges[n] counts the nodes with n edges.
	NodesByEdges [MaxEdges + 1]int `json:"nodes_by_edges"`
	// EdgesByBit counts the edges of each direction.
	EdgesByBit [MaxEdges]int `json:"edges_by_bit"`
	// Min and Max are the corners of the box around all nodes; nil without nodes.
	Min *[3]float32 `json:"min"`
	Max *[3]float32 `json:"max"`
	// LongestEdge is the length of the longest edge.
	LongestEdge float64 `json:"longest_edge"`
	// Parts counts the parts of the graph without an edge between them, and LargestPart the
	// nodes of the largest.
	Parts       int `json:"parts"`
	LargestPart int `json:"nodes_of_largest_part"`
	// EmptySquares counts squares without nodes, MaxSquare the nodes of the fullest square,
	// Unlisted the nodes that are in no square.
	EmptySquares int `json:"empty_squares"`
	MaxSquare    int `json:"max_nodes_per_square"`
	Unlisted     int `json:"nodes_in_no_square"`
}

// StatisticsOfArea computes the figures of an area.
func StatisticsOfArea(a *Area) AreaStatistics {
	s := AreaStatistics{RawBytes: len(a.raw), Nodes: a.nodes, Edges: a.Edges(), Zones: a.zones}
	parts := newDisjoint(a.nodes)
	for i := range a.nodes {
		n := a.Node(i)
		s.addNode(n.Position(), n.Len())
		for e := range n.Edges() {
			s.addEdge(a, i, e)
			parts.join(uint32(i), e.Target)
		}
	}
	s.Parts, s.LargestPart = parts.count()
	s.addSquares(a)
	return s
}

func (s *AreaStatistics) addNode(at [3]float32, edges int) {
	s.NodesByEdges[edges]++
	if s.Min == nil {
		s.Min, s.Max = new(at), new(at)
	}
	for axis, v := range at {
		s.Min[axis], s.Max[axis] = min(s.Min[axis], v), max(s.Max[axis], v)
	}
}

func (s *AreaStatistics) addEdge(a *Area, from int, e Edge) {
	s.EdgesByBit[e.Bit]++
	to := a.Node(int(e.Target))
	if !to.leadsTo(uint32(from)) {
		s.OneWay++
	}
	p, q := a.Node(from).Position(), to.Position()
	dx, dy, dz := float64(q[0])-float64(p[0]), float64(q[1])-float64(p[1]), float64(q[2])-float64(p[2])
	s.LongestEdge = max(s.LongestEdge, math.Hypot(math.Hypot(dx, dy), dz))
}

func (s *AreaStatistics) addSquares(a *Area) {
	// begins[n] is how many more squares have node n than have node n-1. Counting each
	// square's nodes instead could take long, since all squares may have the same nodes.
	begins := make([]int32, a.nodes+1)
	for i := range a.zones {
		z := a.Zone(i)
		for square := range ZoneSquares {
			r := z.Square(square)
			if r.Count == 0 {
				s.EmptySquares++
			}
			s.MaxSquare = max(s.MaxSquare, int(r.Count))
			begins[r.First]++
			begins[r.First+uint32(r.Count)]--
		}
	}
	squares := int32(0)
	for _, more := range begins[:a.nodes] {
		if squares += more; squares == 0 {
			s.Unlisted++
		}
	}
}

// disjoint groups nodes into connected parts. Each node has another of its part above it,
// or itself.
type disjoint []uint32

func newDisjoint(n int) disjoint {
	d := make(disjoint, n)
	for i := range d {
		d[i] = uint32(i)
	}
	return d
}

// top returns the node that stands for the part of node i.
func (d disjoint) top(i uint32) uint32 {
	for d[i] != i {
		d[i] = d[d[i]] // halves the way for the next
		i = d[i]
	}
	return i
}

func (d disjoint) join(i, k uint32) {
	i, k = d.top(i), d.top(k)
	d[max(i, k)] = min(i, k)
}

// count counts the parts, and the nodes of the largest.
func (d disjoint) count() (parts, largest int) {
	sizes := make([]int, len(d))
	for i := range d {
		top := d.top(uint32(i))
		if sizes[top]++; sizes[top] == 1 {
			parts++
		}
		largest = max(largest, sizes[top])
	}
	return parts, largest
}

// AppendJSON appends the statistics as JSON.
func (s ZoneStatistics) AppendJSON(dst []byte) []byte { return appendIndented(dst, s) }

// AppendJSON appends the statistics as JSON.
func (s AreaStatistics) AppendJSON(dst []byte) []byte { return appendIndented(dst, s) }

func appendIndented(dst []byte, v any) []byte {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(fmt.Sprintf("geometry: BUG: %v", err))
	}
	return append(append(dst, text...), '\n')
}
