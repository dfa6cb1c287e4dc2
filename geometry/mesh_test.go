package geometry_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

// mesh is an OBJ file as a program reads it.
type mesh struct {
	vertices [][3]float64
	// faces and lines have places in vertices.
	faces, lines [][]int
}

func parseOBJ(t *testing.T, text []byte) mesh {
	t.Helper()
	var m mesh
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch fields[0] {
		case "v":
			var v [3]float64
			if _, err := fmt.Sscan(strings.Join(fields[1:], " "), &v[0], &v[1], &v[2]); err != nil || len(fields) != 4 {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
			m.vertices = append(m.vertices, v)
		case "f":
			m.faces = append(m.faces, m.places(t, fields[1:]))
		case "l":
			m.lines = append(m.lines, m.places(t, fields[1:]))
		case "#", "o":
		default:
			t.Fatalf("unknown line %q", lines.Text())
		}
	}
	return m
}

// places reads the numbers of vertices, which count from 1, or back from -1.
func (m *mesh) places(t *testing.T, fields []string) []int {
	t.Helper()
	var all []int
	for _, f := range fields {
		var n int
		if _, err := fmt.Sscan(f, &n); err != nil {
			t.Fatal(err)
		}
		if n < 0 {
			n += len(m.vertices) + 1
		}
		if n < 1 || n > len(m.vertices) {
			t.Fatalf("vertex %d of %d", n, len(m.vertices))
		}
		all = append(all, n-1)
	}
	return all
}

// floorsOf spreads the faces of a mesh over the cells of a zone at corner x0, y0. It
// returns the number of faces at each x, y and z.
func floorsOf(t *testing.T, m mesh, x0, y0 float64) map[[3]int]int {
	t.Helper()
	cells := map[[3]int]int{}
	for _, f := range m.faces {
		a, b, c, d := m.vertices[f[0]], m.vertices[f[1]], m.vertices[f[2]], m.vertices[f[3]]
		if a[0] != d[0] || a[1] != b[1] || b[0] != c[0] || c[1] != d[1] || a[2] != c[2] || b[2] != d[2] || a[2] != b[2] {
			t.Fatalf("no rectangle: %v %v %v %v", a, b, c, d)
		}
		for x := (a[0] - x0) / 16; x < (c[0]-x0)/16; x++ {
			for y := (a[1] - y0) / 16; y < (c[1]-y0)/16; y++ {
				cells[[3]int{int(x), int(y), int(a[2])}]++
			}
		}
	}
	return cells
}

func TestFloorsOBJ(t *testing.T) {
	patches := func(x, y int) []geometry.Volume {
		switch {
		case x > 40 || y > 100:
			return nil
		case y%5 == 3:
			return []geometry.Volume{{Z: -7}, {Z: -7, Height: 1}, {Z: 9}} // two on one height
		case x%3 == 0:
			return []geometry.Volume{{Z: -7}, {Z: int16(y / 4)}}
		}
		return []geometry.Volume{{Z: int16(x + y%2)}}
	}
	z := parseZone(t, patches)
	at := geometry.ZonePosition{X: 999, Y: 1002}
	m := parseOBJ(t, checkText(t, geometry.FloorsOBJ(z, at, geometry.DefaultOrigin)))
	want := map[[3]int]int{}
	for x := range 960 {
		for y := range 960 {
			for _, v := range patches(x, y) {
				want[[3]int{x, y, int(v.Z)}]++
			}
		}
	}
	if got := floorsOf(t, m, -15360, 30720); !maps.Equal(got, want) {
		t.Errorf("%d floors, want %d", len(got), len(want))
	}
	if len(m.faces) >= z.Volumes() {
		t.Errorf("%d faces for %d volumes: want floors of one height joined", len(m.faces), z.Volumes())
	}
}

