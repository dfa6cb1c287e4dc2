package geometry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

// paths returns an area of two zones.
func paths() geomtest.Area {
	return geomtest.Paths(geometry.DefaultOrigin, geometry.ZonePosition{X: 1002, Y: 1006}, geometry.ZonePosition{X: 1002, Y: 1007})
}

func parseArea(t testing.TB, a geomtest.Area) *geometry.Area {
	t.Helper()
	parsed, err := geometry.ParseArea(a.Raw())
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// checkArea compares all nodes and squares.
func checkArea(t *testing.T, a *geometry.Area, want geomtest.Area) {
	t.Helper()
	edges := 0
	if a.Nodes() != len(want.Nodes) || a.Zones() != len(want.Zones) {
		t.Fatalf("%d nodes, %d zones: want %d, %d", a.Nodes(), a.Zones(), len(want.Nodes), len(want.Zones))
	}
	for i, n := range want.Nodes {
		got := a.Node(i)
		if got.Position() != n.Position || got.Len() != len(n.Edges) || !slices.Equal(slices.Collect(got.Edges()), n.Edges) {
			t.Errorf("node %d is at %v with %v, want %v", i, got.Position(), slices.Collect(got.Edges()), n)
		}
		edges += len(n.Edges)
	}
	if a.Edges() != edges {
		t.Errorf("%d edges, want %d", a.Edges(), edges)
	}
	for i, z := range want.Zones {
		if got := a.Zone(i).Position(); got != z.Position {
			t.Errorf("zone %d is %v, want %v", i, got, z.Position)
		}
		for square := range geometry.ZoneSquares {
			if got := a.Zone(i).Square(square); got != z.Squares[square] {
				t.Fatalf("square %d of zone %d is %v, want %v", square, i, got, z.Squares[square])
			}
		}
	}
}

func TestParseArea(t *testing.T) {
	for name, area := range map[string]geomtest.Area{
		"nothing":  {},
		"a zone":   {Zones: []geomtest.AreaZone{{Position: geometry.ZonePosition{X: 1, Y: 2}}}},
		"no zones": {Nodes: []geomtest.Node{{Position: [3]float32{1, 2, 3}, Edges: []geometry.Edge{{Bit: 7, Target: 0}}}}},
		"paths":    paths(),
	} {
		t.Run(name, func(t *testing.T) {
			a := parseArea(t, area)
			checkArea(t, a, area)
			if !bytes.Equal(a.Raw(), area.Raw()) {
				t.Error("Raw gives other bytes")
			}
			again, err := geometry.AreaOfImage(a.Image())
			if err != nil {
				t.Fatal(err)
			}
			checkArea(t, again, area)
			var file bytes.Buffer
			if err := a.Encode(t.Context(), &file, geometry.EncodeOptions{Quality: 3}); err != nil {
				t.Fatal(err)
			}
			decoded, err := geometry.DecodeArea(file.Bytes(), geometry.DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkArea(t, decoded, area)
		})
	}
}

func TestAreaOfImageRefuses(t *testing.T) {
	image := parseArea(t, paths()).Image()
	for _, n := range []int{0, 11, 12, len(image) / 2} {
		if _, err := geometry.AreaOfImage(image[:n]); err == nil {
			t.Errorf("%d bytes of %d are an image", n, len(image))
		}
	}
}

func TestBrokenAreas(t *testing.T) {
	for _, b := range geomtest.BrokenAreas() {
		t.Run(b.Name, func(t *testing.T) {
			a, err := geometry.DecodeArea(b.File, geometry.DecodeOptions{})
			checkBroken(t, b, a == nil, err)
		})
	}
}

func TestAreaBuilder(t *testing.T) {
	area := paths()
	var b geometry.AreaBuilder
	for _, n := range area.Nodes {
		if err := b.AddNode(n.Position, n.Edges...); err != nil {
			t.Fatal(err)
		}
	}
	for _, z := range area.Zones {
		var squares [geometry.ZoneSquares]geometry.NodeRange
		for i, r := range z.Squares {
			squares[i] = r
		}
		b.AddZone(z.Position, &squares)
	}
	a, err := b.Area()
	if err != nil {
		t.Fatal(err)
	}
	checkArea(t, a, area)
}

func TestAreaBuilderRefuses(t *testing.T) {
	for name, edges := range map[string][]geometry.Edge{
		"bit 8":       {{Bit: 8}},
		"a bit twice": {{Bit: 3}, {Bit: 3}},
		"descending":  {{Bit: 3}, {Bit: 2}},
	} {
		var b geometry.AreaBuilder
		if err := b.AddNode([3]float32{}, edges...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	var b geometry.AreaBuilder
	if err := b.AddNode([3]float32{}, geometry.Edge{Target: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Area(); err == nil {
		t.Error("an edge to nowhere is accepted")
	}
}

// TestAreaIsBounded checks that an area which no reader accepts is not packed, and that
// finding out costs no more than reading one.
func TestAreaIsBounded(t *testing.T) {
	testneeds.Slow(t, "long texts")
	zones := geometry.MaxArea/(8+5*geometry.ZoneSquares) + 1
	many := geomtest.Area{}
	for i := range zones {
		many.Zones = append(many.Zones, geomtest.AreaZone{Position: geometry.ZonePosition{X: uint32(i)}})
	}
	if _, err := geometry.DecodeArea(many.File(), geometry.DecodeOptions{}); !errors.Is(err, geometry.ErrTooLarge) {
		t.Errorf("an area of %d zones: %v", zones, err)
	}
	squares := "[" + strings.Repeat("[0,0],", geometry.ZoneSquares-1) + "[0,0]]"
	var text strings.Builder
	text.WriteString(`{"nodes":[],"zones":[`)
	for i := range zones {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"zone":[%d,0],"squares":%s}`, i, squares)
	}
	text.WriteString("]}")
	_, err := geometry.DecodeAreaJSON([]byte(text.String()))
	if _, ok := errors.AsType[*geometry.JSONError](err); !ok || !strings.Contains(err.Error(), "67108864 bytes") {
		t.Errorf("its JSON: %v", err)
	}
}

func TestEncodeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var file bytes.Buffer
	if err := parseArea(t, paths()).Encode(ctx, &file, geometry.EncodeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was canceled", err)
	}
}
