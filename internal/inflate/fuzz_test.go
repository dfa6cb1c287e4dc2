package inflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"testing"
)

// fuzzLimit bounds the output of one input.
const fuzzLimit = 1 << 20

func fuzzSeeds(f *testing.F) [][]byte {
	f.Helper()
	var seeds [][]byte
	for _, level := range []int{flate.HuffmanOnly, 0, 1, 6, 9} {
		seeds = append(seeds,
			deflatePieces(f, mixedPieces(5), level),
			deflateData(f, textData(3000), level),
			deflateData(f, periodicData(5, 2000), level))
	}
	return append(seeds, nil, []byte{3, 0}, []byte{7}, []byte{1, 2, 0, 0xfd, 0xff, 'h', 'i'})
}

// FuzzInflate expects the output and the verdict of the standard library.
func FuzzInflate(f *testing.F) {
	for i, seed := range fuzzSeeds(f) {
		f.Add(seed, uint64(i))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		compare(t, stream, fuzzLimit, fixedPiece(16<<10))
		compare(t, stream, fuzzLimit/16, randomPiece(seed, 1000))
	})
}

// FuzzResume resumes at a made-up Point, which must not panic, and at a Point of an output
// offset, which must yield the bytes of a single pass.
func FuzzResume(f *testing.F) {
	for i, seed := range fuzzSeeds(f) {
		f.Add(seed, int64(i*30), int64(i*80), int64(0), uint16(i), uint16(i), uint16(100*i))
		f.Add(seed, int64(i*30), int64(i*8), int64(i*8), uint16(0), uint16(0), uint16(3*i))
	}
	f.Fuzz(func(t *testing.T, stream []byte, out, in, header int64, length, dist, cutAt uint16) {
		d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
		resumeMadeUp(t, d, Point{Out: out, In: in, Header: header, Len: length, Dist: dist})
		resumeReal(t, d, int(cutAt))
	})
}

func resumeMadeUp(t *testing.T, d *Decoder, p Point) {
	t.Helper()
	if err := d.Reset(p); err != nil {
		if n, again := d.Decode(make([]byte, WindowSize+1), WindowSize); n != 0 || again == nil {
			t.Fatalf("Decode after %v: %d bytes, %v", err, n, again)
		}
		return
	}
	if got := d.Point(); got != p {
		t.Fatalf("point %+v after reset to %+v", got, p)
	}
	buf := make([]byte, WindowSize+2000)
	n, err := d.Decode(buf, WindowSize)
	if err == nil && n != 2000 {
		t.Fatalf("%d bytes without an error", n)
	}
	if err != nil {
		verdict(t, err)
	}
}

func resumeReal(t *testing.T, d *Decoder, cutAt int) {
	t.Helper()
	if err := d.Reset(Point{}); err != nil {
		t.Fatal(err)
	}
	whole := make([]byte, 1<<16)
	n, wholeErr := d.Decode(whole, 0)
	whole = whole[:n]
	end := d.Point()

	cutAt = min(cutAt, n)
	got := bytes.Clone(whole[:cutAt])
	if err := d.Reset(Point{}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode(got, 0); err != nil {
		t.Fatalf("decode to %d of %d: %v", cutAt, n, err)
	}
	p := d.Point()
	if err := d.Reset(p); err != nil {
		t.Fatalf("reset to %+v: %v", p, err)
	}
	w := min(cutAt, WindowSize)
	buf := make([]byte, w+1<<16-cutAt)
	copy(buf, whole[cutAt-w:cutAt])
	n, err := d.Decode(buf, w)
	if !bytes.Equal(buf[w:w+n], whole[cutAt:]) {
		t.Fatalf("wrong bytes from %+v", p)
	}
	if len(whole) == 1<<16 {
		return // the end, if there is one, was not looked for
	}
	if verdict(t, err) != verdict(t, wholeErr) {
		t.Fatalf("%v, in a single pass %v", err, wholeErr)
	}
	if errors.Is(err, io.EOF) && d.Point() != end {
		t.Fatalf("%+v, in a single pass %+v", d.Point(), end)
	}
}
