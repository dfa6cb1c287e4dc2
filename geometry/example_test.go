package geometry_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"lorefs/geometry"
)

// A zone is a grid of cells with the volumes in which somebody can stand.
func Example() {
	var b geometry.ZoneBuilder
	for square := range geometry.ZoneSquares {
		for cell := range geometry.SquareCells {
			var volumes []geometry.Volume
			if square == geometry.SquareIndex(1, 1) && cell == geometry.CellIndex(0, 1) {
				volumes = []geometry.Volume{{Z: -20, Height: 100}, {Z: 300, Height: 50}} // two floors
			}
			if err := b.Add(volumes...); err != nil {
				log.Fatal(err)
			}
		}
	}
	built, err := b.Zone()
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := built.Encode(context.Background(), &file, geometry.EncodeOptions{}); err != nil {
		log.Fatal(err)
	}

	zone, err := geometry.DecodeZone(file.Bytes(), geometry.DecodeOptions{})
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
