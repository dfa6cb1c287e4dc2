package geometry

// line is an edge that a drawing needs. oneWay says that no edge leads back.
type line struct {
	target uint32
	oneWay bool
}

// lines returns the edges of node i that a drawing needs, in room: if two nodes lead to each
// other, only the edge of the first.
func (a *Area) lines(i int, room *[MaxEdges]line) []line {
	all := room[:0]
	for e := range a.Node(i).Edges() {
		back := a.leadsBack(i, e)
		if back && e.Target < uint32(i) {
			continue
		}
		all = append(all, line{e.Target, !back})
	}
	return all
}

// leadsBack reports whether an edge leads back to node i from where one of its edges ends.
func (a *Area) leadsBack(i int, e Edge) bool {
	return a.Node(int(e.Target)).leadsBack(e.Bit, uint32(i))
}

const pathHead = `# lorefs paths of an area
# v x y z: a node, in position units of the world, 25 are a metre; z is up
# l a b: an edge, where node 1 is the area's node 0; for two that lead to each other there is one line
o paths
`

// PathsOBJ returns the graph of an area in Wavefront's OBJ format: a vertex for each node,
// and a line for each edge.
func PathsOBJ(a *Area) Text { return pathsOBJ{a} }

// pathsOBJ has parts of nodes, then parts of edges, and one before them.
type pathsOBJ struct{ a *Area }

func (t pathsOBJ) Parts() int { return 1 + 2*t.a.nodeParts() }

func (t pathsOBJ) put(s *sink, i int) {
	parts := t.a.nodeParts()
	switch {
	case i == 0:
		s.str(pathHead)
	case i <= parts:
		t.putNodes(s, i-1)
	default:
		t.putLines(s, i-1-parts)
	}
}

func (t pathsOBJ) putNodes(s *sink, part int) {
	first, end := t.a.ofPart(part)
	for n := first; n < end; n++ {
		s.str("v")
		for _, v := range t.a.Node(n).Position() {
			s.str(" ")
			s.float32(v)
		}
		s.str("\n")
	}
}

func (t pathsOBJ) putLines(s *sink, part int) {
	first, end := t.a.ofPart(part)
	for n := first; n < end; n++ {
		size := len("l  \n") + digits(n+1) // without the other node
		for e := range t.a.Node(n).Edges() {
			if e.Target < uint32(n) && t.a.leadsBack(n, e) {
				continue // the line of the other edge
			}
			if s.counts {
				s.count += size + digits(int(e.Target)+1)
				continue
			}
			s.str("l ")
			s.int(n + 1)
			s.str(" ")
			s.int(int(e.Target) + 1)
			s.str("\n")
		}
	}
}

const (
	geoHead = `{"type":"FeatureCollection",
"about":"The graph of an area: a Point for each node, and behind each the lines of its edges: MultiLineStrings of those that lead both ways and of those that lead away only. Coordinates are x,y,z in position units of the world, 25 are a metre, not degrees.",
"features":[
`
	geoTail = "]}\n"
)

// AreaGeoJSON returns the graph of an area as GeoJSON, for map programs: a feature for each
// node, and up to two for its edges. Coordinates are position units.
func AreaGeoJSON(a *Area) Text { return areaGeoJSON{a} }

// areaGeoJSON has parts of nodes, and one before and one behind them.
type areaGeoJSON struct{ a *Area }

func (t areaGeoJSON) Parts() int { return 2 + t.a.nodeParts() }

func (t areaGeoJSON) put(s *sink, i int) {
	switch i {
	case 0:
		s.str(geoHead)
		return
	case 1 + t.a.nodeParts():
		s.str(geoTail)
		return
	}
	var room [MaxEdges]line
	var at sink // the text of the node's position, which all of its lines have
	first, end := t.a.ofPart(i - 1)
	for n := first; n < end; n++ {
		at.dst = at.dst[:0]
		at.position(t.a.Node(n).Position())
		t.putPoint(s, n, at.dst)
		lines := t.a.lines(n, &room)
		t.putLines(s, n, at.dst, lines, false)
		t.putLines(s, n, at.dst, lines, true)
		s.lineEnd(n == t.a.nodes-1)
	}
}

// putPoint writes the feature of node n, whose position has the text at.
func (t areaGeoJSON) putPoint(s *sink, n int, at []byte) {
	s.str(`{"type":"Feature","id":`)
	s.int(n)
	s.str(`,"geometry":{"type":"Point","coordinates":`)
	s.bytes(at)
	s.str(`},"properties":{"node":`)
	s.int(n)
	s.str(`}}`)
}

// putLines writes the feature of a node's lines of one kind, if it has any. at is as in putPoint.
func (t areaGeoJSON) putLines(s *sink, n int, at []byte, lines []line, oneWay bool) {
	some := false
	for _, l := range lines {
		if l.oneWay != oneWay {
			continue
		}
		if some {
			s.str(",")
		} else {
			s.str(",\n" + `{"type":"Feature","geometry":{"type":"MultiLineString","coordinates":[`)
		}
		some = true
		s.str("[")
		s.bytes(at)
		s.str(",")
		s.position(t.a.Node(int(l.target)).Position())
		s.str("]")
	}
	if !some {
		return
	}
	s.str(`]},"properties":{"from":`)
	s.int(n)
	if oneWay {
		s.str(`,"one_way":true`)
	}
	s.str(`}}`)
}