// TestFloorsOBJOfAnyZone compares meshes with the heights of zones of all kinds.
func TestFloorsOBJOfAnyZone(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	zones := maps.Clone(samples)
	// Heights in any order, equal ones in a cell, and many that are equal modulo a power of two.
	zones["crowded"] = func(x, y int) []geometry.Volume {
		h := uint32(x*7919+y*104729) * 2654435761
		volumes := make([]geometry.Volume, h>>29)
		for i := range volumes {
			h = h*1664525 + 1013904223
			volumes[i] = geometry.Volume{Z: int16(h>>31) + int16(h>>28)<<10, Height: uint16(h)}
		}
		return volumes
	}
	for name, all := range zones {
		cells := func(x, y int) []geometry.Volume {
			if x >= 100 || y >= 100 { // more would take seconds
				return nil
			}
			return all(x, y)
		}
		z := parseZone(t, cells)
		m := parseOBJ(t, checkText(t, geometry.FloorsOBJ(z, geometry.DefaultOrigin, geometry.DefaultOrigin)))
		got := floorsOf(t, m, 0, 0)
		for x := range 960 {
			for y := range 960 {
				for _, v := range cells(x, y) {
					got[[3]int{x, y, int(v.Z)}]--
				}
			}
		}
		for at, n := range got {
			if n != 0 {
				t.Fatalf("%s: %d faces too many at %v", name, n, at)
			}
		}
	}
}

// TestFloorsOBJShares counts the faces and the vertices of flat floors, and of floors that have
// corners in common.
func TestFloorsOBJShares(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cells           func(x, y int) []geometry.Volume
		faces, vertices int
	}{
		"a square":     {func(x, y int) []geometry.Volume { return flat(x < 8 && y < 8, 5) }, 1, 4},
		"two squares":  {func(x, y int) []geometry.Volume { return flat(x < 16 && y < 8, 5) }, 2, 8},
		"a column":     {func(x, y int) []geometry.Volume { return flat(x == 3 && y < 8, 5) }, 1, 4},
		"a row":        {func(x, y int) []geometry.Volume { return flat(x < 8 && y == 3, 5) }, 1, 4},
		"an L":         {func(x, y int) []geometry.Volume { return flat(x < 4 && y < 8 || x < 8 && y < 4, 5) }, 2, 7},
		"a diagonal":   {func(x, y int) []geometry.Volume { return flat(x < 8 && x == y, -1) }, 8, 25},
		"two heights":  {func(x, y int) []geometry.Volume { return flat(x < 8 && y < 8, 5+x/4) }, 2, 8},
		"two floors":   {func(x, y int) []geometry.Volume { return append(flat(x < 8 && y < 8, 5), flat(x < 8 && y < 8, 9)...) }, 2, 8},
		"one over one": {func(x, y int) []geometry.Volume { return append(flat(x < 8 && y < 8, 9), flat(x < 8 && y < 8, 9)...) }, 2, 4},
	} {
		z := parseZone(t, tt.cells)
		m := parseOBJ(t, checkText(t, geometry.FloorsOBJ(z, geometry.DefaultOrigin, geometry.DefaultOrigin)))
		if len(m.faces) != tt.faces || len(m.vertices) != tt.vertices {
			t.Errorf("%s: %d faces, %d vertices: want %d and %d", name, len(m.faces), len(m.vertices), tt.faces, tt.vertices)
		}
	}
}

// flat returns one floor, if it is there.
func flat(there bool, z int) []geometry.Volume {
	if !there {
		return nil
	}
	return []geometry.Volume{{Z: int16(z), Height: 9}}
}

