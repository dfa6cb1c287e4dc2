package picture_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/geometry/picture"
)

// heightsOf returns the heightmap of made-up cells.
func heightsOf(t *testing.T, cells geomtest.Cells) *image.Gray16 {
	t.Helper()
	z, err := geometry.ParseZone(geomtest.RawZone(cells))
	if err != nil {
		t.Fatal(err)
	}
	return geometry.Heightmap(z, geometry.Lowest)
}

// decodePNG returns the picture in a file that must have a size.
func decodePNG(t *testing.T, file []byte, size int) image.Image {
	t.Helper()
	if len(file) != size {
		t.Errorf("the file has %d bytes, want %d", len(file), size)
	}
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != image.Rect(0, 0, 960, 960) {
		t.Fatalf("the picture is %v", img.Bounds())
	}
	return img
}

func TestHeightmapPNG(t *testing.T) {
	t.Parallel()
	drawn := heightsOf(t, geomtest.Extremes)
	for _, floor := range []geometry.Floor{geometry.Lowest, geometry.Highest} {
		about := picture.HeightmapNotes{Zone: geometry.ZonePosition{X: 1002, Y: 1006}, Origin: geometry.DefaultOrigin, Floor: floor}
		file := picture.HeightmapPNG(drawn, about)
		checkNotes(t, file, about)
		img, ok := decodePNG(t, file, picture.HeightmapSize(about)).(*image.Gray16)
		if !ok {
			t.Fatal("the picture is not of 16-bit grey")
		}
		if !bytes.Equal(img.Pix, drawn.Pix) {
			t.Error("the file has other heights")
		}
	}
}

// checkNotes checks what a heightmap of zone x1002y1006 says about itself.
func checkNotes(t *testing.T, file []byte, about picture.HeightmapNotes) {
	t.Helper()
	notes := notesIn(t, file)
	if want := "Heights of the " + about.Floor.String() + " floors of zone x1002y1006"; notes["Title"] != want {
		t.Errorf("the title is %q, want %q", notes["Title"], want)
	}
	for _, part := range []string{"16 x 16 units", "grow downwards", "x 30720, y 92160", "x1000y1000", "grey value - 32768", "Grey 0 is a cell without a floor"} {
		if !strings.Contains(notes["Description"], part) {
			t.Errorf("the description lacks %q: %s", part, notes["Description"])
		}
	}
	var numbers map[string]any
	if err := json.Unmarshal([]byte(notes["lorefs"]), &numbers); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"zone": []any{1002.0, 1006.0}, "origin": []any{1000.0, 1000.0}, "x": 30720.0, "y": 92160.0, "floor": about.Floor.String(),
		"units_per_pixel": 16.0, "units_per_metre": 25.0, "units_per_grey": 1.0, "z_of_grey_0": -32768.0, "grey_without_floor": 0.0,
	} {
		if !reflect.DeepEqual(numbers[name], want) {
			t.Errorf("%s is %v, want %v", name, numbers[name], want)
		}
	}
}

// notesIn returns the texts of the chunks iTXt of a PNG file, by their keywords.
func notesIn(t *testing.T, file []byte) map[string]string {
	t.Helper()
	notes := map[string]string{}
	for rest := file[8:]; len(rest) > 12; {
		size := int(binary.BigEndian.Uint32(rest))
		name, content := string(rest[4:8]), rest[8:8+size]
		if name == "iTXt" {
			keyword, text, ok := bytes.Cut(content, []byte("\x00\x00\x00\x00\x00"))
			if !ok {
				t.Fatalf("a note has no keyword, or is compressed: %q", content)
			}
			notes[string(keyword)] = string(text)
		}
		rest = rest[12+size:]
	}
	return notes
}

// brightness returns how bright a pixel is.
func brightness(img image.Image, x, y int) int {
	r, g, b, _ := img.At(x, y).RGBA()
	return int(r + g + b)
}

func TestRelief(t *testing.T) {
	t.Parallel()
	// A ridge along y at x = 480: lit on the left, in the shade on the right.
	heights := heightsOf(t, func(x, y int) []geometry.Volume {
		if x == 5 && y == 5 {
			return nil
		}
		return []geometry.Volume{{Z: int16(4800 - 10*max(480-x, x-480))}}
	})
	drawn, notes := picture.Relief(heights), picture.ReliefNotes(geometry.DefaultOrigin)
	file := picture.PreviewPNG(drawn, notes)
	img, ok := decodePNG(t, file, picture.PreviewSize(960, 960, notes)).(*image.Paletted)
	if !ok {
		t.Fatal("the picture has no palette")
	}
	if !bytes.Equal(img.Pix, drawn.Pix) {
		t.Error("the file has another picture")
	}
	if got := notesIn(t, file)["Title"]; got != "The lowest floors of zone x1000y1000" {
		t.Errorf("the title is %q", got)
	}
	if lit, shaded := brightness(img, 400, 480), brightness(img, 560, 480); lit <= shaded {
		t.Errorf("the lit side is %d, the other %d", lit, shaded)
	}
	if hole := brightness(img, 5, 5); hole >= brightness(img, 6, 5)/2 {
		t.Errorf("a hole is %d, beside it is %d", hole, brightness(img, 6, 5))
	}
	if foot, top := img.At(10, 480), img.At(470, 480); foot == top {
		t.Errorf("foot and top are %v", foot)
	}
	// Every 25 cells the slope reaches a multiple of 250: at x = 400 it is 4000. There the tint
	// changes as well.
	for x, contour := range map[int]bool{401: false, 424: false, 425: true, 426: false, 450: true, 451: false} {
		if got := brightness(img, x, 480) < brightness(img, 410, 480); got != contour {
			t.Errorf("a contour at %d: %v, want %v", x, got, contour)
		}
	}
}

