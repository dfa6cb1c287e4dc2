package geometry_test

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

func parseZone(t testing.TB, cells geomtest.Cells) *geometry.Zone {
	t.Helper()
	z, err := geometry.ParseZone(geomtest.RawZone(cells))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// values copies the volumes of a cell.
func values(v geometry.Volumes) []geometry.Volume {
	var all []geometry.Volume
	for i := range v.Len() {
		all = append(all, v.At(i))
	}
	return all
}

// samples are zones that use what the format allows.
var samples = map[string]geomtest.Cells{
	"empty":    geomtest.Empty,
	"flat":     geomtest.Flat(-7),
	"hills":    geomtest.Hills(3),
	"extremes": geomtest.Extremes,
	// Differences are from the volume before, in whatever cell, and wrap.
	"wrapping": func(x, y int) []geometry.Volume {
		return []geometry.Volume{{Z: int16(x*31 - y*17), Height: uint16(y * 4099)}}
	},
}

func TestParseZone(t *testing.T) {
	t.Parallel()
	for name, cells := range samples {
		t.Run(name, func(t *testing.T) {
			raw := geomtest.RawZone(cells)
			z, err := geometry.ParseZone(raw)
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for sx := range 120 {
				for sy := range 120 {
					s := z.Square(geometry.SquareIndex(sx, sy))
					for i, volumes := range s.Cells {
						want := cells(sx*8+i/8, sy*8+i%8)
						if got := values(volumes); !slices.Equal(got, want) {
							t.Fatalf("cell %d,%d of square %d,%d is %v, want %v", i/8, i%8, sx, sy, got, want)
						}
						total += len(want)
					}
				}
			}
			if z.Volumes() != total || z.RawSize() != len(raw) {
				t.Errorf("%d volumes, %d bytes: want %d, %d", z.Volumes(), z.RawSize(), total, len(raw))
			}
			if !bytes.Equal(z.AppendRaw(nil), raw) {
				t.Error("AppendRaw gives other bytes")
			}
		})
	}
}

func TestCell(t *testing.T) {
	z := parseZone(t, geomtest.Extremes)
	for _, at := range [][2]int{{0, 0}, {0, 1}, {5, 200}, {959, 959}, {8, 0}, {7, 8}} {
		x, y := at[0], at[1]
		got := values(z.Square(geometry.SquareIndex(x/8, y/8)).Cell(geometry.CellIndex(x%8, y%8)))
		if want := geomtest.Extremes(x, y); !slices.Equal(got, want) {
			t.Errorf("cell %d,%d is %v, want %v", x, y, got, want)
		}
	}
}

func TestZoneOfImage(t *testing.T) {
	z := parseZone(t, geomtest.Hills(1))
	again, err := geometry.ZoneOfImage(z.Image())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.AppendRaw(nil), z.AppendRaw(nil)) {
		t.Error("the image is of another zone")
	}
	for _, n := range []int{0, 100, len(z.Image()) - 1} {
		if _, err := geometry.ZoneOfImage(z.Image()[:n]); err == nil {
			t.Errorf("%d bytes of %d are an image", n, len(z.Image()))
		}
	}
}

