package worldtree

import (
	"context"
	"sync/atomic"

	"lorefs/geometry"
	"lorefs/geometry/picture"
	"lorefs/nodes"
)

// view is one of the things that the tree shows of each source of a kind. The numbers are
// part of IDs, so they must never change.
type view uint8

const (
	zoneJSON view = iota
	zoneSquares
	zoneLowest
	zoneHighest
	zonePreview
	zoneFloors
	zoneStatistics
	areaJSON
	areaGeoJSON
	areaPaths
	areaStatistics
	viewCount
)

// form says how a view is made: as a text, which is made as it is read, or as a whole,
// which is kept in the cache. size returns its size if that is known without decoding; else it
// is nil.
type form struct {
	of      kind
	ext     string
	text    func(t *Tree, s *source, image []byte) (geometry.Text, error)
	content func(t *Tree, s *source, image []byte) ([]byte, error)
	size    func(t *Tree, s *source) int
}

var forms = [viewCount]form{
	zoneJSON: {of: zone, ext: ".json", text: ofZone(func(_ *Tree, _ *source, z *geometry.Zone) geometry.Text {
		return geometry.ZoneJSON(z)
	})},
	// The directory of a zone's squares, which are the parts of the text.
	zoneSquares: {of: zone, text: ofZone(func(t *Tree, s *source, z *geometry.Zone) geometry.Text {
		return geometry.SquaresJSON(z, s.at, t.opts.Origin(s.at))
	})},
	zoneFloors: {of: zone, ext: ".obj", text: ofZone(func(t *Tree, s *source, z *geometry.Zone) geometry.Text {
		return geometry.FloorsOBJ(z, s.at, t.opts.Origin(s.at))
	})},
	zoneLowest:  heightmap(".png", geometry.Lowest),
	zoneHighest: heightmap(".top.png", geometry.Highest),
	zonePreview: {
		of: zone, ext: ".preview.png",
		size: func(_ *Tree, s *source) int {
			return picture.PreviewSize(geometry.PictureSide, geometry.PictureSide, picture.ReliefNotes(s.at))
		},
		content: zoneContent(func(_ *Tree, s *source, z *geometry.Zone) []byte {
			return picture.PreviewPNG(picture.Relief(geometry.Heightmap(z, geometry.Lowest)), picture.ReliefNotes(s.at))
		}),
	},
	zoneStatistics: {of: zone, ext: ".json", content: zoneContent(func(_ *Tree, _ *source, z *geometry.Zone) []byte {
		return geometry.StatisticsOfZone(z).AppendJSON(nil)
	})},
	areaJSON:    {of: area, ext: ".json", text: ofArea(geometry.AreaJSON)},
	areaGeoJSON: {of: area, ext: ".geojson", text: ofArea(geometry.AreaGeoJSON)},
	areaPaths:   {of: area, ext: ".obj", text: ofArea(geometry.PathsOBJ)},
	areaStatistics: {of: area, ext: ".json", content: func(_ *Tree, _ *source, image []byte) ([]byte, error) {
		a, err := geometry.AreaOfImage(image)
		if err != nil {
			return nil, err
		}
		return geometry.StatisticsOfArea(a).AppendJSON(nil), nil
	}},
}

func ofZone(text func(*Tree, *source, *geometry.Zone) geometry.Text) func(*Tree, *source, []byte) (geometry.Text, error) {
	return func(t *Tree, s *source, image []byte) (geometry.Text, error) {
		z, err := geometry.ZoneOfImage(image)
		if err != nil {
			return nil, err
		}
		return text(t, s, z), nil
	}
}

func ofArea(text func(*geometry.Area) geometry.Text) func(*Tree, *source, []byte) (geometry.Text, error) {
	return func(_ *Tree, _ *source, image []byte) (geometry.Text, error) {
		a, err := geometry.AreaOfImage(image)
		if err != nil {
			return nil, err
		}
		return text(a), nil
	}
}

