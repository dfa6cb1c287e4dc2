package picture

import (
	"fmt"
	"image"
	"math"
	"strconv"

	"lorefs/geometry"
)

// The keywords of notes. The first two are those that PNG's specification has; numbersKeyword is
// for programs, whose text is a JSON object.
const (
	titleKeyword       = "Title"
	descriptionKeyword = "Description"
	numbersKeyword     = "lorefs"
)

// HeightmapNotes are what a heightmap says about itself.
type HeightmapNotes struct {
	Zone, Origin geometry.ZonePosition
	Floor        geometry.Floor
}

func (h HeightmapNotes) file() *pngFile {
	return &pngFile{width: geometry.PictureSide, height: geometry.PictureSide, depth: 16, notes: h.notes()}
}

func (h HeightmapNotes) notes() []Note {
	left, top := h.Zone.Corner(h.Origin)
	return []Note{
		{titleKeyword, fmt.Sprintf("Heights of the %s floors of zone %v", h.Floor, h.Zone)},
		{descriptionKeyword, fmt.Sprintf("A pixel is a cell of %d x %d units of the game; %d units are a metre. "+
			"Columns are x and grow to the right. Rows are y and grow downwards. "+
			"The upper left corner lies at x %d, y %d of a world with its origin in zone %v. "+
			"The height z is the grey value - %d, in the same units. Grey 0 is a cell without a floor, and 1 is also z %d.",
			geometry.CellSize, geometry.CellSize, unitsPerMetre, left, top, h.Origin, -math.MinInt16, math.MinInt16)},
		{numbersKeyword, fmt.Sprintf(`{"zone":[%d,%d],"origin":[%d,%d],"floor":"%v","x":%d,"y":%d,"units_per_pixel":%d,`+
			`"units_per_metre":%d,"units_per_grey":1,"z_of_grey_0":%d,"grey_without_floor":0}`,
			h.Zone.X, h.Zone.Y, h.Origin.X, h.Origin.Y, h.Floor, left, top, geometry.CellSize, unitsPerMetre, math.MinInt16)},
	}
}

// unitsPerMetre is how many units of positions are a metre.
const unitsPerMetre = 25

// colours says what the colours of a picture for people mean.
func colours() string {
	return fmt.Sprintf("Colours tell the height, in every picture alike; contours are %d units of height apart. "+
		"The light comes from the upper left. Black is no floor, red is a zone that can't be read.", contourEvery)
}

// ReliefNotes returns what the preview of a zone says about itself.
func ReliefNotes(at geometry.ZonePosition) []Note {
	return []Note{
		{titleKeyword, fmt.Sprintf("The lowest floors of zone %v", at)},
		{descriptionKeyword, fmt.Sprintf("A pixel is a cell of %d x %d units of the game. ", geometry.CellSize, geometry.CellSize) + colours()},
	}
}

// Notes returns what a picture of the layout says about itself. Zones have their place in it.
func (m *Mosaic) Notes() []Note {
	places := []byte(`{"zones":{`)
	for i, at := range m.zones {
		if i > 0 {
			places = append(places, ',')
		}
		places = appendPlace(strconv.AppendQuote(places, at.String()), m.Tile(at))
	}
	return []Note{
		{titleKeyword, "All zones, seen from above"},
		{descriptionKeyword, "Zones lie side by side as in the world. Where no zone is in a column or a row, it is left out, but for a gap. " + colours()},
		{numbersKeyword, string(append(places, "}}"...))},
	}
}

// appendPlace appends a rectangle: x, y, width and height.
func appendPlace(dst []byte, r image.Rectangle) []byte {
	return fmt.Appendf(dst, ":[%d,%d,%d,%d]", r.Min.X, r.Min.Y, r.Dx(), r.Dy())
}
