package sample

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"lorefs/geometry"
)

// worldName is the folder of the made-up world geometry. The data center's AreaList names
// its zones and areas.
const worldName = "world"

// worldFiles makes some of the zones that the data center names, and the areas of its first
// two places; always the same bytes.
func worldFiles() ([]file, error) {
	var files []file
	for _, at := range []geometry.ZonePosition{{X: 1000, Y: 1000}, {X: 1000, Y: 1001}, {X: 1001, Y: 1000}} {
		z, err := landscape(at)
		if err != nil {
			return nil, err
		}
		f, err := packed(at.String()+".zgd", z.Encode)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for i, first := range []geometry.ZonePosition{{X: 1000, Y: 1000}, {X: 1000, Y: 1006}} {
		a, err := paths(first)
		if err != nil {
			return nil, err
		}
		f, err := packed(places[i].code()+".apd", a.Encode)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// quality is Brotli's quality: low, so that a sample is made fast.
const quality = 1

func packed(name string, encode func(context.Context, io.Writer, geometry.EncodeOptions) error) (file, error) {
	var out bytes.Buffer
	if err := encode(context.Background(), &out, geometry.EncodeOptions{Quality: quality}); err != nil {
		return file{}, fmt.Errorf("%s: %w", name, err)
	}
	return file{worldName + "/" + name, out.Bytes()}, nil
}

// zoneCells is how many cells lie along the side of a zone.
const zoneCells = geometry.ZoneSide * geometry.SquareSide

// landscape returns a zone with hills, lakes and bridges.
func landscape(at geometry.ZonePosition) (*geometry.Zone, error) {
	var b geometry.ZoneBuilder
	for square := range geometry.ZoneSquares {
		for cell := range geometry.SquareCells {
			x := square/geometry.ZoneSide*geometry.SquareSide + cell/geometry.SquareSide
			y := square%geometry.ZoneSide*geometry.SquareSide + cell%geometry.SquareSide
			if err := b.Add(ground(int(at.X)*zoneCells+x, int(at.Y)*zoneCells+y)...); err != nil {
				return nil, err
			}
		}
	}
	return b.Zone()
}

const (
	waterline = 250
	bridge    = 1900
)

// ground returns the volumes of a cell, counted over the whole world. It uses no floats,
// which not all machines calculate alike.
func ground(x, y int) []geometry.Volume {
	z := wave(x, 240)*4 + wave(y, 320)*2 + wave(x+y, 70)*3
	below := bridge - 50 - z
	switch {
	case y%480 < 4 && below > 0:
		return []geometry.Volume{{Z: int16(z), Height: uint16(below)}, {Z: bridge, Height: geometry.OpenSky}}
	case z < waterline:
		return nil
	}
	return []geometry.Volume{{Z: int16(z), Height: geometry.OpenSky}}
}

// wave goes from 0 to half and back.
func wave(v, half int) int {
	v %= 2 * half
	return min(v, 2*half-v)
}

const (
	// every is how many squares lie between two nodes of an area.
	every = 6
	// nodesAlong is how many nodes there are along the side of a zone.
	nodesAlong = geometry.ZoneSide / every
	// areaZones is how many zones there are along the side of an area.
	areaZones = 2
)

// steps are the ways to the nodes around one, by the edge's bit.
var steps = [geometry.MaxEdges][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}

// grid has the nodes of an area, by their place in the grid; -1 where there is no ground.
type grid [areaZones * nodesAlong][areaZones * nodesAlong]int

// paths returns an area of four zones, with a node in every sixth square that has ground,
// in the order of zones and squares as in official files.
func paths(first geometry.ZonePosition) (*geometry.Area, error) {
	var g grid
	count := 0
	for x, y := range inOrder {
		g[x][y] = -1
		if len(groundAt(first, x, y)) > 0 {
			g[x][y] = count
			count++
		}
	}
	var b geometry.AreaBuilder
	for x, y := range inOrder {
		if g[x][y] < 0 {
			continue
		}
		if err := b.AddNode(nodePosition(first, x, y), g.edges(x, y)...); err != nil {
			return nil, err
		}
	}
	for zone := range areaZones * areaZones {
		zx, zy := zone/areaZones, zone%areaZones
		squares := new([geometry.ZoneSquares]geometry.NodeRange)
		for i := range nodesAlong * nodesAlong {
			x, y := i/nodesAlong, i%nodesAlong
			if node := g[zx*nodesAlong+x][zy*nodesAlong+y]; node >= 0 {
				squares[geometry.SquareIndex(x*every, y*every)] = geometry.NodeRange{First: uint32(node), Count: 1}
			}
		}
		b.AddZone(geometry.ZonePosition{X: first.X + uint32(zx), Y: first.Y + uint32(zy)}, squares)
	}
	return b.Area()
}

// inOrder yields the places of a grid by zones, and in each by squares.
func inOrder(yield func(x, y int) bool) {
	for zone := range areaZones * areaZones {
		for i := range nodesAlong * nodesAlong {
			if !yield(zone/areaZones*nodesAlong+i/nodesAlong, zone%areaZones*nodesAlong+i%nodesAlong) {
				return
			}
		}
	}
}

// groundAt returns the ground of the first cell of a node's square.
func groundAt(first geometry.ZonePosition, x, y int) []geometry.Volume {
	const step = every * geometry.SquareSide
	return ground(int(first.X)*zoneCells+x*step, int(first.Y)*zoneCells+y*step)
}

// nodePosition returns the middle of that cell, on the lowest floor.
func nodePosition(first geometry.ZonePosition, x, y int) [3]float32 {
	const step, middle = every * geometry.SquareSize, geometry.CellSize / 2
	cornerX, cornerY := first.Corner(geometry.DefaultOrigin)
	return [3]float32{
		float32(cornerX + int64(x*step) + middle), float32(cornerY + int64(y*step) + middle),
		float32(groundAt(first, x, y)[0].Z),
	}
}

// edges returns the edges to the nodes around one.
func (g *grid) edges(x, y int) []geometry.Edge {
	var edges []geometry.Edge
	for bit, step := range steps {
		tx, ty := x+step[0], y+step[1]
		if tx >= 0 && ty >= 0 && tx < len(g) && ty < len(g) && g[tx][ty] >= 0 {
			edges = append(edges, geometry.Edge{Bit: uint8(bit), Target: uint32(g[tx][ty])})
		}
	}
	return edges
}
