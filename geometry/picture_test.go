package geometry_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
)

// steps returns a zone with one floor on the left of column 480, two on the right of
// it, and none in the corner at the end.
func steps(x, y int) []geometry.Volume {
	switch {
	case x == 959 && y == 959:
		return nil
	case x < 480:
		return []geometry.Volume{{Z: -32768, Height: 9}}
	}
	return []geometry.Volume{{Z: int16(y), Height: 9}, {Z: int16(1000 + y), Height: 9}}
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

func TestHeightmap(t *testing.T) {
	t.Parallel()
	z := parseZone(t, steps)
	for floor, rise := range map[geometry.Floor]int{geometry.Lowest: 0, geometry.Highest: 1000} {
		drawn := geometry.Heightmap(z, floor)
		img, ok := decodePNG(t, geometry.HeightmapPNG(drawn), geometry.HeightmapSize).(*image.Gray16)
		if !ok {
			t.Fatal("the picture is not of 16-bit grey")
		}
		if !bytes.Equal(img.Pix, drawn.Pix) {
			t.Error("the file has other heights")
		}
		for _, at := range [][2]int{{0, 0}, {479, 959}, {480, 0}, {480, 7}, {480, 8}, {959, 958}, {700, 123}, {959, 959}} {
			want := 1 // the lowest z
			switch {
			case at == [2]int{959, 959}:
				want = 0
			case at[0] >= 480:
				want = 32768 + at[1] + rise
			}
			if got := img.Gray16At(at[0], at[1]).Y; int(got) != want {
				t.Errorf("floor %d: pixel %v is %d, want %d", floor, at, got, want)
			}
		}
	}
}

// TestHeightmapOfAnyOrder searches volumes that do not ascend for the lowest.
func TestHeightmapOfAnyOrder(t *testing.T) {
	z := parseZone(t, func(int, int) []geometry.Volume { return []geometry.Volume{{Z: 5}, {Z: -5}, {Z: 7}, {Z: 0}} })
	if got := geometry.Heightmap(z, geometry.Lowest).Gray16At(3, 3).Y; got != 32763 {
		t.Errorf("the lowest is %d", got)
	}
	if got := geometry.Heightmap(z, geometry.Highest).Gray16At(3, 3).Y; got != 32775 {
		t.Errorf("the highest is %d", got)
	}
}

func TestRelief(t *testing.T) {
	t.Parallel()
	// A ridge along y at x = 480: lit on the left, in the shade on the right.
	z := parseZone(t, func(x, y int) []geometry.Volume {
		if x == 5 && y == 5 {
			return nil
		}
		return []geometry.Volume{{Z: int16(4800 - 10*max(480-x, x-480))}}
	})
	drawn := geometry.Relief(z, geometry.Lowest)
	img, ok := decodePNG(t, geometry.ReliefPNG(drawn), geometry.ReliefSize).(*image.Gray)
	if !ok {
		t.Fatal("the picture is not of 8-bit grey")
	}
	if !bytes.Equal(img.Pix, drawn.Pix) {
		t.Error("the file has another picture")
	}
	lit, shaded := img.GrayAt(400, 480).Y, img.GrayAt(560, 480).Y
	if lit <= shaded {
		t.Errorf("the lit side is %d, the other %d", lit, shaded)
	}
	if img.GrayAt(5, 5).Y != 0 || img.GrayAt(6, 5).Y == 0 || img.GrayAt(0, 0).Y == 0 {
		t.Errorf("a hole is %d, beside it is %d", img.GrayAt(5, 5).Y, img.GrayAt(6, 5).Y)
	}
	if foot, top := img.GrayAt(10, 480).Y, img.GrayAt(470, 480).Y; foot >= top {
		t.Errorf("the foot is %d, the top %d", foot, top)
	}
}

func TestReliefOfNothing(t *testing.T) {
	img := geometry.Relief(parseZone(t, geomtest.Empty), geometry.Highest)
	for _, v := range img.Pix {
		if v != 0 {
			t.Fatalf("a pixel is %d", v)
		}
	}
	if got := geometry.Relief(parseZone(t, geomtest.Flat(9)), geometry.Highest).GrayAt(7, 7).Y; got == 0 {
		t.Error("a flat zone is black")
	}
}
