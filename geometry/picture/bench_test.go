package picture_test

import (
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/geometry/picture"
)

func BenchmarkPicture(b *testing.B) {
	z, err := geometry.ParseZone(geomtest.RawZone(geomtest.Hills(1)))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("heightmap", func(b *testing.B) {
		for b.Loop() {
			picture.HeightmapPNG(geometry.Heightmap(z, geometry.Lowest), picture.HeightmapNotes{})
		}
	})
	b.Run("relief", func(b *testing.B) {
		for b.Loop() {
			picture.PreviewPNG(picture.Relief(geometry.Heightmap(z, geometry.Lowest)), nil)
		}
	})
}
