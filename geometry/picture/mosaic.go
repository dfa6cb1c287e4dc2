package picture

import (
	"cmp"
	"image"
	"slices"

	"lorefs/geometry"
)

// Mosaic is where zones lie on a picture of the world. They lie side by side as they do in the
// world. Columns and rows without a zone are left out, but for a gap: official zones lie in groups
// a thousand zones apart.
type Mosaic struct {
	zones         []geometry.ZonePosition
	columns, rows map[uint32]int // where zones begin, in parts
	// All is the rectangle of the picture.
	All image.Rectangle
	// parts fit on the longest possible side of side pixels.
	parts, side int
}

const (
	// zoneParts is how many parts wide a zone is, and gapParts a gap.
	zoneParts = 4
	gapParts  = 1
)

// NewMosaic lays zones out on a picture of at most side×side pixels. No zone is larger than
// [geometry.PictureSide].
func NewMosaic(zones []geometry.ZonePosition, side int) *Mosaic {
	m := &Mosaic{zones: slices.Clone(zones)}
	slices.SortFunc(m.zones, func(a, b geometry.ZonePosition) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	m.zones = slices.Compact(m.zones)
	var width, height int
	m.columns, width = m.axis(func(at geometry.ZonePosition) uint32 { return at.X })
	m.rows, height = m.axis(func(at geometry.ZonePosition) uint32 { return at.Y })
	m.parts = max(width, height, 1)
	m.side = min(side, m.parts*geometry.PictureSide/zoneParts)
	m.All = image.Rect(0, 0, max(m.edge(width), 1), max(m.edge(height), 1))
	return m
}

// axis lays the zones out along one axis, and returns how long it is.
func (m *Mosaic) axis(of func(geometry.ZonePosition) uint32) (places map[uint32]int, length int) {
	list := make([]uint32, len(m.zones))
	for i, at := range m.zones {
		list[i] = of(at)
	}
	slices.Sort(list)
	places = map[uint32]int{}
	for i, v := range slices.Compact(list) {
		if i > 0 {
			length += zoneParts
			if _, adjacent := places[v-1]; !adjacent {
				length += gapParts
			}
		}
		places[v] = length
	}
	if len(places) > 0 {
		length += zoneParts
	}
	return places, length
}

// edge returns the pixel at which a part begins.
func (m *Mosaic) edge(part int) int { return part * m.side / m.parts }

// Tile returns the place of a zone, which has at least one pixel.
func (m *Mosaic) Tile(at geometry.ZonePosition) image.Rectangle {
	x, y := m.columns[at.X], m.rows[at.Y]
	r := image.Rect(m.edge(x), m.edge(y), m.edge(x+zoneParts), m.edge(y+zoneParts))
	r.Max.X, r.Max.Y = max(r.Max.X, r.Min.X+1), max(r.Max.Y, r.Min.Y+1)
	return r
}

// NewPicture returns a picture of the layout without floors.
func (m *Mosaic) NewPicture() *image.Paletted { return image.NewPaletted(m.All, palette) }

// Put copies the picture of a zone to a picture of the layout.
func (m *Mosaic) Put(dst *image.Paletted, at geometry.ZonePosition, tile *image.Paletted) {
	r := m.Tile(at).Intersect(dst.Rect)
	for y := range min(r.Dy(), tile.Rect.Dy()) {
		// image/draw would search the palette for each pixel, which both share.
		copy(dst.Pix[dst.PixOffset(r.Min.X, r.Min.Y+y):][:r.Dx()], tile.Pix[y*tile.Stride:][:tile.Rect.Dx()])
	}
}