func zoneContent(render func(*Tree, *source, *geometry.Zone) []byte) func(*Tree, *source, []byte) ([]byte, error) {
	return func(t *Tree, s *source, image []byte) ([]byte, error) {
		z, err := geometry.ZoneOfImage(image)
		if err != nil {
			return nil, err
		}
		return render(t, s, z), nil
	}
}

// heightmap returns the form of heightmaps of one of the floors.
func heightmap(ext string, floor geometry.Floor) form {
	notes := func(t *Tree, s *source) picture.HeightmapNotes {
		return picture.HeightmapNotes{Zone: s.at, Origin: t.opts.Origin(s.at), Floor: floor}
	}
	return form{
		of: zone, ext: ext,
		size: func(t *Tree, s *source) int { return picture.HeightmapSize(notes(t, s)) },
		content: zoneContent(func(t *Tree, s *source, z *geometry.Zone) []byte {
			return picture.HeightmapPNG(geometry.Heightmap(z, floor), notes(t, s))
		}),
	}
}

func (v view) kindOf() nodes.Kind {
	if v == zoneSquares {
		return nodes.Dir
	}
	return nodes.File
}

// The blocks of a version in the cache: its decoded image, for each view the content or the
// offsets of the text, and its part of the picture of the world. An area's part are the places of
// its zones.
const (
	blockShift  = 8
	numberShift = 40
	imageBlock  = uint64(viewCount)
	tileBlock   = imageBlock + 1
)

// lastBlocks has the blocks that were used last: one image, one block of a view, and one picture of the
// world. Reading a file piece by piece needs them for each piece, and the cache may have no room
// for them.
type lastBlocks struct{ image, view, world atomic.Pointer[lastBlock] }

type lastBlock struct {
	number uint64
	data   []byte
}

// of returns where a block of a version is kept.
func (k *lastBlocks) of(n uint64) *atomic.Pointer[lastBlock] {
	if n == imageBlock {
		return &k.image
	}
	return &k.view
}

// block returns a block of a version. load is never canceled, because others may wait for
// it as well, and it is bounded.
func (t *Tree) block(ctx context.Context, s *version, n uint64, load func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.made.broken.Load(); err != nil {
		return nil, *err
	}
	ctx = context.WithoutCancel(ctx)
	number, last := s.made.number<<numberShift|uint64(s.index)<<blockShift|n, t.last.of(n)
	if b := last.Load(); b != nil && b.number == number {
		return b.data, nil
	}
	data, err := t.opts.Blocks.Block(ctx, number, func(ctx context.Context, _ uint64) ([]byte, error) { return load(ctx) })
	if err == nil {
		last.Store(&lastBlock{number, data})
	}
	return data, err
}

// image returns a decoded version.
func (t *Tree) image(ctx context.Context, s *version) ([]byte, error) {
	return t.block(ctx, s, imageBlock, func(context.Context) ([]byte, error) { return t.decode(s) })
}

// text returns the text of a view.
func (t *Tree) text(ctx context.Context, s *version, v view) (geometry.Text, error) {
	image, err := t.image(ctx, s)
	if err != nil {
		return nil, err
	}
	return forms[v].text(t, s.source, image)
}

// offsets returns the offsets of the parts of a view's text.
func (t *Tree) offsets(ctx context.Context, s *version, v view) (geometry.Offsets, error) {
	return t.block(ctx, s, uint64(v), func(ctx context.Context) ([]byte, error) {
		text, err := t.text(ctx, s, v)
		if err != nil {
			return nil, err
		}
		return geometry.OffsetsOf(ctx, text)
	})
}

// content returns the content of a view that is made as a whole.
func (t *Tree) content(ctx context.Context, s *version, v view) ([]byte, error) {
	return t.block(ctx, s, uint64(v), func(ctx context.Context) ([]byte, error) {
		image, err := t.image(ctx, s)
		if err != nil {
			return nil, err
		}
		return forms[v].content(t, s.source, image)
	})
}
