package inflate

import (
	"bytes"
	stdflate "compress/flate"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/flate"
)

// benchChunk is how much output each decoder decodes at a time.
const benchChunk = 1 << 20

func BenchmarkInflate(b *testing.B) {
	fixture := func(b *testing.B) ([]byte, int) {
		paths := fixturePaths(b)
		for _, p := range paths {
			if filepath.Base(p) == "p115_small_x64.dat" {
				return readFixture(b, p)
			}
		}
		return readFixture(b, paths[0])
	}
	generated := func(b *testing.B) ([]byte, int) {
		data := textData(16 << 20)
		return deflateData(b, data, 6), len(data)
	}
	inputs := []struct {
		name string
		load func(*testing.B) ([]byte, int)
	}{{"fixture", fixture}, {"generated", generated}}
	decoders := []struct {
		name string
		run  func(*testing.B, []byte, int)
	}{
		{"lorefs", benchLorefs},
		{"klauspost", func(b *testing.B, stream []byte, size int) {
			benchReader(b, flate.NewReader(bytes.NewReader(nil)), stream, size)
		}},
		{"stdlib", func(b *testing.B, stream []byte, size int) {
			benchReader(b, stdflate.NewReader(bytes.NewReader(nil)), stream, size)
		}},
	}
	for _, dec := range decoders {
		b.Run(dec.name, func(b *testing.B) {
			for _, in := range inputs {
				b.Run(in.name, func(b *testing.B) {
					stream, size := in.load(b)
					b.SetBytes(int64(size))
					dec.run(b, stream, size)
				})
			}
		})
	}
}

func benchLorefs(b *testing.B, stream []byte, size int) {
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	buf := make([]byte, WindowSize+benchChunk)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Reset(Point{}); err != nil {
			b.Fatal(err)
		}
		total, w := 0, 0
		for {
			n, err := d.Decode(buf, w)
			total += n
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			w = copy(buf, buf[len(buf)-WindowSize:])
		}
		if total != size {
			b.Fatalf("%d bytes, want %d", total, size)
		}
	}
}

func benchReader(b *testing.B, r io.Reader, stream []byte, size int) {
	buf := make([]byte, benchChunk)
	b.ReportAllocs()
	for b.Loop() {
		resetter, ok := r.(stdflate.Resetter)
		if !ok {
			b.Fatalf("%T cannot be reset", r)
		}
		if err := resetter.Reset(bytes.NewReader(stream), nil); err != nil {
			b.Fatal(err)
		}
		total := 0
		for {
			n, err := r.Read(buf)
			total += n
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if total != size {
			b.Fatalf("%d bytes, want %d", total, size)
		}
	}
}

// BenchmarkResume measures a Reset into the middle of a block, with the decoding of one
// byte.
func BenchmarkResume(b *testing.B) {
	data := textData(1 << 20)
	stream := deflateData(b, data, 6)
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	buf := bytes.Clone(data)
	half := len(buf) / 2
	if _, err := d.Decode(buf[:half], 0); err != nil {
		b.Fatal(err)
	}
	p := d.Point()
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Reset(p); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Decode(buf[:half+1], half); err != nil {
			b.Fatal(err)
		}
	}
}
