package geometry

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Volume is room to stand: a floor and the free height above it.
type Volume struct {
	// Z is the floor's world position.
	Z int16
	// Height is the distance to the ceiling; 32,767 is open sky.
	Height uint16
}

// volumeSize is the size of a volume, in a file and in an image.
const volumeSize = 4

func volumeAt(b []byte) Volume {
	v := binary.LittleEndian.Uint32(b)
	return Volume{int16(v), uint16(v >> 16)}
}

func putVolume(b []byte, v Volume) {
	binary.LittleEndian.PutUint32(b, uint32(uint16(v.Z))|uint32(v.Height)<<16)
}

// MaxVolumes is how many volumes a cell may have.
const MaxVolumes = 255

// Volumes are the volumes of a cell in the file's order, which is upwards in all known
// files. They are a view of the zone's memory.
type Volumes struct{ b []byte }

// Len returns the number of volumes.
func (v Volumes) Len() int { return len(v.b) / volumeSize }

// At returns volume i, from 0 on.
func (v Volumes) At(i int) Volume { return volumeAt(v.b[i*volumeSize:]) }

// Equal reports whether two cells have the same volumes.
func (v Volumes) Equal(other Volumes) bool { return bytes.Equal(v.b, other.b) }

// Zone is the content of a .zgd file. It does not change, and is safe for parallel use.
//
// Its image is
//
//	start:4 ×14,401   the volumes before each square, and in all
//	volume_count:1 ×921,600
//	volume:4 ×volumes (z, height, themselves and not differences)
type Zone struct {
	image []byte
	// starts, counts and volumes are the parts of the image.
	starts, counts, volumes []byte
}

const (
	startsSize = 4 * (ZoneSquares + 1)
	imageBase  = startsSize + ZoneCells
)

func newZone(image []byte) *Zone {
	return &Zone{image, image[:startsSize], image[startsSize:imageBase], image[imageBase:]}
}

var errImage = errors.New("geometry: not an image")

// ZoneOfImage returns the zone with an image, which must come from Image, since it is not
// checked in full. The zone keeps the image.
func ZoneOfImage(image []byte) (*Zone, error) {
	if len(image) < imageBase {
		return nil, errImage
	}
	z := newZone(image)
	if z.start(ZoneSquares) != len(z.volumes) {
		return nil, errImage
	}
	return z, nil
}

// Image returns the zone as one slice, for a cache. It must not be changed.
func (z *Zone) Image() []byte { return z.image }

// start returns the offset of a square's first volume, in bytes.
func (z *Zone) start(square int) int {
	return int(binary.LittleEndian.Uint32(z.starts[4*square:])) * volumeSize
}

// Volumes returns the number of volumes of all cells.
func (z *Zone) Volumes() int { return len(z.volumes) / volumeSize }

// Square returns a square by its number: see [SquareIndex].
func (z *Zone) Square(square int) Square {
	return Square{
		counts:  z.counts[square*SquareCells:][:SquareCells],
		volumes: z.volumes[z.start(square):z.start(square+1)],
	}
}

// Square is a view of the cells of one square.
type Square struct{ counts, volumes []byte }

// Equal reports whether two squares have the same volumes.
func (s Square) Equal(other Square) bool {
	return bytes.Equal(s.counts, other.counts) && bytes.Equal(s.volumes, other.volumes)
}

// Cell returns a cell by its number: see [CellIndex].
func (s Square) Cell(cell int) Volumes {
	before := 0
	for _, n := range s.counts[:cell] {
		before += int(n)
	}
	return Volumes{s.volumes[before*volumeSize:][:int(s.counts[cell])*volumeSize]}
}

// Cells yields the cells in their order.
func (s Square) Cells(yield func(cell int, volumes Volumes) bool) {
	rest := s.volumes
	for i, n := range s.counts {
		size := int(n) * volumeSize
		if !yield(i, Volumes{rest[:size]}) {
			return
		}
		rest = rest[size:]
	}
}

// Ascending reports whether the z of the volumes in every cell are strictly ascending.
func (z *Zone) Ascending() bool {
	for square := range ZoneSquares {
		for _, v := range z.Square(square).Cells {
			for i := 1; i < v.Len(); i++ {
				if v.At(i-1).Z >= v.At(i).Z {
					return false
				}
			}
		}
	}
	return true
}
