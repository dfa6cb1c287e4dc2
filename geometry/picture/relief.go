package picture

import (
	"encoding/binary"
	"image"
	"math"

	"lorefs/geometry"
)

// Light in previews comes from the upper left, at 45 degrees.
const (
	lightX, lightY = -0.5, -0.5
	lightZ         = math.Sqrt2 / 2
	// ambient is the share of light that comes from everywhere, so that no slope is as
	// black as a cell without floor.
	ambient = 0.3
)

// contourEvery is the distance of contours in height, 10 metres, and contourShades by how many
// shades they are darker.
const (
	contourEvery  = 250
	contourShades = 3
	// contourSide is the side of the smallest picture of a zone with contours. In smaller
	// ones there would be little else.
	contourSide = geometry.PictureSide / 4
)

// relief is how the floors of a zone look from above, in width×height pixels.
type relief struct {
	width, height int
	// z are the heights, or noFloor. light is how brightly the slope there is lit: 1000 if it
	// is level.
	z, light []int32
}

const (
	noFloor    = math.MinInt32
	levelLight = 1000
)

// Relief returns a preview for people of a heightmap, as large as that. Its colours tell the
// height, from one table for all zones. It is shaded as if lit from the upper left, and has
// contours every 250 units of height.
func Relief(heights *image.Gray16) *image.Paletted {
	return Tile(heights, geometry.PictureSide, geometry.PictureSide)
}

// Tile returns a preview like that of [Relief] that is smaller.
func Tile(heights *image.Gray16, width, height int) *image.Paletted {
	r := reliefOf(heights).shrink(min(width, geometry.PictureSide), min(height, geometry.PictureSide))
	img := image.NewPaletted(image.Rect(0, 0, r.width, r.height), palette)
	contours := min(r.width, r.height) >= contourSide
	for y := range r.height {
		for x := range r.width {
			img.Pix[y*img.Stride+x] = r.index(x, y, contours)
		}
	}
	return img
}

// Unreadable returns a picture of a zone that can't be read.
func Unreadable(width, height int) *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	for i := range img.Pix {
		img.Pix[i] = unreadableIndex
	}
	return img
}

func reliefOf(heights *image.Gray16) *relief {
	const side = geometry.PictureSide
	r := newRelief(side, side)
	for i := range r.z {
		if z, ok := geometry.FloorOf(binary.BigEndian.Uint16(heights.Pix[2*i:])); ok {
			r.z[i] = int32(z)
		}
	}
	for y := range side {
		for x := range side {
			if i := y*side + x; r.z[i] != noFloor {
				r.light[i] = lightOf(r.slope(i, x, 1), r.slope(i, y, side))
			}
		}
	}
	return r
}

// newRelief returns a relief without floors.
func newRelief(width, height int) *relief {
	r := &relief{width: width, height: height, z: make([]int32, width*height), light: make([]int32, width*height)}
	for i := range r.z {
		r.z[i] = noFloor
	}
	return r
}

// slope returns how much the floor rises from the pixel before i to the one behind it. at
// is the coordinate of pixel i along that axis, step the distance of neighbours.
func (r *relief) slope(i, at, step int) float64 {
	before, behind, run := r.z[i], r.z[i], 0
	if at > 0 && r.z[i-step] != noFloor {
		before = r.z[i-step]
		run += geometry.CellSize
	}
	if at < geometry.PictureSide-1 && r.z[i+step] != noFloor {
		behind = r.z[i+step]
		run += geometry.CellSize
	}
	return float64(behind-before) / float64(max(run, 1))
}

// lightOf returns how brightly a slope is lit. Its products are converted one by one: otherwise
// some processors would not round them, and their pictures would differ.
func lightOf(slopeX, slopeY float64) int32 {
	// The normal of the slope is (-slopeX, -slopeY, 1).
	light := lightZ - float64(slopeX*lightX) - float64(slopeY*lightY)
	length := math.Sqrt(float64(slopeX*slopeX) + float64(slopeY*slopeY) + 1)
	light = max(light, 0) / length / lightZ
	return int32(levelLight * (ambient + float64((1-ambient)*light)))
}

// shrink returns the relief in fewer pixels, each the mean of those in its place. It has a floor
// if most of them have.
func (r *relief) shrink(width, height int) *relief {
	if width == r.width && height == r.height {
		return r
	}
	small := newRelief(width, height)
	for y := range height {
		for x := range width {
			small.z[y*width+x], small.light[y*width+x] = r.mean(image.Rect(
				x*r.width/width, y*r.height/height, (x+1)*r.width/width, (y+1)*r.height/height))
		}
	}
	return small
}

// mean returns the means of the floors in a rectangle.
func (r *relief) mean(in image.Rectangle) (z, light int32) {
	floors, sumZ, sumLight := 0, 0, 0
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for i := y*r.width + in.Min.X; i < y*r.width+in.Max.X; i++ {
			if r.z[i] != noFloor {
				floors++
				sumZ += int(r.z[i])
				sumLight += int(r.light[i])
			}
		}
	}
	if 2*floors < in.Dx()*in.Dy() || floors == 0 {
		return noFloor, 0
	}
	return int32(floorDiv(sumZ, floors)), int32(sumLight / floors)
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// index returns the colour of a pixel.
func (r *relief) index(x, y int, contours bool) uint8 {
	i := y*r.width + x
	if r.z[i] == noFloor {
		return noFloorIndex
	}
	// The shades are evenly spaced, with that of level ground at levelLight.
	shade := flat + (int(r.light[i])-levelLight)*flat/(levelLight*(1-ambient))
	if contours && r.onContour(i, x, y) {
		shade -= contourShades
	}
	return indexOf(int(r.z[i]), min(max(shade, 0), shades-1))
}

// onContour reports whether a pixel lies above a contour and one beside it below.
func (r *relief) onContour(i, x, y int) bool {
	level := floorDiv(int(r.z[i]), contourEvery)
	below := func(k int) bool { return r.z[k] != noFloor && floorDiv(int(r.z[k]), contourEvery) < level }
	return x > 0 && below(i-1) || x < r.width-1 && below(i+1) || y > 0 && below(i-r.width) || y < r.height-1 && below(i+r.width)
}
