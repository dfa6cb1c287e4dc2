package geometry_test

import (
	"testing"

	"lorefs/geometry"
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

func TestHeightmap(t *testing.T) {
	t.Parallel()
	z := parseZone(t, steps)
	for floor, rise := range map[geometry.Floor]int{geometry.Lowest: 0, geometry.Highest: 1000} {
		drawn := geometry.Heightmap(z, floor)
		for _, at := range [][2]int{{0, 0}, {479, 959}, {480, 0}, {480, 7}, {480, 8}, {959, 958}, {700, 123}, {959, 959}} {
			want := 1 // the lowest z
			switch {
			case at == [2]int{959, 959}:
				want = 0
			case at[0] >= 480:
				want = 32768 + at[1] + rise
			}
			got := drawn.Gray16At(at[0], at[1]).Y
			if int(got) != want {
				t.Errorf("floor %d: pixel %v is %d, want %d", floor, at, got, want)
			}
			if z, ok := geometry.FloorOf(got); ok != (want > 0) || ok && int(z) != want-32768 {
				t.Errorf("floor %d: pixel %v stands for %d, %v", floor, at, z, ok)
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
