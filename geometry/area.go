package geometry

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
)

// MaxEdges is how many edges a node may have, one for each bit of its directions.
const MaxEdges = 8

// Directions are the documented names of the bits of a node's directions. The only public
// sample contradicts them: see the package's documentation.
var Directions = [MaxEdges]string{"WSW", "SSW", "SSE", "ESE", "ENE", "NNE", "NNW", "WNW"}

// Area is the content of an .apd file: a graph of nodes, and the squares and zones that
// they are in. It does not change, and is safe for parallel use.
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

// Sizes and offsets in a decompressed area.
const (
	countSize    = 4
	positionSize = 12
	nodeSize     = positionSize + 1 // without its targets
	targetSize   = 4
	squareSize   = 5
	placeSize    = 8
	zoneSize     = placeSize + ZoneSquares*squareSize
	offsetSize   = 4
)

// AreaOfImage returns the area with an image, which must come from Image, since it is not
// checked in full. The area keeps the image.
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

// Image returns the area as one slice, for a cache. It must not be changed.
func (a *Area) Image() []byte { return a.image }

// Raw returns the decompressed area. It must not be changed.
func (a *Area) Raw() []byte { return a.raw }

// Nodes returns the number of nodes.
func (a *Area) Nodes() int { return a.nodes }

// Zones returns the number of zones.
func (a *Area) Zones() int { return a.zones }

// Edges returns the number of edges of all nodes.
func (a *Area) Edges() int {
	return (a.offset(a.nodes) - countSize - nodeSize*a.nodes) / targetSize
}

// offset returns where node i begins.
func (a *Area) offset(i int) int {
	return int(binary.LittleEndian.Uint32(a.offsets[offsetSize*i:]))
}

// Node returns node i, from 0 on.
func (a *Area) Node(i int) Node { return Node{a.raw[a.offset(i):]} }

// Node is a place on the way of a unit. It is a view of the area's memory.
type Node struct{ b []byte }

// Position returns the node's place in the world: x, y and z, all finite.
func (n Node) Position() [3]float32 {
	return [3]float32{float32At(n.b), float32At(n.b[4:]), float32At(n.b[8:])}
}

// badAxis returns the first axis of a position that is infinite or not a number, or -1.
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

// Len returns the number of edges that lead away from the node.
func (n Node) Len() int { return bits.OnesCount8(n.Directions()) }

// Equal reports whether two nodes have the same position and edges.
func (n Node) Equal(other Node) bool {
	size, otherSize := nodeSize+targetSize*n.Len(), nodeSize+targetSize*other.Len()
	return bytes.Equal(n.b[:size], other.b[:otherSize])
}

// target returns the node that edge k leads to, in the order of the bits.
func (n Node) target(k int) uint32 {
	return binary.LittleEndian.Uint32(n.b[nodeSize+targetSize*k:])
}

// Edge is a way from one node to another.
type Edge struct {
	// Bit is the edge's direction, 0 to 7, different for each edge of a node.
	Bit uint8
	// Target is the number of the node where it ends.
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

// leadsBack is leadsTo for a node i that has an edge to this one. The way back mostly has the
// opposite direction, so that is looked at first.
func (n Node) leadsBack(direction uint8, i uint32) bool {
	opposite := uint8(1) << ((direction + MaxEdges/2) % MaxEdges)
	if n.Directions()&opposite != 0 && n.target(bits.OnesCount8(n.Directions()&(opposite-1))) == i {
		return true
	}
	return n.leadsTo(i)
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

// NodeRange is the range of nodes in a square.
type NodeRange struct {
	First uint32
	Count uint8
}

// AreaZone is a zone of an area. It is a view of the area's memory.
type AreaZone struct{ b []byte }

// Zone returns zone i, from 0 on.
func (a *Area) Zone(i int) AreaZone {
	return AreaZone{a.raw[a.offset(a.nodes)+countSize+i*zoneSize:][:zoneSize]}
}

// Position returns the zone's position.
func (z AreaZone) Position() ZonePosition {
	return ZonePosition{binary.LittleEndian.Uint32(z.b), binary.LittleEndian.Uint32(z.b[4:])}
}

// Square returns the nodes in a square: see [SquareIndex].
func (z AreaZone) Square(square int) NodeRange {
	b := z.b[placeSize+square*squareSize:]
	return NodeRange{binary.LittleEndian.Uint32(b), b[4]}
}
