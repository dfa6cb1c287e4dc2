package geometry

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
)

// MaxEdges is how many edges a node may have, one for each bit of its directions.
const MaxEdges = 8

// Directions are the names that the documentation gives the bits of a node's
// directions. The only public sample has them the other way round: see the
// package's documentation.
var Directions = [MaxEdges]string{"WSW", "SSW", "SSE", "ESE", "ENE", "NNE", "NNW", "WNW"}

// Area is what an .apd file holds: a graph of nodes, and in which squares of
// which zones they are. It does not change, and is safe for parallel use.
//
// Its image is the decompressed file, and behind it
//
//	offset:4 ×(node_count+1)   where each node begins, and where the last ends
type Area struct {
	image []byte
	// raw and offsets are the parts of the image.
	raw, offsets []byte
	nodes, zones int
}

// Sizes and places in a decompressed area.
const (
	countSize    = 4
	positionSize = 12
	nodeSize     = positionSize + 1 // and its targets
	targetSize   = 4
	squareSize   = 5
	placeSize    = 8
	zoneSize     = placeSize + ZoneSquares*squareSize
	offsetSize   = 4
)

// AreaOfImage is the area whose image it is. It does not look at all of it: only
// what Image gave may be given back. The area keeps the image.
func AreaOfImage(image []byte) (*Area, error) {
	if len(image) < 2*countSize+offsetSize {
		return nil, errImage
	}
	nodes := int64(binary.LittleEndian.Uint32(image))
	rawSize := int64(len(image)) - offsetSize*(nodes+1)
	if rawSize < 2*countSize {
		return nil, errImage
	}
	a := &Area{image: image, raw: image[:rawSize], offsets: image[rawSize:], nodes: int(nodes)}
	end := a.offset(a.nodes)
	if end > len(a.raw)-countSize {
		return nil, errImage
	}
	a.zones = int(binary.LittleEndian.Uint32(a.raw[end:]))
	if int64(len(a.raw)-end-countSize) != int64(a.zones)*zoneSize {
		return nil, errImage
	}
	return a, nil
}

// Image returns the area as one slice, for a cache. Nobody may write to it.
func (a *Area) Image() []byte { return a.image }

// Raw returns the decompressed area. Nobody may write to it.
func (a *Area) Raw() []byte { return a.raw }

// Nodes counts the nodes, Zones the zones.
func (a *Area) Nodes() int { return a.nodes }

// Zones counts the zones.
func (a *Area) Zones() int { return a.zones }

// Edges counts the edges of all nodes.
func (a *Area) Edges() int {
	return (a.offset(a.nodes) - countSize - nodeSize*a.nodes) / targetSize
}

// offset returns where node i begins.
func (a *Area) offset(i int) int {
	return int(binary.LittleEndian.Uint32(a.offsets[offsetSize*i:]))
}

// Node is node i, from 0 on.
func (a *Area) Node(i int) Node { return Node{a.raw[a.offset(i):]} }

// Node is a place that units go by. It is a view of the area's memory.
type Node struct{ b []byte }

// Position returns where the node is in the world: x, y and z, all finite.
func (n Node) Position() [3]float32 {
	return [3]float32{float32At(n.b), float32At(n.b[4:]), float32At(n.b[8:])}
}

// badAxis returns the first axis of a position that is infinite or not a number; -1 if
// there is none.
func badAxis(b []byte) int {
	const exponent = 0x7f800000
	for axis := range 3 {
		if binary.LittleEndian.Uint32(b[4*axis:])&exponent == exponent {
			return axis
		}
	}
	return -1
}

func float32At(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// Directions has a bit for each edge.
func (n Node) Directions() uint8 { return n.b[positionSize] }

// Len returns how many edges lead away from the node.
func (n Node) Len() int { return bits.OnesCount8(n.Directions()) }

// target returns where edge k leads, in the order of the bits.
func (n Node) target(k int) uint32 {
	return binary.LittleEndian.Uint32(n.b[nodeSize+targetSize*k:])
}

// Edge is a way from one node to another.
type Edge struct {
	// Bit is the edge's direction, 0 to 7, different for each edge of a node.
	Bit uint8
	// Target is the place of the node where it ends.
	Target uint32
}

// Edges yields the edges that lead away from the node, in the order of their bits.
func (n Node) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		k := 0
		for rest := n.Directions(); rest != 0; rest &= rest - 1 {
			if !yield(Edge{uint8(bits.TrailingZeros8(rest)), n.target(k)}) {
				return
			}
			k++
		}
	}
}

// leadsTo reports whether an edge of the node ends at node i.
func (n Node) leadsTo(i uint32) bool {
	for k := range n.Len() {
		if n.target(k) == i {
			return true
		}
	}
	return false
}

// NodeRange is the run of nodes that are in a square.
type NodeRange struct {
	First uint32
	Count uint8
}

// AreaZone is a zone of an area. It is a view of the area's memory.
type AreaZone struct{ b []byte }

// Zone is zone i, from 0 on.
func (a *Area) Zone(i int) AreaZone {
	return AreaZone{a.raw[a.offset(a.nodes)+countSize+i*zoneSize:][:zoneSize]}
}

// Position returns where the zone is.
func (z AreaZone) Position() ZonePosition {
	return ZonePosition{binary.LittleEndian.Uint32(z.b), binary.LittleEndian.Uint32(z.b[4:])}
}

// Square returns the run of nodes in a square: see [SquareIndex].
func (z AreaZone) Square(square int) NodeRange {
	b := z.b[placeSize+square*squareSize:]
	return NodeRange{binary.LittleEndian.Uint32(b), b[4]}
}