// TestSizesAtTheEnds checks that sizes are exact at positions of all lengths.
func TestSizesAtTheEnds(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	z := parseZone(t, func(x, y int) []geometry.Volume {
		if x > 16 || y > 16 {
			return nil
		}
		return []geometry.Volume{{Z: math.MinInt16}, {Z: int16(-1 - x), Height: 10}, {Z: int16(x * y)}, {Z: math.MaxInt16, Height: math.MaxUint16}}
	})
	for _, at := range []geometry.ZonePosition{{}, {X: math.MaxUint32}, {Y: math.MaxUint32}, {X: 1000, Y: 999}} {
		for _, origin := range []geometry.ZonePosition{{}, {X: math.MaxUint32, Y: math.MaxUint32}, geometry.DefaultOrigin} {
			checkText(t, geometry.FloorsOBJ(z, at, origin))
		}
	}
	// These are long, so only those with the longest positions.
	end := geometry.ZonePosition{X: math.MaxUint32, Y: math.MaxUint32}
	checkText(t, geometry.SquaresJSON(z, end, geometry.ZonePosition{}))
	checkText(t, geometry.SquaresJSON(z, geometry.ZonePosition{}, end))
	area := geomtest.Area{}
	for _, v := range []float32{0, 9, 10, 99, 100, 999, 1000, 9999, 1e4, 12345, 99999, 1e5, 999999, 1e6, 9999999, 1e7, 1 << 24, 1<<24 - 1, 0.1, 1e-45, math.MaxFloat32, float32(math.Copysign(0, -1))} {
		area.Nodes = append(area.Nodes, geomtest.Node{Position: [3]float32{v, -v, v / 3}, Edges: []geometry.Edge{{Bit: 3, Target: 0}, {Bit: 7, Target: uint32(len(area.Nodes))}}})
	}
	a := parseArea(t, area)
	for _, text := range []geometry.Text{geometry.AreaJSON(a), geometry.AreaGeoJSON(a), geometry.PathsOBJ(a)} {
		checkText(t, text)
	}
}

func TestPathsOBJ(t *testing.T) {
	area := paths()
	m := parseOBJ(t, checkText(t, geometry.PathsOBJ(parseArea(t, area))))
	if len(m.vertices) != len(area.Nodes) {
		t.Fatalf("%d vertices, want %d", len(m.vertices), len(area.Nodes))
	}
	for i, n := range area.Nodes {
		for axis, v := range m.vertices[i] {
			if float32(v) != n.Position[axis] {
				t.Errorf("vertex %d is at %v, want %v", i, m.vertices[i], n.Position)
			}
		}
	}
	want := map[[2]int]bool{}
	for i, n := range area.Nodes {
		for _, e := range n.Edges {
			want[[2]int{min(i, int(e.Target)), max(i, int(e.Target))}] = true
		}
	}
	if len(m.lines) != len(want) {
		t.Errorf("%d lines, want %d", len(m.lines), len(want))
	}
	for _, l := range m.lines {
		if !want[[2]int{min(l[0], l[1]), max(l[0], l[1])}] {
			t.Errorf("a line from %d to %d", l[0], l[1])
		}
	}
}

