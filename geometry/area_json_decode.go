package geometry

import (
	"math"

	"lorefs/internal/shown"
)

// DecodeAreaJSON reads the text of AreaJSON. White space and the order of keys are free,
// and the format may be left out. The nodes that edges and squares lead to must exist. dx
// and dy of edges are ignored. Every error is a [JSONError].
func DecodeAreaJSON(text []byte) (*Area, error) {
	d := areaDecoder{scanner: newScanner(text), zones: map[ZonePosition]bool{}}
	err := d.document(areaFormat, []string{"nodes", "zones"}, func(key string) bool {
		switch key {
		case "nodes":
			d.nodes()
		case "zones":
			d.allZones()
		default:
			return false
		}
		return true
	})
	if err == nil {
		err = d.checkTargets()
	}
	if err != nil {
		return nil, err
	}
	return d.area.Area()
}

type areaDecoder struct {
	scanner
	area  AreaBuilder
	zones map[ZonePosition]bool
	// edges are those of the newest node.
	edges []Edge
	// The nodes that edges and squares lead to can be checked only when all are known, so
	// the highest ones are kept with their places in the text.
	highest, highestAt  int64
	squareEnd, squareAt int64
}

// checkTargets checks the highest targets of edges and squares.
func (d *areaDecoder) checkTargets() error {
	nodes := int64(d.area.Nodes())
	if d.highestAt > 0 && d.highest >= nodes {
		d.Fail(int(d.highestAt), "an edge leads to node %d: there are %d", d.highest, nodes)
	}
	if d.squareAt > 0 && d.squareEnd > nodes {
		d.Fail(int(d.squareAt), "a square has nodes up to %d: there are %d", d.squareEnd-1, nodes)
	}
	return d.err()
}

func (d *areaDecoder) nodes() {
	d.Open('[')
	for i := 0; d.More(i, ']'); i++ {
		d.node()
	}
}

func (d *areaDecoder) node() {
	var position [3]float32
	d.edges = d.edges[:0]
	placed, linked := false, false
	d.Open('{')
	for i := 0; d.More(i, '}'); i++ {
		at := d.Next()
		switch key := d.Key(); {
		case d.Failed():
		case key == "at" && !placed:
			placed = true
			position = d.position()
		case key == "edges" && !linked:
			linked = true
			d.allEdges()
		default:
			d.Fail(at, "unknown or repeated key %s", shown.Quote(key))
		}
	}
	if !placed || !linked {
		d.Fail(d.Pos()-1, `the node ends: want "at" and "edges"`)
	}
	if !d.Failed() {
		if err := d.area.AddNode(position, d.edges...); err != nil {
			d.Fail(d.Pos(), "%v", err)
		}
		d.checkSize()
	}
}

// checkSize fails if the area is larger than decoders accept.
func (d *areaDecoder) checkSize() {
	if d.area.rawSize() > MaxArea {
		d.Fail(d.Pos(), "the area takes more than the %d bytes that one may have", MaxArea)
	}
}

func (d *areaDecoder) position() (p [3]float32) {
	d.Open('[')
	p[0] = d.Float("x")
	d.comma()
	p[1] = d.Float("y")
	d.comma()
	p[2] = d.Float("z")
	d.close()
	return p
}

func (d *areaDecoder) allEdges() {
	next := int64(0)
	d.Open('[')
	for i := 0; d.More(i, ']'); i++ {
		if next == MaxEdges {
			d.Fail(d.Pos(), "the edge with the last bit, %d, is not the last edge", MaxEdges-1)
			return
		}
		d.Open('[')
		bit := d.Integer("bit", next, MaxEdges-1)
		d.comma()
		at := d.Next()
		target := d.Integer("target", 0, math.MaxUint32)
		if d.Peek() == ',' {
			d.comma()
			d.Number()
			d.comma()
			d.Number()
		}
		d.close()
		if target > d.highest || d.highestAt == 0 {
			d.highest, d.highestAt = target, int64(at)
		}
		d.edges = append(d.edges, Edge{uint8(bit), uint32(target)})
		next = bit + 1
	}
}

func (d *areaDecoder) allZones() {
	d.Open('[')
	for i := 0; d.More(i, ']'); i++ {
		d.zone()
	}
}

func (d *areaDecoder) zone() {
	var position ZonePosition
	squares := new([ZoneSquares]NodeRange)
	placed, filled := false, false
	d.Open('{')
	for i := 0; d.More(i, '}'); i++ {
		at := d.Next()
		switch key := d.Key(); {
		case d.Failed():
		case key == "zone" && !placed:
			placed = true
			position = d.zonePosition()
		case key == "squares" && !filled:
			filled = true
			d.zoneSquares(squares)
		default:
			d.Fail(at, "unknown or repeated key %s", shown.Quote(key))
		}
	}
	if !placed || !filled {
		d.Fail(d.Pos()-1, `the zone ends: want "zone" and "squares"`)
	}
	if !d.Failed() {
		d.area.AddZone(position, squares)
		d.checkSize()
	}
}

func (d *areaDecoder) zonePosition() (p ZonePosition) {
	at := d.Next()
	d.Open('[')
	p.X = uint32(d.Integer("x", 0, math.MaxUint32))
	d.comma()
	p.Y = uint32(d.Integer("y", 0, math.MaxUint32))
	d.close()
	if d.zones[p] {
		d.Fail(at, "zone %v is there twice", p)
	}
	d.zones[p] = true
	return p
}

func (d *areaDecoder) zoneSquares(squares *[ZoneSquares]NodeRange) {
	d.Open('[')
	n := 0
	for ; d.More(n, ']'); n++ {
		at := d.Next()
		if n == ZoneSquares {
			d.Fail(at, "there are more than %d squares", ZoneSquares)
			return
		}
		d.Open('[')
		first := d.Integer("first node", 0, math.MaxUint32)
		d.comma()
		count := d.Integer("number of nodes", 0, math.MaxUint8)
		d.close()
		if end := first + count; end > d.squareEnd {
			d.squareEnd, d.squareAt = end, int64(at)
		}
		squares[n] = NodeRange{uint32(first), uint8(count)}
	}
	if n < ZoneSquares {
		d.Fail(d.Pos()-1, "there are %d squares: want %d", n, ZoneSquares)
	}
}
