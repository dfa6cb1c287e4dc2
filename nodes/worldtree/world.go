package worldtree

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"lorefs/geometry"
	"lorefs/geometry/picture"
	"lorefs/nodes"
	"lorefs/nodes/internal/svg"
)

// rootFile is a file in the root, made of all sources. The numbers are part of IDs, so they must
// never change.
type rootFile uint8

const (
	notRoot rootFile = iota
	// missingFile is made by Options.Missing.
	missingFile
	// worldPicture is the zones seen from above, and worldOutlines where areas lie.
	worldPicture
	worldOutlines
)

var rootNames = [...]string{missingFile: "missing.json", worldPicture: "world.png", worldOutlines: "world.svg"}

func (f rootFile) name() string { return rootNames[f] }

func (f rootFile) id() nodes.ID { return nodes.Root + folderCount + nodes.ID(f-missingFile) }

// drawn reports whether edits change the file.
func (f rootFile) drawn() bool { return f == worldPicture || f == worldOutlines }

// worldSide is the longest possible side of the pictures of the world.
const worldSide = 4096

// worldPictures describes the pictures of the world.
type worldPictures struct {
	// sizes of the files, by rootFile.
	sizes [len(rootNames)]int64
	// changes counts edits: a picture of another count may be out of date.
	changes atomic.Uint64
}

// layOut finds out how large the pictures of the world are. That depends only on which files there
// are.
func (t *Tree) layOut() {
	t.world.sizes[missingFile] = int64(len(t.missing))
	var zones []geometry.ZonePosition
	names := 0
	for _, s := range t.sources {
		if s.kind == zone {
			zones = append(zones, s.at)
		} else {
			names += len(s.name)
		}
	}
	areas := len(t.sources) - len(zones) + len(t.unfiled)
	for _, a := range t.unfiled {
		names += len(a.Name)
	}
	if len(zones) > 0 {
		t.mosaic = picture.NewMosaic(zones, worldSide)
		t.world.sizes[worldPicture] = int64(picture.PreviewSize(t.mosaic.All.Dx(), t.mosaic.All.Dy(), t.mosaic.Notes()))
	}
	const (
		// zoneSize is enough for a zone and for a part of world.png.
		zoneSize = 640
		// areaSize is enough for areas of any size that have a simple form.
		areaSize = 1024
		// escaped is how much longer a name may become, which is there twice.
		escaped = 2 * 6
	)
	t.world.sizes[worldOutlines] = svg.MinSize + int64(zoneSize*len(zones)+areaSize*areas+escaped*names)
}

// rootFiles returns the files in the root that there are.
func (t *Tree) rootFiles() (all []rootFile) {
	if t.mosaic != nil {
		all = append(all, worldPicture)
	}
	if len(t.sources) > 0 {
		all = append(all, worldOutlines)
	}
	if t.missing != "" {
		all = append(all, missingFile)
	}
	return all
}

func (t *Tree) rootSize(f rootFile) int64 { return t.world.sizes[f] }

// drawnAt returns when something was edited last that the pictures of the world show.
func (t *Tree) drawnAt() time.Time {
	last := t.opts.ModTime
	for _, s := range t.sources {
		if at := s.now().shown; at.After(last) {
			last = at
		}
	}
	return last
}

func (t *Tree) readRoot(ctx context.Context, f rootFile, p []byte, off int64) (int, error) {
	if f == missingFile {
		return nodes.ReadContent(t.missing, p, off)
	}
	data, err := t.worldBlock(ctx, f)
	if err != nil {
		return 0, err
	}
	return nodes.ReadContent(data, p, off)
}

// worldBlock returns a picture of the world. It is drawn once until something is edited.
func (t *Tree) worldBlock(ctx context.Context, f rootFile) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// An edit is counted after it shows, so this picture has all edits up to the count.
	number := t.world.changes.Load()<<numberShift | uint64(len(t.sources))<<blockShift | uint64(f)
	if b := t.last.world.Load(); b != nil && b.number == number {
		return b.data, nil
	}
	data, err := t.opts.Blocks.Block(ctx, number, func(ctx context.Context, _ uint64) ([]byte, error) {
		if f == worldPicture {
			return t.drawWorld(ctx)
		}
		return t.outlineWorld(ctx)
	})
	if err == nil {
		t.last.world.Store(&lastBlock{number, data})
	}
	return data, err
}

