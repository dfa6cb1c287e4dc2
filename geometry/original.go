package geometry

import (
	"encoding/binary"
	"math"
)

// Sizes in the original server's files.
const (
	idxSquareSize = 4 + SquareCells*2
	idxSize       = ZoneSquares * idxSquareSize
)

// ParseOriginalZone reads a zone of the original server: its .idx file, which has the
// number of volumes of each square (4 bytes) and of each cell (2 bytes each), and its .geo
// file, which has the volumes. Every error is a [FormatError].
func ParseOriginalZone(idx, geo []byte) (*Zone, error) {
	if len(idx) != idxSize {
		return nil, badf(".idx file", min(len(idx), idxSize), "it has %d bytes: want %d", len(idx), idxSize)
	}
	image := make([]byte, imageBase, imageBase+len(geo))
	z := newZone(image)
	total := int64(0)
	for square := range ZoneSquares {
		binary.LittleEndian.PutUint32(z.starts[4*square:], uint32(total))
		n, err := idxSquare(idx[square*idxSquareSize:][:idxSquareSize], square, z.counts[square*SquareCells:][:SquareCells])
		if err != nil {
			return nil, err
		}
		total += n
	}
	binary.LittleEndian.PutUint32(z.starts[4*ZoneSquares:], uint32(total))
	if int64(len(geo)) != total*volumeSize {
		return nil, badf(".geo file", int(min(int64(len(geo)), total*volumeSize)),
			"it has %d bytes: want %d for %d volumes", len(geo), total*volumeSize, total)
	}
	// Volumes have the same form in an image.
	return newZone(append(image, geo...)), nil
}

// idxSquare reads the counts of a square and returns their sum.
func idxSquare(b []byte, square int, counts []byte) (int64, error) {
	sum := int64(0)
	for cell := range counts {
		n := binary.LittleEndian.Uint16(b[4+2*cell:])
		if n > MaxVolumes {
			return 0, badf(".idx file", square*idxSquareSize+4+2*cell,
				"%s has %d volumes: want at most %d", cellName(square, cell), n, MaxVolumes)
		}
		counts[cell] = byte(n)
		sum += int64(n)
	}
	if stated := int32(binary.LittleEndian.Uint32(b)); int64(stated) != sum {
		return 0, badf(".idx file", square*idxSquareSize,
			"square %d,%d has %d volumes: its cells have %d", square/ZoneSide, square%ZoneSide, stated, sum)
	}
	return sum, nil
}

const (
	gdiHeader     = 20
	gdiZoneCounts = ZoneSquares * 2
	gdiZoneFirsts = ZoneSquares * 4
	nodSize       = positionSize + 2*MaxEdges*4
	// noNeighbour stands for no edge.
	noNeighbour = -1
)

// ParseOriginalArea reads the paths of an area of the original server: its
// pathdata_NAME.gdi file, which has a rectangle of zones and the nodes of each square, and
// its pathdata_NAME.nod file, which has the nodes. The distances of edges in the latter are
// dropped. Every error is a [FormatError].
func ParseOriginalArea(gdi, nod []byte) (*Area, error) {
	if len(nod)%nodSize != 0 {
		return nil, badf(".nod file", len(nod)/nodSize*nodSize, "it has %d bytes: want a multiple of %d", len(nod), nodSize)
	}
	grid, err := parseGDI(gdi)
	if err != nil {
		return nil, err
	}
	if nodes := len(nod) / nodSize; grid.nodes != int64(nodes) {
		return nil, badf(".gdi file", gdiHeader-4, "it has %d nodes: the .nod file has %d", grid.nodes, nodes)
	}
	var b AreaBuilder
	for at := 0; at < len(nod); at += nodSize {
		if err := addOriginalNode(&b, nod, at); err != nil {
			return nil, err
		}
	}
	if err := grid.addZones(&b); err != nil {
		return nil, err
	}
	return b.Area()
}

