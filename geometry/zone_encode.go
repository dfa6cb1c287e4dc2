package geometry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// RawSize is the length of the decompressed zone.
func (z *Zone) RawSize() int { return ZoneCells + len(z.volumes) }

// AppendRaw appends the decompressed zone.
func (z *Zone) AppendRaw(dst []byte) []byte {
	var lastZ, lastHeight uint16
	rest := z.volumes
	for _, n := range z.counts {
		dst = append(dst, n)
		for range n {
			v := binary.LittleEndian.Uint32(rest)
			zz, height := uint16(v), uint16(v>>16)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(zz-lastZ)|uint32(height-lastHeight)<<16)
			lastZ, lastHeight = zz, height
			rest = rest[volumeSize:]
		}
	}
	return dst
}

// Encode writes the zone as a .zgd file.
func (z *Zone) Encode(ctx context.Context, w io.Writer, opts EncodeOptions) error {
	return compress(ctx, w, z.AppendRaw(make([]byte, 0, z.RawSize())), opts)
}

// ZoneBuilder makes a zone of cells that are added in the zone's order: all 64 of
// a square, then those of the next square.
type ZoneBuilder struct {
	counts  []byte
	volumes []byte
}

// Cells is how many cells there are so far.
func (b *ZoneBuilder) Cells() int { return len(b.counts) }

// Add adds a cell.
func (b *ZoneBuilder) Add(volumes ...Volume) error {
	if len(volumes) > MaxVolumes {
		return fmt.Errorf("geometry: cell %d has %d volumes: want at most %d", len(b.counts), len(volumes), MaxVolumes)
	}
	if len(b.counts) == ZoneCells {
		return fmt.Errorf("geometry: more than the %d cells of a zone", ZoneCells)
	}
	b.counts = append(b.counts, byte(len(volumes)))
	for _, v := range volumes {
		b.volumes = append(b.volumes, 0, 0, 0, 0)
		putVolume(b.volumes[len(b.volumes)-volumeSize:], v)
	}
	return nil
}

// Zone is the zone of the cells, of which there must be [ZoneCells].
func (b *ZoneBuilder) Zone() (*Zone, error) {
	if len(b.counts) != ZoneCells {
		return nil, fmt.Errorf("geometry: a zone of %d cells: want %d", len(b.counts), ZoneCells)
	}
	image := make([]byte, imageBase+len(b.volumes))
	z := newZone(image)
	copy(z.counts, b.counts)
	copy(z.volumes, b.volumes)
	total := uint32(0)
	for i, n := range b.counts {
		if i%SquareCells == 0 {
			binary.LittleEndian.PutUint32(z.starts[i/SquareCells*4:], total)
		}
		total += uint32(n)
	}
	binary.LittleEndian.PutUint32(z.starts[4*ZoneSquares:], total)
	return z, nil
}

// WithSquare is the zone with the cells of one square replaced; z itself stays as
// it is.
func (z *Zone) WithSquare(square int, cells [SquareCells][]Volume) (*Zone, error) {
	var b ZoneBuilder
	first := square * SquareCells
	b.counts = append(make([]byte, 0, ZoneCells), z.counts[:first]...)
	b.volumes = append(make([]byte, 0, len(z.volumes)), z.volumes[:z.start(square)]...)
	for _, volumes := range cells {
		if err := b.Add(volumes...); err != nil {
			return nil, err
		}
	}
	b.counts = append(b.counts, z.counts[first+SquareCells:]...)
	b.volumes = append(b.volumes, z.volumes[z.start(square+1):]...)
	return b.Zone()
}
