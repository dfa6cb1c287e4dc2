package geometry

import (
	"encoding/binary"
	"image"
	"math"
)

// PictureSide is the side of a heightmap in pixels. Each pixel is a cell. x points right and
// y points down.
const PictureSide = ZoneSide * SquareSide

// Floor says which volume of a cell a heightmap shows.
type Floor uint8

const (
	// Lowest is the volume with the lowest z.
	Lowest Floor = iota
	// Highest is the volume with the highest z.
	Highest
)

// String returns lowest or highest.
func (f Floor) String() string {
	if f == Highest {
		return "highest"
	}
	return "lowest"
}

// greyOf is the inverse of [FloorOf], but that the lowest possible floor shares its grey with the
// one above it.
func greyOf(z int16) uint16 { return uint16(max(int(z)-math.MinInt16, 1)) }

// FloorOf returns which floor a grey of a [Heightmap] stands for: z = grey-32768. ok is false for
// black, a cell without volumes.
func FloorOf(grey uint16) (z int16, ok bool) { return int16(int(grey) + math.MinInt16), grey > 0 }

// Heightmap returns a picture of 960×960 pixels of 16-bit grey: see [FloorOf].
func Heightmap(z *Zone, floor Floor) *image.Gray16 {
	img := image.NewGray16(image.Rect(0, 0, PictureSide, PictureSide))
	eachFloor(z, floor, func(x, y int, z int16) {
		binary.BigEndian.PutUint16(img.Pix[img.PixOffset(x, y):], greyOf(z))
	})
	return img
}

// eachFloor calls f for each cell that has a floor, with its place in the zone.
func eachFloor(z *Zone, floor Floor, f func(x, y int, z int16)) {
	for square := range ZoneSquares {
		x, y := square/ZoneSide*SquareSide, square%ZoneSide*SquareSide
		for cell, volumes := range z.Square(square).Cells {
			if n := volumes.Len(); n > 0 {
				f(x+cell/SquareSide, y+cell%SquareSide, pick(volumes, floor))
			}
		}
	}
}

// pick returns one floor of a cell that has at least one.
func pick(volumes Volumes, floor Floor) int16 {
	z := volumes.At(0).Z
	for i := 1; i < volumes.Len(); i++ {
		if floor == Lowest {
			z = min(z, volumes.At(i).Z)
		} else {
			z = max(z, volumes.At(i).Z)
		}
	}
	return z
}
