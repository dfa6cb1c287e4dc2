package picture

import (
	"image/color"
	"math"
	"sort"
)

// tint is the colour of floors from a height on, up to the next tint.
type tint struct {
	from    int
	r, g, b uint8
}

// tints are the colours of all heights. They are the same for every zone, so that neighbours
// match, and an edit of one zone changes no other's picture. Most official zones lie between
// -1000 and 3000; there a tint spans 10 metres.
var tints = [...]tint{
	{math.MinInt16, 58, 38, 92},
	{-16000, 55, 50, 111},
	{-8000, 53, 59, 125},
	{-4000, 54, 79, 142},
	{-2000, 56, 104, 160},
	{-1000, 77, 133, 168},
	{-750, 85, 145, 172},
	{-500, 94, 156, 175},
	{-250, 82, 148, 134},
	{0, 82, 147, 102},
	{250, 102, 161, 96},
	{500, 123, 175, 93},
	{750, 155, 188, 101},
	{1000, 186, 200, 110},
	{1250, 200, 196, 108},
	{1500, 207, 183, 102},
	{1750, 213, 171, 97},
	{2000, 202, 153, 89},
	{2250, 188, 134, 82},
	{2500, 174, 116, 74},
	{2750, 164, 107, 74},
	{3000, 143, 98, 83},
	{4000, 150, 140, 138},
	{6000, 196, 194, 196},
	{12000, 227, 226, 228},
}

// The colours of a palette: one for cells without a floor, one for zones that can't be read,
// and each tint in shades.
const (
	noFloorIndex = iota
	unreadableIndex
	firstTint

	shades = 10
	// flat is the shade of level ground.
	flat = 7
)

// palette has the colours of all pictures for people.
var palette = makePalette()

func makePalette() color.Palette {
	p := color.Palette{noFloorIndex: color.RGBA{20, 22, 28, 255}, unreadableIndex: color.RGBA{170, 20, 60, 255}}
	for _, t := range tints {
		for shade := range shades {
			// Shade 7 is the tint itself; 0 is so dark as that the tint can be told.
			light := 300 + 100*shade
			lit := func(v uint8) uint8 { return uint8(min(int(v)*light/(300+100*flat), math.MaxUint8)) }
			p = append(p, color.RGBA{lit(t.r), lit(t.g), lit(t.b), 255})
		}
	}
	return p
}

// indexOf returns the place in the palette of a height and a shade.
func indexOf(z, shade int) uint8 {
	above := sort.Search(len(tints), func(i int) bool { return tints[i].from > z })
	return uint8(firstTint + (above-1)*shades + shade)
}
