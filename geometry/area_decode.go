package geometry

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// DecodeArea reads an .apd file. It needs at most twice the memory that the file may
// decompress to.
//
// Errors are of type [FormatError], and match [ErrTooLarge] if that is the cause.
func DecodeArea(file []byte, opts DecodeOptions) (*Area, error) {
	guess := int64(len(file))*guessRatio + areaGuess
	raw, err := decompress(file, guess, opts.limit(MaxArea), "area", ".apd")
	if err != nil {
		return nil, err
	}
	return parseArea(raw)
}

// ParseArea reads a decompressed area, which it does not keep. Every error is a
// [FormatError]. Besides the lengths it checks that positions are finite, that edges and
// squares lead to existing nodes, and that no zone is there twice.
func ParseArea(raw []byte) (*Area, error) {
	return parseArea(slices.Clip(raw))
}

// parseArea is ParseArea, but may use the capacity of raw for the image, and then keeps
// raw.
func parseArea(raw []byte) (*Area, error) {
	if len(raw) < countSize {
		return nil, badf("area", len(raw), "the data ends in the number of nodes")
	}
	if int64(len(raw)) > maxImage {
		return nil, &FormatError{In: "area", What: fmt.Sprintf("%d bytes", len(raw)), Err: ErrTooLarge}
	}
	claimed := int64(binary.LittleEndian.Uint32(raw))
	if room := int64(len(raw)-countSize) / nodeSize; claimed > room {
		return nil, badf("area", 0, "it has %d nodes: the data has room for at most %d", claimed, room)
	}
	offsets := offsetSize * (int(claimed) + 1)
	image := slices.Grow(raw, offsets)[:len(raw)+offsets]
	p := areaParser{
		Area: &Area{image: image, raw: image[:len(raw)], offsets: image[len(raw):], nodes: int(claimed)},
		off:  countSize,
	}
	for i := range p.nodes {
		if err := p.node(i); err != nil {
			return nil, err
		}
	}
	binary.LittleEndian.PutUint32(p.offsets[offsetSize*p.nodes:], uint32(p.off))
	if err := p.allZones(); err != nil {
		return nil, err
	}
	return p.Area, nil
}

// areaParser checks an area and computes the offsets of its nodes.
type areaParser struct {
	*Area
	// off is how far raw is checked.
	off int
}

func (p *areaParser) node(i int) error {
	b := p.raw[p.off:]
	if len(b) < nodeSize {
		return badf("area", p.off, "node %d of %d: %d bytes are left, want at least %d", i, p.nodes, len(b), nodeSize)
	}
	size := nodeSize + targetSize*bits.OnesCount8(b[positionSize])
	if len(b) < size {
		return badf("area", p.off, "node %d of %d: %d bytes are left, want %d for its edges", i, p.nodes, len(b), size)
	}
	if axis := badAxis(b); axis >= 0 {
		return badPosition("area", p.off+4*axis, i, axis, float32At(b[4*axis:]))
	}
	for at := nodeSize; at < size; at += targetSize {
		if target := binary.LittleEndian.Uint32(b[at:]); int64(target) >= int64(p.nodes) {
			return badf("area", p.off+at, "node %d: an edge leads to node %d: there are %d", i, target, p.nodes)
		}
	}
	binary.LittleEndian.PutUint32(p.offsets[offsetSize*i:], uint32(p.off))
	p.off += size
	return nil
}

func badPosition(in string, off, node, axis int, v float32) error {
	return badf(in, off, "node %d: its %c is %v: want a finite number", node, "xyz"[axis], v)
}

func (p *areaParser) allZones() error {
	b := p.raw[p.off:]
	if len(b) < countSize {
		return badf("area", p.off, "the data ends in the number of zones")
	}
	count := int64(binary.LittleEndian.Uint32(b))
	if have, want := int64(len(b)-countSize), count*zoneSize; have != want {
		return badf("area", p.off, "%d zones take %d bytes: %d follow", count, want, have)
	}
	p.zones = int(count)
	p.off += countSize
	seen := make(map[ZonePosition]int, p.zones)
	for i := range p.zones {
		z := p.Zone(i)
		if first, twice := seen[z.Position()]; twice {
			return badf("area", p.off, "zones %d and %d are both %v", first, i, z.Position())
		}
		seen[z.Position()] = i
		if err := p.squares(z); err != nil {
			return err
		}
		p.off += zoneSize
	}
	return nil
}

func (p *areaParser) squares(z AreaZone) error {
	for square := range ZoneSquares {
		r := z.Square(square)
		if int64(r.First)+int64(r.Count) > int64(p.nodes) {
			return badf("area", p.off+placeSize+square*squareSize, "square %d,%d of zone %v has nodes %d to %d: there are %d",
				square/ZoneSide, square%ZoneSide, z.Position(), r.First, int64(r.First)+int64(r.Count)-1, p.nodes)
		}
	}
	return nil
}
