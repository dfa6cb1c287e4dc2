package geometry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
)

// RawSize returns the length of the decompressed zone.
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

// ZoneBuilder makes a zone of cells, which are added in the zone's order: all 64 of a
// square, then those of the next square.
type ZoneBuilder struct {
	counts  []byte
	volumes []byte
}

// rawSize returns the size of the decompressed zone so far.
func (b *ZoneBuilder) rawSize() int { return len(b.counts) + len(b.volumes) }

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

// Zone returns the zone of the cells. There must be [ZoneCells] of them.
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

// WithSquares returns a copy of the zone with the cells of some squares replaced, by the
// squares' numbers.
func (z *Zone) WithSquares(squares map[int]*[SquareCells][]Volume) (*Zone, error) {
	b := ZoneBuilder{counts: make([]byte, 0, ZoneCells), volumes: make([]byte, 0, len(z.volumes))}
	next := 0
	for _, square := range slices.Sorted(maps.Keys(squares)) {
		if square < 0 || square >= ZoneSquares {
			return nil, fmt.Errorf("geometry: square %d: want 0 to %d", square, ZoneSquares-1)
		}
		b.copy(z, next, square)
		for _, volumes := range squares[square] {
			if err := b.Add(volumes...); err != nil {
				return nil, err
			}
		}
		next = square + 1
	}
	b.copy(z, next, ZoneSquares)
	return b.Zone()
}

// copy adds the squares of a zone from one number up to another.
func (b *ZoneBuilder) copy(z *Zone, from, to int) {
	b.counts = append(b.counts, z.counts[from*SquareCells:to*SquareCells]...)
	b.volumes = append(b.volumes, z.volumes[z.start(from):z.start(to)]...)
}
