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

// Light in previews comes from the upper left, at 45 degrees.
const (
	lightX, lightY = -0.5, -0.5
	lightZ         = math.Sqrt2 / 2
	// ambient is the share of light that comes from everywhere, so that no slope is as
	// black as a cell without floor.
	ambient = 0.4
	// darkest and brightest are the greys of the lowest and the highest floor,
	// before shading.
	darkest, brightest = 60, 190
)

// Relief returns a preview for people: 960×960 pixels of 8-bit grey, brighter where the
// floor is higher on the zone's own scale, and shaded as if lit from the upper left. A cell
// without volumes is black.
func Relief(z *Zone, floor Floor) *image.Gray {
	heights := make([]float64, PictureSide*PictureSide)
	for i := range heights {
		heights[i] = math.NaN()
	}
	lowest, highest := math.Inf(1), math.Inf(-1)
	eachFloor(z, floor, func(x, y int, z int16) {
		h := float64(z)
		heights[y*PictureSide+x] = h
		lowest, highest = min(lowest, h), max(highest, h)
	})
	img := image.NewGray(image.Rect(0, 0, PictureSide, PictureSide))
	scale := (brightest - darkest) / max(highest-lowest, 1)
	for y := range PictureSide {
		for x := range PictureSide {
			if h := heights[y*PictureSide+x]; !math.IsNaN(h) {
				grey := (darkest + (h-lowest)*scale) * shade(heights, x, y)
				img.Pix[y*img.Stride+x] = uint8(min(max(grey, 1), math.MaxUint8))
			}
		}
	}
	return img
}

// shade returns how brightly the slope at a pixel is lit: 1 if it is flat.
func shade(heights []float64, x, y int) float64 {
	slopeX := slope(heights, y*PictureSide+x, x, 1)
	slopeY := slope(heights, y*PictureSide+x, y, PictureSide)
	// The normal of the slope is (-slopeX, -slopeY, 1).
	light := lightZ - slopeX*lightX - slopeY*lightY
	light = max(light, 0) / math.Sqrt(slopeX*slopeX+slopeY*slopeY+1) / lightZ
	return ambient + (1-ambient)*light
}

// slope returns how much the floor rises from the pixel before i to the one behind it. at
// is the coordinate of pixel i along that axis, step the distance of neighbours in heights.
func slope(heights []float64, i, at, step int) float64 {
	before, behind, run := heights[i], heights[i], 0.0
	if at > 0 && !math.IsNaN(heights[i-step]) {
		before = heights[i-step]
		run += CellSize
	}
	if at < PictureSide-1 && !math.IsNaN(heights[i+step]) {
		behind = heights[i+step]
		run += CellSize
	}
	if run == 0 {
		return 0
	}
	return (behind - before) / run
}
