package geometry_test

import (
	"fmt"
	"log"

	"lorefs/geometry"
	"lorefs/internal/formats/geometry/geomtest"
)

// A zone is a grid of cells with the volumes in which somebody can stand.
func Example() {
	file := geomtest.ZoneFile(func(x, y int) []geometry.Volume {
		if x == 8 && y == 9 {
			return []geometry.Volume{{Z: -20, Height: 100}, {Z: 300, Height: 50}} // two floors
		}
		return nil
	})
	zone, err := geometry.DecodeZone(file, geometry.DecodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(zone.Volumes(), "volumes")
	cell := zone.Square(geometry.SquareIndex(1, 1)).Cell(geometry.CellIndex(0, 1))
	for i := range cell.Len() {
		v := cell.At(i)
		fmt.Println("floor at", v.Z, "with room for", v.Height)
	}
	// Output:
	// 2 volumes
	// floor at -20 with room for 100
	// floor at 300 with room for 50
}