func addOriginalNode(b *AreaBuilder, nod []byte, at int) error {
	n := nod[at:][:nodSize]
	if axis := badAxis(n); axis >= 0 {
		return badPosition(".nod file", at+4*axis, at/nodSize, axis, float32At(n[4*axis:]))
	}
	edges := make([]Edge, 0, MaxEdges)
	for bit := range MaxEdges {
		target := int32(binary.LittleEndian.Uint32(n[positionSize+4*bit:]))
		switch {
		case target == noNeighbour:
		case target < 0 || int(target) >= len(nod)/nodSize:
			return badf(".nod file", at+positionSize+4*bit, "node %d: an edge leads to node %d: there are %d",
				at/nodSize, target, len(nod)/nodSize)
		default:
			edges = append(edges, Edge{uint8(bit), uint32(target)})
		}
	}
	return b.AddNode([3]float32{float32At(n), float32At(n[4:]), float32At(n[8:])}, edges...)
}

// gdiFile is a .gdi file whose size is checked.
type gdiFile struct {
	firstX, firstY, lastX, lastY int64
	nodes                        int64
	// counts and firsts have all squares of all zones.
	counts, firsts []byte
}

func parseGDI(gdi []byte) (gdiFile, error) {
	if len(gdi) < gdiHeader {
		return gdiFile{}, badf(".gdi file", len(gdi), "it ends in its header of %d bytes", gdiHeader)
	}
	field := func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(gdi[4*i:]))) }
	g := gdiFile{firstX: field(0), firstY: field(1), lastX: field(2), lastY: field(3), nodes: field(4)}
	if g.firstX < 0 || g.firstY < 0 || g.lastX < g.firstX || g.lastY < g.firstY {
		return g, badf(".gdi file", 0, "zones %d,%d to %d,%d are no rectangle", g.firstX, g.firstY, g.lastX, g.lastY)
	}
	const each = gdiZoneCounts + gdiZoneFirsts
	width, height := g.lastX-g.firstX+1, g.lastY-g.firstY+1
	have := int64(len(gdi)-gdiHeader) / each
	// A product of untrusted numbers may overflow; a quotient can't.
	if width > have || height > have || width*height != have || (len(gdi)-gdiHeader)%each != 0 {
		return g, badf(".gdi file", gdiHeader, "%d bytes follow the header: want %d for each of %d by %d zones",
			len(gdi)-gdiHeader, each, width, height)
	}
	g.counts, g.firsts = gdi[gdiHeader:][:have*gdiZoneCounts], gdi[gdiHeader+have*gdiZoneCounts:]
	return g, nil
}

func (g *gdiFile) addZones(b *AreaBuilder) error {
	zone := 0
	for x := g.firstX; x <= g.lastX; x++ {
		for y := g.firstY; y <= g.lastY; y++ {
			squares, err := g.zone(zone)
			if err != nil {
				return err
			}
			b.AddZone(ZonePosition{uint32(x), uint32(y)}, squares)
			zone++
		}
	}
	return nil
}

func (g *gdiFile) zone(zone int) (*[ZoneSquares]NodeRange, error) {
	squares := new([ZoneSquares]NodeRange)
	counts, firsts := g.counts[zone*gdiZoneCounts:], g.firsts[zone*gdiZoneFirsts:]
	for i := range squares {
		n := binary.LittleEndian.Uint16(counts[2*i:])
		first := int64(int32(binary.LittleEndian.Uint32(firsts[4*i:])))
		// If a square has no nodes, the number of its first means nothing.
		if n == 0 && (first < 0 || first > g.nodes) {
			first = 0
		}
		if n > math.MaxUint8 || first < 0 || first+int64(n) > g.nodes {
			return nil, badf(".gdi file", gdiHeader+zone*gdiZoneCounts+2*i,
				"square %d,%d of zone %d has %d nodes from %d on: want at most %d, and there are %d",
				i/ZoneSide, i%ZoneSide, zone, n, first, math.MaxUint8, g.nodes)
		}
		squares[i] = NodeRange{uint32(first), uint8(n)}
	}
	return squares, nil
}