func TestAscending(t *testing.T) {
	for name, tt := range map[string]struct {
		volumes []geometry.Volume
		want    bool
	}{
		"none":       {nil, true},
		"one":        {[]geometry.Volume{{Z: 5}}, true},
		"ascending":  {[]geometry.Volume{{Z: -5}, {Z: 5}}, true},
		"equal":      {[]geometry.Volume{{Z: 5}, {Z: 5}}, false},
		"descending": {[]geometry.Volume{{Z: 5}, {Z: -5}}, false},
	} {
		z := parseZone(t, func(x, y int) []geometry.Volume {
			if x == 9 && y == 950 {
				return tt.volumes
			}
			return nil
		})
		if got := z.Ascending(); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestWithSquares(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	z := parseZone(t, geomtest.Hills(1))
	before := z.AppendRaw(nil)
	var cells [geometry.SquareCells][]geometry.Volume
	cells[0] = []geometry.Volume{{Z: 1, Height: 2}}
	cells[63] = []geometry.Volume{{Z: -3, Height: 4}, {Z: 5, Height: 6}}
	for _, places := range [][]int{{}, {0}, {77}, {geometry.ZoneSquares - 1}, {0, 1, 5000, geometry.ZoneSquares - 1}} {
		squares := map[int]*[geometry.SquareCells][]geometry.Volume{}
		for _, square := range places {
			squares[square] = &cells
		}
		changed, err := z.WithSquares(squares)
		if err != nil {
			t.Fatal(err)
		}
		want := geomtest.RawZone(func(x, y int) []geometry.Volume {
			if squares[geometry.SquareIndex(x/8, y/8)] != nil {
				return cells[geometry.CellIndex(x%8, y%8)]
			}
			return geomtest.Hills(1)(x, y)
		})
		if !bytes.Equal(changed.AppendRaw(nil), want) {
			t.Errorf("with squares %v replaced it is another zone", places)
		}
	}
	for _, square := range []int{-1, geometry.ZoneSquares} {
		if _, err := z.WithSquares(map[int]*[geometry.SquareCells][]geometry.Volume{square: &cells}); err == nil {
			t.Errorf("there is a square %d", square)
		}
	}
	if !bytes.Equal(z.AppendRaw(nil), before) {
		t.Error("the zone itself changed")
	}
}

func TestZoneBuilderRefuses(t *testing.T) {
	var b geometry.ZoneBuilder
	if err := b.Add(make([]geometry.Volume, 256)...); err == nil {
		t.Error("a cell of 256 volumes is accepted")
	}
	if _, err := b.Zone(); err == nil {
		t.Error("a zone without cells is accepted")
	}
	for range geometry.ZoneCells {
		if err := b.Add(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(); err == nil {
		t.Error("a cell too many is accepted")
	}
	if _, err := b.Zone(); err != nil {
		t.Error(err)
	}
}

func TestEncodeZone(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	z := parseZone(t, func(x, y int) []geometry.Volume {
		if x+y > 300 {
			return nil
		}
		return geomtest.Hills(4)(x, y)
	})
	var file bytes.Buffer
	if err := z.Encode(t.Context(), &file, geometry.EncodeOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := geometry.DecodeZone(file.Bytes(), geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Image(), z.Image()) {
		t.Error("the zone reads back as another")
	}
	for _, quality := range []int{-1, 12} {
		if err := z.Encode(t.Context(), &file, geometry.EncodeOptions{Quality: quality}); err == nil {
			t.Errorf("quality %d is accepted", quality)
		}
	}
}

func TestBrokenZones(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	for _, b := range geomtest.BrokenZones() {
		t.Run(b.Name, func(t *testing.T) {
			z, err := geometry.DecodeZone(b.File, geometry.DecodeOptions{})
			checkBroken(t, b, z == nil, err)
		})
	}
}

// checkBroken checks the error for a broken file. Brotli's own errors are not compared.
func checkBroken(t *testing.T, b geomtest.Broken, nothing bool, err error) {
	t.Helper()
	if !nothing || err == nil || (err.Error() != b.Want && (!strings.HasSuffix(b.Want, ": ") || !strings.HasPrefix(err.Error(), b.Want))) {
		t.Errorf("got %v\nwant %s", err, b.Want)
	}
	if _, ok := errors.AsType[*geometry.FormatError](err); !ok {
		t.Errorf("%T, want a FormatError", err)
	}
	if got := errors.Is(err, geometry.ErrTooLarge); got != strings.Contains(b.Want, "more than is allowed") {
		t.Errorf("it matches ErrTooLarge: %v", got)
	}
}

// TestBombsAreBounded checks that a bomb costs what a reader allows, not what it inflates
// to.
func TestBombsAreBounded(t *testing.T) {
	const allowed = 8 << 20
	bomb := geomtest.Compress(bytes.Repeat([]byte{255}, 128<<20))
	t.Logf("%d bytes inflate to 128 MiB", len(bomb))
	for name, decode := range map[string]func() error{
		"zone": func() error {
			_, err := geometry.DecodeZone(bomb, geometry.DecodeOptions{Max: allowed})
			return err
		},
		"area": func() error {
			_, err := geometry.DecodeArea(bomb, geometry.DecodeOptions{Max: allowed})
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := decode()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, geometry.ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", name, err)
		}
		// The buffer doubles up to the limit, and Brotli has a window.
		if used := after.TotalAlloc - before.TotalAlloc; used > 3*allowed+(16<<20) {
			t.Errorf("%s: %d bytes were allocated, %d were allowed", name, used, allowed)
		}
	}
}

func TestZoneNames(t *testing.T) {
	for name, want := range map[string]geometry.ZonePosition{
		"x1002y1006":           {X: 1002, Y: 1006},
		"X0037Y0053":           {X: 37, Y: 53},
		"x37y53":               {X: 37, Y: 53},
		"x4294967295y00000001": {X: math.MaxUint32, Y: 1},
	} {
		if got, ok := geometry.ParseZoneName(name); !ok || got != want {
			t.Errorf("%s is %v, %v: want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "x", "x1", "xy", "x1y", "xy1", "y1x1", "x1y1z", "x1y1 ", "x-1y1", "x+1y1", "x4294967296y1", "vk_dq_p"} {
		if got, ok := geometry.ParseZoneName(name); ok {
			t.Errorf("%q is %v", name, got)
		}
	}
	if got := (geometry.ZonePosition{X: 37, Y: 10053}).String(); got != "x0037y10053" {
		t.Errorf("a name is %s", got)
	}
}

func TestCorner(t *testing.T) {
	x, y := geometry.ZonePosition{X: 1002, Y: 999}.Corner(geometry.DefaultOrigin)
	if x != 30720 || y != -15360 {
		t.Errorf("the corner is at %d, %d, want 30720, -15360", x, y)
	}
}
