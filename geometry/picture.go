package geometry

import (
	"image"
	"image/color"
	"math"
)

// PictureSide is the side of a zone's pictures in pixels. Each pixel is a cell. x points
// right and y points down.
const PictureSide = ZoneSide * SquareSide

// Floor says which volume of a cell a picture shows.
type Floor uint8

const (
	// Lowest is the volume with the lowest z.
	Lowest Floor = iota
	// Highest is the volume with the highest z.
	Highest
)

// String returns the name of the floor in the notes of a picture.
func (f Floor) String() string {
	if f == Highest {
		return "highest"
	}
	return "lowest"
}

// GreyOf returns the grey of a floor in a heightmap: z+32768. A cell without volumes is
// black, 0; so the lowest possible floor, z = -32768, is 1.
func GreyOf(z int16) uint16 { return uint16(max(int(z)-math.MinInt16, 1)) }

// Heightmap returns a picture of 960×960 pixels of 16-bit grey: see [GreyOf].
func Heightmap(z *Zone, floor Floor) *image.Gray16 {
	img := image.NewGray16(image.Rect(0, 0, PictureSide, PictureSide))
	eachFloor(z, floor, func(x, y int, z int16) {
		img.SetGray16(x, y, color.Gray16{Y: GreyOf(z)})
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
