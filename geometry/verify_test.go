package geometry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

// findings returns the findings in a file, as text.
func findings(file []byte, area, strict bool) []string {
	verify := geometry.VerifyZone
	if area {
		verify = geometry.VerifyArea
	}
	var all []string
	for f := range verify(file, strict, geometry.DecodeOptions{}) {
		all = append(all, f.String())
	}
	return all
}

func TestVerifyBroken(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	for _, area := range []bool{false, true} {
		broken := geomtest.BrokenZones()
		if area {
			broken = geomtest.BrokenAreas()
		}
		for _, b := range broken {
			got := findings(b.File, area, false)
			want := strings.TrimPrefix(b.Want, "geometry: ")
			if len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("%s: got %q\nwant %q", b.Name, got, want)
			}
		}
	}
}

func TestVerifyVolumes(t *testing.T) {
	file := geomtest.ZoneFile(func(x, y int) []geometry.Volume {
		switch {
		case x == 0 && y == 1:
			return []geometry.Volume{{Z: 5, Height: 1}, {Z: 5, Height: 1}, {Z: 4}}
		case x == 959 && y == 959:
			return []geometry.Volume{{Z: 0, Height: 10}, {Z: 10, Height: 1}, {Z: 10 + 1}, {Z: 20, Height: 40}, {Z: 30}}
		}
		return nil
	})
	order := []string{
		"offset 6 of the zone: cell 0,1 of square 0,0: volume 1 is at z 5: want more than that of the one before, 5",
		"offset 10 of the zone: cell 0,1 of square 0,0: volume 2 is at z 4: want more than that of the one before, 5",
	}
	if got := findings(file, false, false); !slices.Equal(got, order) {
		t.Errorf("got %q", got)
	}
	// 921,599 counts and 3 volumes lie before the last cell, and 4 volumes of it.
	overlap := fmt.Sprintf("offset %d of the zone: cell 7,7 of square 119,119: volume 4 is at z 30, within the one before, from 20 to 60",
		921599+3*4+1+4*4)
	if got, want := findings(file, false, true), append(order, overlap); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestVerifyArea(t *testing.T) {
	at := func(x, y uint32) geometry.ZonePosition { return geometry.ZonePosition{X: x, Y: y} }
	whole := geomtest.Paths(geometry.DefaultOrigin, at(1, 1), at(1, 2), at(2, 1), at(2, 2))
	whole.Nodes = whole.Nodes[:len(whole.Nodes)-1] // the last is in no square
	if got := findings(whole.File(), true, true); got != nil {
		t.Errorf("got %q", got)
	}
	odd := geomtest.Paths(geometry.DefaultOrigin, at(2, 1), at(1, 1))
	squares := odd.Zones[1].Squares
	squares[0] = geometry.NodeRange{First: squares[0].First + 1, Count: 1}
	if got := findings(odd.File(), true, false); got != nil {
		t.Errorf("not strict: got %q", got)
	}
	got := findings(odd.File(), true, true)
	want := []string{
		"square 0,0 of zone x0001y0001 has nodes from 145 on: want from 144 on",
		"has nodes from 145 on: want from 146 on",
		"the squares have 288 of 289 nodes",
		"the zones are no rectangle in the order of x: want x0002y0001 to x0001y0001",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasSuffix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestVerifyFixtures(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	dir := filepath.Dir(testneeds.Fixture(t, "world/x1002y1006.zgd"))
	for _, area := range []bool{false, true} {
		pattern := "*.zgd"
		if area {
			pattern = "*.apd"
		}
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(paths) != 3 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := findings(file, area, false); got != nil {
				t.Errorf("%s: %d findings, such as %s", path, len(got), got[0])
			}
		}
	}
}
