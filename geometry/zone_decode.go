package geometry

import (
	"encoding/binary"
	"fmt"
)

// DecodeZone reads a .zgd file. It needs at most twice the memory that the file may
// decompress to.
//
// Errors are of type [FormatError], and match [ErrTooLarge] if that is the cause.
func DecodeZone(file []byte, opts DecodeOptions) (*Zone, error) {
	raw, err := decompress(file, zoneGuess, opts.limit(MaxZone), "zone", ".zgd")
	if err != nil {
		return nil, err
	}
	return ParseZone(raw)
}

// ParseZone reads a decompressed zone, which it does not keep. Every error is a
// [FormatError].
func ParseZone(raw []byte) (*Zone, error) {
	if len(raw) < ZoneCells {
		return nil, badf("zone", len(raw), "the data ends: want at least %d bytes, one for each cell", ZoneCells)
	}
	if int64(len(raw)) > maxImage {
		return nil, &FormatError{In: "zone", What: fmt.Sprintf("%d bytes", len(raw)), Err: ErrTooLarge}
	}
	// Each cell has a byte for its count; the rest must be volumes.
	image := make([]byte, imageBase+(len(raw)-ZoneCells)/volumeSize*volumeSize)
	p := zoneParser{Zone: newZone(image), raw: raw}
	for square := range ZoneSquares {
		binary.LittleEndian.PutUint32(p.starts[4*square:], uint32(p.filled/volumeSize))
		if err := p.square(square); err != nil {
			return nil, err
		}
	}
	if p.off < len(raw) {
		return nil, badf("zone", p.off, "%d bytes follow the last cell: want none", len(raw)-p.off)
	}
	binary.LittleEndian.PutUint32(p.starts[4*ZoneSquares:], uint32(p.filled/volumeSize))
	return p.Zone, nil
}

// zoneParser fills a zone.
type zoneParser struct {
	*Zone
	raw []byte
	// off is how far raw has been read, filled how far volumes have been written.
	off, filled int
	// z and height are those of the volume before.
	z, height uint16
}

func (p *zoneParser) square(square int) error {
	counts := p.counts[square*SquareCells:][:SquareCells]
	raw, off, z, height := p.raw, p.off, p.z, p.height
	for cell := range counts {
		n := raw[off]
		size := int(n) * volumeSize
		if size > len(p.volumes)-p.filled {
			return p.tooMany(off, square, cell)
		}
		counts[cell] = n
		off++
		out := p.volumes[p.filled:][:size]
		in := raw[off:][:size]
		for len(in) >= volumeSize && len(out) >= volumeSize {
			d := binary.LittleEndian.Uint32(in)
			z += uint16(d)
			height += uint16(d >> 16)
			binary.LittleEndian.PutUint32(out, uint32(z)|uint32(height)<<16)
			in, out = in[volumeSize:], out[volumeSize:]
		}
		p.filled += size
		off += size
	}
	p.off, p.z, p.height = off, z, height
	return nil
}

// tooMany returns the error for a cell whose volumes leave no room for the counts of the
// cells behind it.
func (p *zoneParser) tooMany(off, square, cell int) error {
	behind := ZoneCells - square*SquareCells - cell - 1
	return badf("zone", off, "%s has %d volumes: %d bytes are left for them and %d more cells",
		cellName(square, cell), p.raw[off], len(p.raw)-off-1, behind)
}

func cellName(square, cell int) string {
	return fmt.Sprintf("cell %d,%d of square %d,%d",
		cell/SquareSide, cell%SquareSide, square/ZoneSide, square%ZoneSide)
}
