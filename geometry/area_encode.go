package geometry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Encode writes the area as an .apd file.
func (a *Area) Encode(ctx context.Context, w io.Writer, opts EncodeOptions) error {
	return compress(ctx, w, a.raw, opts)
}

// AreaBuilder makes an area of nodes, which are added first, and zones.
type AreaBuilder struct {
	nodes, zones int
	// nodeBytes and zoneBytes are the lists as in a file.
	nodeBytes, zoneBytes []byte
}

// Nodes returns the number of nodes so far.
func (b *AreaBuilder) Nodes() int { return b.nodes }

// rawSize returns the size of the decompressed area so far.
func (b *AreaBuilder) rawSize() int { return 2*countSize + len(b.nodeBytes) + len(b.zoneBytes) }

// AddNode adds a node. Its edges must be in the order of their bits, and may lead to nodes
// that are added later.
func (b *AreaBuilder) AddNode(position [3]float32, edges ...Edge) error {
	var directions uint8
	for _, e := range edges {
		if e.Bit >= MaxEdges || directions>>e.Bit != 0 {
			return fmt.Errorf("geometry: node %d: an edge has bit %d: want 0 to %d in ascending order", b.nodes, e.Bit, MaxEdges-1)
		}
		directions |= 1 << e.Bit
	}
	for _, v := range position {
		b.nodeBytes = binary.LittleEndian.AppendUint32(b.nodeBytes, math.Float32bits(v))
	}
	b.nodeBytes = append(b.nodeBytes, directions)
	for _, e := range edges {
		b.nodeBytes = binary.LittleEndian.AppendUint32(b.nodeBytes, e.Target)
	}
	b.nodes++
	return nil
}

// AddZone adds a zone with its squares.
func (b *AreaBuilder) AddZone(position ZonePosition, squares *[ZoneSquares]NodeRange) {
	b.zoneBytes = binary.LittleEndian.AppendUint32(b.zoneBytes, position.X)
	b.zoneBytes = binary.LittleEndian.AppendUint32(b.zoneBytes, position.Y)
	for _, r := range squares {
		b.zoneBytes = binary.LittleEndian.AppendUint32(b.zoneBytes, r.First)
		b.zoneBytes = append(b.zoneBytes, r.Count)
	}
	b.zones++
}

// Area returns the area of the nodes and zones, checked as by [ParseArea].
func (b *AreaBuilder) Area() (*Area, error) {
	if uint64(b.nodes) > math.MaxUint32 || uint64(b.zones) > math.MaxUint32 {
		return nil, fmt.Errorf("geometry: %d nodes and %d zones: %w", b.nodes, b.zones, ErrTooLarge)
	}
	raw := make([]byte, 0, b.rawSize()+offsetSize*(b.nodes+1))
	raw = binary.LittleEndian.AppendUint32(raw, uint32(b.nodes))
	raw = append(raw, b.nodeBytes...)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(b.zones))
	raw = append(raw, b.zoneBytes...)
	return parseArea(raw)
}
