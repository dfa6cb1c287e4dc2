package geometry

import "iter"

// lines yields the edges of node i that a drawing needs: if two nodes lead to each other,
// only the edge of the first. oneWay says that no edge leads back.
func (a *Area) lines(i int) iter.Seq2[uint32, bool] {
	return func(yield func(target uint32, oneWay bool) bool) {
		for e := range a.Node(i).Edges() {
			back := a.Node(int(e.Target)).leadsTo(uint32(i))
			if back && e.Target < uint32(i) {
				continue
			}
			if !yield(e.Target, !back) {
				return
			}
		}
	}
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

func (t pathsOBJ) AppendPart(dst []byte, i int) []byte {
	if i == 0 {
		return append(dst, pathHead...)
	}
	parts := t.a.nodeParts()
	if i > parts {
		return t.appendLines(dst, i-1-parts)
	}
	first, end := t.a.ofPart(i - 1)
	for n := first; n < end; n++ {
		dst = append(dst, 'v')
		for _, v := range t.a.Node(n).Position() {
			dst = append(dst, ' ')
			dst = appendFloat32(dst, v)
		}
		dst = append(dst, '\n')
	}
	return dst
}

func (t pathsOBJ) appendLines(dst []byte, part int) []byte {
	first, end := t.a.ofPart(part)
	for n := first; n < end; n++ {
		for target := range t.a.lines(n) {
			dst = append(dst, 'l', ' ')
			dst = appendInt(dst, n+1)
			dst = append(dst, ' ')
			dst = appendInt(dst, int(target)+1)
			dst = append(dst, '\n')
		}
	}
	return dst
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

func (t areaGeoJSON) AppendPart(dst []byte, i int) []byte {
	switch i {
	case 0:
		return append(dst, geoHead...)
	case 1 + t.a.nodeParts():
		return append(dst, geoTail...)
	}
	first, end := t.a.ofPart(i - 1)
	for n := first; n < end; n++ {
		dst = t.appendPoint(dst, n)
		dst = t.appendLines(dst, n, false)
		dst = t.appendLines(dst, n, true)
		dst = appendLineEnd(dst, n == t.a.nodes-1)
	}
	return dst
}

func (t areaGeoJSON) appendPoint(dst []byte, n int) []byte {
	dst = append(dst, `{"type":"Feature","id":`...)
	dst = appendInt(dst, n)
	dst = append(dst, `,"geometry":{"type":"Point","coordinates":`...)
	dst = appendPosition(dst, t.a.Node(n).Position())
	dst = append(dst, `},"properties":{"node":`...)
	dst = appendInt(dst, n)
	return append(dst, `}}`...)
}

// appendLines appends the feature of a node's lines of one kind, if it has any.
func (t areaGeoJSON) appendLines(dst []byte, n int, oneWay bool) []byte {
	from := t.a.Node(n).Position()
	some := false
	for target, one := range t.a.lines(n) {
		if one != oneWay {
			continue
		}
		if some {
			dst = append(dst, ',')
		} else {
			dst = append(dst, ",\n"+`{"type":"Feature","geometry":{"type":"MultiLineString","coordinates":[`...)
		}
		some = true
		dst = append(dst, '[')
		dst = appendPosition(dst, from)
		dst = append(dst, ',')
		dst = appendPosition(dst, t.a.Node(int(target)).Position())
		dst = append(dst, ']')
	}
	if !some {
		return dst
	}
	dst = append(dst, `]},"properties":{"from":`...)
	dst = appendInt(dst, n)
	if oneWay {
		dst = append(dst, `,"one_way":true`...)
	}
	return append(dst, `}}`...)
}
