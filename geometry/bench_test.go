package geometry_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/andybalholm/brotli"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
)

// benchFile returns a fixture if it is there, else a made-up file.
func benchFile(b *testing.B, name string, made func() []byte) []byte {
	b.Helper()
	data, err := os.ReadFile("../../shared/fixtures/world/" + name)
	if err != nil {
		b.Logf("a made-up file stands in for the fixture: %v", err)
		return made()
	}
	return data
}

func benchZone(b *testing.B) []byte {
	b.Helper()
	return benchFile(b, "x1002y1006.zgd", func() []byte { return geomtest.ZoneFile(geomtest.Hills(1)) })
}

func benchArea(b *testing.B) []byte {
	b.Helper()
	return benchFile(b, "vk_dq_sd_03_p.apd", func() []byte { return paths().File() })
}

// BenchmarkDecodeZone compares with Brotli alone, in megabytes of raw data.
func BenchmarkDecodeZone(b *testing.B) {
	file := benchZone(b)
	z, err := geometry.DecodeZone(file, geometry.DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	raw := z.AppendRaw(nil)
	b.Run("brotli", func(b *testing.B) { brotliAlone(b, file, len(raw)) })
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := geometry.DecodeZone(file, geometry.DecodeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if _, err := geometry.ParseZone(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// brotliAlone decompresses a file into an existing buffer.
func brotliAlone(b *testing.B, file []byte, size int) {
	b.Helper()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	r := brotli.NewReader(nil)
	buf := make([]byte, size)
	for b.Loop() {
		if err := r.Reset(bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(r, buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeArea(b *testing.B) {
	file := benchArea(b)
	a, err := geometry.DecodeArea(file, geometry.DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("brotli", func(b *testing.B) { brotliAlone(b, file, len(a.Raw())) })
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(a.Raw())))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := geometry.DecodeArea(file, geometry.DecodeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkText is in megabytes of text.
func BenchmarkText(b *testing.B) {
	z, err := geometry.DecodeZone(benchZone(b), geometry.DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := geometry.DecodeArea(benchArea(b), geometry.DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		text geometry.Text
	}{
		{"zone JSON", geometry.ZoneJSON(z)},
		{"zone OBJ", geometry.FloorsOBJ(z, geometry.DefaultOrigin, geometry.DefaultOrigin)},
		{"area JSON", geometry.AreaJSON(a)},
		{"area OBJ", geometry.PathsOBJ(a)},
		{"area GeoJSON", geometry.AreaGeoJSON(a)},
	} {
		offsets, err := geometry.OffsetsOf(b.Context(), tt.text)
		if err != nil {
			b.Fatal(err)
		}
		size := offsets.Size()
		b.Run(tt.name+" write", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := geometry.WriteText(b.Context(), io.Discard, tt.text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(tt.name+" size", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := geometry.OffsetsOf(b.Context(), tt.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeJSON is in megabytes of text.
func BenchmarkDecodeJSON(b *testing.B) {
	z, err := geometry.DecodeZone(benchZone(b), geometry.DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := geometry.DecodeArea(benchArea(b), geometry.DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	zone, area := write(b, geometry.ZoneJSON(z)), write(b, geometry.AreaJSON(a))
	b.Run("zone", func(b *testing.B) {
		b.SetBytes(int64(len(zone)))
		for b.Loop() {
			if _, err := geometry.DecodeZoneJSON(zone, geometry.JSONOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("area", func(b *testing.B) {
		b.SetBytes(int64(len(area)))
		for b.Loop() {
			if _, err := geometry.DecodeAreaJSON(area); err != nil {
				b.Fatal(err)
			}
		}
	})
}
