package geometry

import (
	"math"

	"lorefs/internal/shown"
)

// DecodeAreaJSON reads the text of AreaJSON. White space and the order of keys are free,
// and the format may be left out. The nodes that edges and squares lead to must exist. dx
// and dy of edges are ignored. Every error is a [JSONError].
func DecodeAreaJSON(text []byte) (*Area, error) {
	d := areaDecoder{scanner: scanner{text: text}, zones: map[ZonePosition]bool{}}
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
		d.fail(int(d.highestAt), "an edge leads to node %d: there are %d", d.highest, nodes)
	}
	if d.squareAt > 0 && d.squareEnd > nodes {
		d.fail(int(d.squareAt), "a square has nodes up to %d: there are %d", d.squareEnd-1, nodes)
	}
	return d.failed
}

func (d *areaDecoder) nodes() {
	d.open('[')
	for i := 0; d.more(i, ']'); i++ {
		d.node()
	}
}

func (d *areaDecoder) node() {
	var position [3]float32
	d.edges = d.edges[:0]
	placed, linked := false, false
	d.open('{')
	for i := 0; d.more(i, '}'); i++ {
		d.peek()
		at := d.pos
		switch key := d.key(); {
		case d.failed != nil:
		case key == "at" && !placed:
			placed = true
			position = d.position()
		case key == "edges" && !linked:
			linked = true
			d.allEdges()
		default:
			d.fail(at, "unknown or repeated key %s", shown.Quote(key))
		}
	}
	if !placed || !linked {
		d.fail(d.pos-1, `the node ends: want "at" and "edges"`)
	}
	if d.failed == nil {
		if err := d.area.AddNode(position, d.edges...); err != nil {
			d.fail(d.pos, "%v", err)
		}
		d.checkSize()
	}
}

// checkSize fails if the area is larger than decoders accept.
func (d *areaDecoder) checkSize() {
	if d.area.rawSize() > MaxArea {
		d.fail(d.pos, "the area takes more than the %d bytes that one may have", MaxArea)
	}
}

func (d *areaDecoder) position() (p [3]float32) {
	d.open('[')
	p[0] = d.float("x")
	d.comma()
	p[1] = d.float("y")
	d.comma()
	p[2] = d.float("z")
	d.close()
	return p
}

func (d *areaDecoder) allEdges() {
	next := int64(0)
	d.open('[')
	for i := 0; d.more(i, ']'); i++ {
		if next == MaxEdges {
			d.fail(d.pos, "the edge with the last bit, %d, is not the last edge", MaxEdges-1)
			return
		}
		d.open('[')
		bit := d.integer("bit", next, MaxEdges-1)
		d.comma()
		d.peek()
		at := d.pos
		target := d.integer("target", 0, math.MaxUint32)
		if d.peek() == ',' {
			d.comma()
			d.number()
			d.comma()
			d.number()
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
	d.open('[')
	for i := 0; d.more(i, ']'); i++ {
		d.zone()
	}
}

func (d *areaDecoder) zone() {
	var position ZonePosition
	squares := new([ZoneSquares]NodeRange)
	placed, filled := false, false
	d.open('{')
	for i := 0; d.more(i, '}'); i++ {
		d.peek()
		at := d.pos
		switch key := d.key(); {
		case d.failed != nil:
		case key == "zone" && !placed:
			placed = true
			position = d.zonePosition()
		case key == "squares" && !filled:
			filled = true
			d.zoneSquares(squares)
		default:
			d.fail(at, "unknown or repeated key %s", shown.Quote(key))
		}
	}
	if !placed || !filled {
		d.fail(d.pos-1, `the zone ends: want "zone" and "squares"`)
	}
	if d.failed == nil {
		d.area.AddZone(position, squares)
		d.checkSize()
	}
}

func (d *areaDecoder) zonePosition() (p ZonePosition) {
	d.peek()
	at := d.pos
	d.open('[')
	p.X = uint32(d.integer("x", 0, math.MaxUint32))
	d.comma()
	p.Y = uint32(d.integer("y", 0, math.MaxUint32))
	d.close()
	if d.zones[p] {
		d.fail(at, "zone %v is there twice", p)
	}
	d.zones[p] = true
	return p
}

func (d *areaDecoder) zoneSquares(squares *[ZoneSquares]NodeRange) {
	d.open('[')
	n := 0
	for ; d.more(n, ']'); n++ {
		d.peek()
		at := d.pos
		if n == ZoneSquares {
			d.fail(at, "there are more than %d squares", ZoneSquares)
			return
		}
		d.open('[')
		first := d.integer("first node", 0, math.MaxUint32)
		d.comma()
		count := d.integer("number of nodes", 0, math.MaxUint8)
		d.close()
		if end := first + count; end > d.squareEnd {
			d.squareEnd, d.squareAt = end, int64(at)
		}
		squares[n] = NodeRange{uint32(first), uint8(count)}
	}
	if n < ZoneSquares {
		d.fail(d.pos-1, "there are %d squares: want %d", n, ZoneSquares)
	}
}