// drawWorld makes world.png.
func (t *Tree) drawWorld(ctx context.Context) ([]byte, error) {
	zones := t.sources[:len(t.byName[zone])]
	tiles := make([]*image.Paletted, len(zones))
	group, drawing := errgroup.WithContext(ctx)
	group.SetLimit(cap(t.decoding))
	for i, s := range zones {
		group.Go(func() (err error) {
			tiles[i], err = t.tile(drawing, s.now())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	world := t.mosaic.NewPicture()
	for i, s := range zones { // in their order, since tiny ones share pixels
		t.mosaic.Put(world, s.at, tiles[i])
	}
	return picture.PreviewPNG(world, t.mosaic.Notes()), nil
}

// tile returns a zone's part of world.png. A damaged zone has one as well, so that the others are
// seen.
func (t *Tree) tile(ctx context.Context, s *version) (*image.Paletted, error) {
	place := t.mosaic.Tile(s.at)
	pix, err := t.block(ctx, s, tileBlock, func(context.Context) ([]byte, error) {
		// All zones one after the other would drive everything else from the cache.
		decoded, err := t.decode(s)
		if err != nil {
			return nil, err
		}
		z, err := geometry.ZoneOfImage(decoded)
		if err != nil {
			return nil, err
		}
		return picture.Tile(geometry.Heightmap(z, geometry.Lowest), place.Dx(), place.Dy()).Pix, nil
	})
	switch {
	case isBad(err), errors.Is(err, nodes.ErrChanged):
		return picture.Unreadable(place.Dx(), place.Dy()), nil
	case err != nil:
		return nil, err
	}
	return &image.Paletted{Pix: pix, Stride: place.Dx(), Rect: image.Rect(0, 0, place.Dx(), place.Dy())}, nil
}

// outlineWorld makes world.svg.
func (t *Tree) outlineWorld(ctx context.Context) ([]byte, error) {
	in, err := t.zonesOfAreas(ctx)
	if err != nil {
		return nil, err
	}
	zones, areas := t.sources[:len(t.byName[zone])], t.sources[len(t.byName[zone]):]
	var all []geometry.ZonePosition
	for _, s := range zones {
		all = append(all, s.at)
	}
	for _, of := range in {
		all = append(all, of...)
	}
	for _, a := range t.unfiled {
		all = append(all, a.Zones...)
	}
	o := outlines{layout: picture.NewMosaic(all, worldSide), labels: map[image.Point]int{}}
	o.drawing = svg.New(int(t.world.sizes[worldOutlines]), float64(o.layout.All.Dx()), float64(o.layout.All.Dy()), "Zones and areas")
	o.drawing.Rect(rectOf(o.layout.All), svg.Style{Fill: ground})
	if t.mosaic != nil {
		o.terrain(t.mosaic, zones)
	}
	for _, s := range zones {
		o.zone(s)
	}
	var named []outlined
	for i, s := range areas {
		if len(in[i]) > 0 {
			named = append(named, outlined{s.name, s.name, in[i]})
		}
	}
	for _, a := range t.unfiled {
		named = append(named, outlined{a.Name, a.Name + " (no file)", a.Zones})
	}
	o.areas(named)
	return o.drawing.Bytes(), nil
}

// maxUnfiled is how many areas without a file are drawn. It is more than any known world has.
const maxUnfiled = 10_000

// withoutFile returns those areas that have zones but no file here, each zone once: the border
// between an area and itself would be none.
func (t *Tree) withoutFile(named []NamedArea) (all []NamedArea) {
	for _, a := range named {
		if t.byName[area][a.Name] != nil || len(a.Zones) == 0 || len(all) == maxUnfiled {
			continue
		}
		zones := slices.SortedFunc(slices.Values(a.Zones), func(p, q geometry.ZonePosition) int {
			return cmp.Or(cmp.Compare(p.Y, q.Y), cmp.Compare(p.X, q.X))
		})
		zones = slices.Compact(zones)
		all = append(all, NamedArea{Name: a.Name, Zones: zones[:min(len(zones), maxOutlined)]})
	}
	return all
}

// maxOutlined is how many zones of an area are drawn. It is more than any known area has.
const maxOutlined = 10_000

// zonesOfAreas returns the zones of each area. Damaged areas have none.
func (t *Tree) zonesOfAreas(ctx context.Context) ([][]geometry.ZonePosition, error) {
	areas := t.sources[len(t.byName[zone]):]
	in := make([][]geometry.ZonePosition, len(areas))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(t.decoding))
	for i, s := range areas {
		group.Go(func() error {
			now := s.now()
			places, err := t.block(ctx, now, tileBlock, func(context.Context) ([]byte, error) { return t.places(now) })
			if isBad(err) || errors.Is(err, nodes.ErrChanged) {
				return nil
			}
			for ; len(places) > 0; places = places[placeSize:] {
				in[i] = append(in[i], geometry.ZonePosition{
					X: binary.LittleEndian.Uint32(places), Y: binary.LittleEndian.Uint32(places[4:]),
				})
			}
			return err
		})
	}
	return in, group.Wait()
}

// placeSize is the size of the place of a zone: x and y, 4 bytes each.
const placeSize = 8

// places returns the places of the zones of an area.
func (t *Tree) places(s *version) (places []byte, err error) {
	decoded, err := t.decode(s)
	if err != nil {
		return nil, err
	}
	a, err := geometry.AreaOfImage(decoded)
	if err != nil {
		return nil, err
	}
	for i := range min(a.Zones(), maxOutlined) {
		at := a.Zone(i).Position()
		places = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(places, at.X), at.Y)
	}
	return places, nil
}

// outlines draws world.svg.
type outlines struct {
	drawing *svg.Drawing
	layout  *picture.Mosaic
	// labels counts the names at a place.
	labels map[image.Point]int
}

// terrain draws world.png below the zones. Its layout is another one if there are areas whose zones
// have no files: then its parts are moved apart as the zones are.
func (o *outlines) terrain(from *picture.Mosaic, zones []*source) {
	columns := o.bands(from, zones, func(at geometry.ZonePosition) uint32 { return at.X }, func(r image.Rectangle) int { return r.Min.X })
	rows := o.bands(from, zones, func(at geometry.ZonePosition) uint32 { return at.Y }, func(r image.Rectangle) int { return r.Min.Y })
	type part struct{ from, to image.Rectangle }
	parts := map[[2]int]part{}
	for _, s := range zones {
		key := [2]int{rows[s.at.Y], columns[s.at.X]}
		p := parts[key]
		parts[key] = part{p.from.Union(from.Tile(s.at)), p.to.Union(o.layout.Tile(s.at))}
	}
	keys := slices.SortedFunc(maps.Keys(parts), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		o.drawing.Image(rectOf(parts[key].to), worldPicture.name(), from.All.Dx(), from.All.Dy(), rectOf(parts[key].from))
	}
}

// bands numbers the columns or rows of zones. Those of one number are as far from each other in the
// drawing as in world.png, by the scale of both.
func (o *outlines) bands(
	from *picture.Mosaic, zones []*source, of func(geometry.ZonePosition) uint32, edge func(image.Rectangle) int,
) map[uint32]int {
	sorted := slices.SortedFunc(slices.Values(zones), func(a, b *source) int { return cmp.Compare(of(a.at), of(b.at)) })
	numbers, band := map[uint32]int{}, 0
	for i, s := range sorted {
		if i > 0 {
			last := sorted[i-1].at
			scale := float64(o.layout.Tile(s.at).Dx()) / float64(from.Tile(s.at).Dx())
			here := float64(edge(o.layout.Tile(s.at)) - edge(o.layout.Tile(last)))
			there := float64(edge(from.Tile(s.at)) - edge(from.Tile(last)))
			// A gap is a quarter of a zone. Edges are whole pixels.
			if math.Abs(here-scale*there) > float64(o.layout.Tile(s.at).Dx())/8+2 {
				band++
			}
		}
		numbers[of(s.at)] = band
	}
	return numbers
}

func (o *outlines) zone(s *source) {
	r := rectOf(o.layout.Tile(s.at))
	o.drawing.Rect(r, svg.Style{Fill: "transparent", Stroke: "#b8c0b0", Width: r.Width / 200, Title: s.name})
	o.drawing.Label(r.X+0.06*r.Width, r.Y+0.12*r.Height, r.Height/16, svg.Start, "#c8ccd4", ground, s.name)
}

func rectOf(r image.Rectangle) svg.Rect {
	return svg.Rect{X: float64(r.Min.X), Y: float64(r.Min.Y), Width: float64(r.Dx()), Height: float64(r.Dy())}
}

// outlined is an area that is drawn: its name, what viewers show of it, and its zones.
type outlined struct {
	name, title string
	zones       []geometry.ZonePosition
}

// outlineWidths are the widths of outlines as parts of a zone, by turns and the widest first: of
// areas with the same border all can be seen.
var outlineWidths = [...]float64{1. / 20, 1. / 40, 1. / 100}

// areas draws the outlines of areas, and above them their names. Viewers that point at an outline
// show its title.
func (o *outlines) areas(all []outlined) {
	for turn, width := range outlineWidths {
		for i := turn; i < len(all); i += len(outlineWidths) {
			stroke := width * float64(o.layout.Tile(all[i].zones[0]).Dx())
			o.drawing.Path(o.border(all[i].zones), svg.Style{Stroke: colourOf(i, 55), Width: stroke, Title: all[i].title})
		}
	}
	for i := range all {
		o.label(&all[i], colourOf(i, 75))
	}
}

// label writes the name of an area in its middle, below those that are there already.
func (o *outlines) label(a *outlined, colour string) {
	var all image.Rectangle
	for _, at := range a.zones {
		all = all.Union(o.layout.Tile(at))
	}
	r := rectOf(all)
	// Letters are about 0.6 times as wide as they are high.
	fits := r.Width / (0.6 * float64(utf8.RuneCountInString(a.name)+1))
	size := min(fits, r.Height/5, max(float64(o.layout.All.Dx()), float64(o.layout.All.Dy()))/leastLetters)
	middle := image.Pt(all.Min.X+all.Dx()/2, all.Min.Y+all.Dy()/2)
	y := r.Y + r.Height/2 + float64(o.labels[middle])*1.2*size
	o.labels[middle]++
	o.drawing.Label(r.X+r.Width/2, y, size, svg.Middle, colour, ground, a.name)
}

// leastLetters is how many letters have room beside each other, however large an area is.
const leastLetters = 40

// colourOf returns the colour of the area with a number, of a lightness in percent. Those of numbers
// that are near are far apart: each is a golden angle further.
func colourOf(number, lightness int) string {
	return fmt.Sprintf("hsl(%d,80%%,%d%%)", int(float64(number)*137.508)%360, lightness)
}

// ground is the colour of world.png where there are no floors.
const ground = "#16181d"

// side is a side of a zone. at is the coordinate that both ends have.
type side struct {
	axis         axis
	at, from, to int
}

// axis is the axis that a side lies along.
type axis uint8

const (
	alongX axis = iota
	alongY
)

// border returns the lines between zones of an area and others.
func (o *outlines) border(zones []geometry.ZonePosition) string {
	sides := map[side]bool{}
	for _, at := range zones {
		r := o.layout.Tile(at)
		for _, s := range [...]side{
			{alongX, r.Min.Y, r.Min.X, r.Max.X},
			{alongX, r.Max.Y, r.Min.X, r.Max.X},
			{alongY, r.Min.X, r.Min.Y, r.Max.Y},
			{alongY, r.Max.X, r.Min.Y, r.Max.Y},
		} {
			if sides[s] { // two zones of the area share it
				delete(sides, s)
			} else {
				sides[s] = true
			}
		}
	}
	return joined(slices.SortedFunc(maps.Keys(sides), func(a, b side) int {
		return cmp.Or(cmp.Compare(a.axis, b.axis), cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from))
	}))
}

// joined spells sides that are sorted as the data of a path, and those behind each other as one.
func joined(sides []side) string {
	var b []byte
	for i := 0; i < len(sides); {
		s := sides[i]
		for i++; i < len(sides) && sides[i].axis == s.axis && sides[i].at == s.at && sides[i].from == s.to; i++ {
			s.to = sides[i].to
		}
		if s.axis == alongY {
			b = fmt.Appendf(b, "M%d %dV%d", s.at, s.from, s.to)
		} else {
			b = fmt.Appendf(b, "M%d %dH%d", s.from, s.at, s.to)
		}
	}
	return string(b)
}