// TestColours checks that a colour depends on the height and on nothing else in a zone, that the
// colours of the heights of the game differ, and that the extremes have some.
func TestColours(t *testing.T) {
	t.Parallel()
	flat := func(z int16) color.Color {
		return picture.Relief(heightsOf(t, geomtest.Flat(z))).At(100, 100)
	}
	mixed := picture.Relief(heightsOf(t, func(x, _ int) []geometry.Volume {
		return []geometry.Volume{{Z: []int16{600, 2100, -32768, 32767}[x/240]}}
	}))
	seen := map[color.Color]int16{}
	for i, z := range []int16{600, 2100, -32768, 32767} {
		want := flat(z)
		if other, twice := seen[want]; twice {
			t.Errorf("%d and %d have one colour", z, other)
		}
		seen[want] = z
		if got := mixed.At(240*i+120, 7); got != want {
			t.Errorf("%d is %v beside others, and %v alone", z, got, want)
		}
	}
}

func TestReliefOfNothing(t *testing.T) {
	t.Parallel()
	img := picture.Relief(heightsOf(t, geomtest.Empty))
	for _, v := range img.Pix {
		if v != 0 {
			t.Fatalf("a pixel is %d", v)
		}
	}
	if got := picture.Relief(heightsOf(t, geomtest.Flat(9))).ColorIndexAt(7, 7); got == 0 {
		t.Error("a flat zone is as if it had no floor")
	}
}

// TestTile checks that a smaller picture shows the same.
func TestTile(t *testing.T) {
	t.Parallel()
	// The left half is low, a quarter is high, and a quarter has no floor.
	heights := heightsOf(t, func(x, y int) []geometry.Volume {
		switch {
		case x < 480:
			return []geometry.Volume{{Z: -700, Height: 9}}
		case y < 480:
			return []geometry.Volume{{Z: 2800, Height: 9}}
		}
		return nil
	})
	large := picture.Relief(heights)
	for _, size := range [][2]int{{2, 2}, {7, 5}, {100, 300}, {960, 1}, {1, 1}} {
		small := picture.Tile(heights, size[0], size[1])
		if got := small.Bounds().Size(); got != image.Pt(size[0], size[1]) {
			t.Fatalf("a tile of %v is %v", size, got)
		}
		if size[0] == 1 || size[1] == 1 {
			continue
		}
		for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			x, y := at[0]*(size[0]-1), at[1]*(size[1]-1)
			if got, want := small.ColorIndexAt(x, y), large.ColorIndexAt(at[0]*900+30, at[1]*900+30); got != want && size[0] != 2 {
				t.Errorf("a tile of %v: pixel %d,%d has colour %d, want %d", size, x, y, got, want)
			}
		}
		if small.ColorIndexAt(size[0]-1, size[1]-1) != 0 {
			t.Errorf("a tile of %v has a floor where there is none", size)
		}
	}
}

func TestMosaic(t *testing.T) {
	t.Parallel()
	at := func(x, y uint32) geometry.ZonePosition { return geometry.ZonePosition{X: x, Y: y} }
	// Two neighbours, and one far away, which is listed twice.
	m := picture.NewMosaic([]geometry.ZonePosition{at(5000, 9), at(1000, 9), at(1001, 8), at(5000, 9)}, 4096)
	for zone, want := range map[geometry.ZonePosition]image.Rectangle{
		at(1000, 9): image.Rect(0, 960, 960, 1920),
		at(1001, 8): image.Rect(960, 0, 1920, 960),
		at(5000, 9): image.Rect(2160, 960, 3120, 1920), // a gap of a quarter of a zone
	} {
		if got := m.Tile(zone); got != want {
			t.Errorf("%v is at %v, want %v", zone, got, want)
		}
	}
	if m.All != image.Rect(0, 0, 3120, 1920) {
		t.Errorf("all is %v", m.All)
	}
	var numbers struct{ Zones map[string][4]int }
	notes := m.Notes()
	if err := json.Unmarshal([]byte(notes[len(notes)-1].Text), &numbers); err != nil {
		t.Fatal(err)
	}
	if len(numbers.Zones) != 3 || numbers.Zones["x5000y0009"] != [4]int{2160, 960, 960, 960} {
		t.Errorf("the notes say %v", numbers.Zones)
	}
}

// TestLargeMosaic lays out more zones than there is room for.
func TestLargeMosaic(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]uint32{"adjacent": 1, "apart": 4_000_000} {
		for _, n := range []int{0, 1, 40, 1000} {
			var zones []geometry.ZonePosition
			for i := range n {
				zones = append(zones, geometry.ZonePosition{X: uint32(i) * step, Y: uint32(i) * step})
			}
			m := picture.NewMosaic(zones, 300)
			if size := m.All.Size(); size.X < 1 || size.X > 300 || size.X != size.Y {
				t.Errorf("%d zones, %s: the picture is %v", n, name, size)
			}
			img := m.NewPicture()
			for _, at := range zones {
				r := m.Tile(at)
				if r.Empty() || !r.In(m.All) {
					t.Fatalf("%d zones, %s: %v is at %v of %v", n, name, at, r, m.All)
				}
				m.Put(img, at, picture.Unreadable(r.Dx(), r.Dy()))
				if img.ColorIndexAt(r.Min.X, r.Min.Y) == 0 || img.ColorIndexAt(r.Max.X-1, r.Max.Y-1) == 0 {
					t.Errorf("%d zones, %s: nothing is at %v", n, name, r)
				}
			}
		}
	}
}