func TestAreaGeoJSON(t *testing.T) {
	area := paths()
	for name, a := range map[string]geomtest.Area{"paths": area, "nothing": {}} {
		var doc struct {
			Type     string
			Features []struct {
				Type     string
				Geometry struct {
					Type        string
					Coordinates json.RawMessage
				}
				Properties struct {
					Node, From *int
					OneWay     bool `json:"one_way"`
				}
			}
		}
		if err := json.Unmarshal(checkText(t, geometry.AreaGeoJSON(parseArea(t, a))), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		points, lines, oneWay := 0, 0, 0
		for _, f := range doc.Features {
			switch f.Geometry.Type {
			case "Point":
				var at [3]float32
				if err := json.Unmarshal(f.Geometry.Coordinates, &at); err != nil || at != a.Nodes[*f.Properties.Node].Position {
					t.Errorf("node %d is at %v: %v", *f.Properties.Node, at, err)
				}
				points++
			case "MultiLineString":
				var all [][2][3]float32
				if err := json.Unmarshal(f.Geometry.Coordinates, &all); err != nil {
					t.Error(err)
				}
				for _, l := range all {
					if l[0] != a.Nodes[*f.Properties.From].Position {
						t.Errorf("a line of node %d begins at %v", *f.Properties.From, l[0])
					}
				}
				if f.Properties.OneWay {
					oneWay += len(all)
				} else {
					lines += len(all)
				}
			}
		}
		s := geometry.StatisticsOfArea(parseArea(t, a))
		if doc.Type != "FeatureCollection" || points != s.Nodes || oneWay != s.OneWay || 2*lines != s.Edges-s.OneWay {
			t.Errorf("%s: %d points, %d lines, %d of them one way: want %d nodes, %d edges, %d one way",
				name, points, lines, oneWay, s.Nodes, s.Edges, s.OneWay)
		}
	}
}

// TestStatisticsOfSharedNodes checks that squares with shared nodes take no longer than
// others.
func TestStatisticsOfSharedNodes(t *testing.T) {
	few, many := sharing(t, 1), sharing(t, 255)
	one, most := time.Hour, time.Hour
	var s geometry.AreaStatistics
	// Other programs disturb single runs.
	for i := 0; i < 3 || i < 50 && most > 10*one; i++ {
		began := time.Now()
		geometry.StatisticsOfArea(few)
		between := time.Now()
		s = geometry.StatisticsOfArea(many)
		one, most = min(one, between.Sub(began)), min(most, time.Since(between))
	}
	if most > 10*one {
		t.Errorf("squares of 255 nodes take %v, those of one %v", most, one)
	}
	if s.Unlisted != 290-257 || s.MaxSquare != 255 || s.EmptySquares != 0 {
		t.Errorf("got %+v", s)
	}
}

// sharing returns an area in which all squares but one, which has the last node, share
// nearly the same nodes.
func sharing(t *testing.T, count uint8) *geometry.Area {
	t.Helper()
	const zones = 40
	area := geomtest.Area{Nodes: make([]geomtest.Node, 300)}
	for i := range zones {
		z := geomtest.AreaZone{Position: geometry.ZonePosition{X: uint32(i)}, Squares: map[int]geometry.NodeRange{}}
		for square := range geometry.ZoneSquares {
			z.Squares[square] = geometry.NodeRange{First: uint32(square % 3), Count: count}
		}
		area.Zones = append(area.Zones, z)
	}
	area.Zones[zones-1].Squares[0] = geometry.NodeRange{First: 290, Count: 10}
	return parseArea(t, area)
}

func TestStatistics(t *testing.T) {
	z := parseZone(t, func(x, y int) []geometry.Volume {
		switch {
		case x == 0 && y == 0:
			return []geometry.Volume{{Z: -3, Height: 10}, {Z: 5, Height: 32767}} // overlapping
		case x == 0 && y == 1:
			return []geometry.Volume{{Z: 5, Height: 0}, {Z: 5, Height: 1}} // equal
		case x == 100:
			return []geometry.Volume{{Z: 7, Height: 5}}
		}
		return nil
	})
	want := `{
 "raw_bytes": 925456,
 "volumes": 964,
 "empty_cells": 920638,
 "max_volumes_per_cell": 2,
 "cells_by_volumes": [
  920638,
  960,
  2
 ],
 "min_z": -3,
 "max_z": 7,
 "open_sky": 1,
 "no_height": 1,
 "overlapping": 1,
 "descending": 1,
 "empty_squares": 14279
}
`
	if got := string(geometry.StatisticsOfZone(z).AppendJSON(nil)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	s := geometry.StatisticsOfArea(parseArea(t, paths()))
	// 12 by 12 nodes a zone, and one apart that leads to the first.
	edges := 2 * (2*(12*11*2) + 2*(11*11*2))
	if s.Nodes != 289 || s.Edges != edges+1 || s.OneWay != 1 || s.Zones != 2 || s.Parts != 2 || s.LargestPart != 145 ||
		s.EmptySquares != 2*(14400-144) || s.MaxSquare != 1 || s.Unlisted != 1 || s.NodesByEdges[8] != 200 || s.NodesByEdges[3] != 8 {
		t.Errorf("the area's are %+v, want %d edges", s, edges+1)
	}
	if s.Max[0] != 30720+11*1280+72 || s.Min[0] != 0.1 {
		t.Errorf("the area is from %v to %v", *s.Min, *s.Max)
	}
	if empty := geometry.StatisticsOfArea(parseArea(t, geomtest.Area{})); empty.Parts != 0 || empty.Min != nil {
		t.Errorf("those of nothing are %+v", empty)
	}
}
