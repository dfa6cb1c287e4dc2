package inflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// TestOpen decodes streams of all levels one after the other in one Decoder, which was left
// anywhere in the stream before: at its end, in the middle, or at an error.
func TestOpen(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := NewDecoder(nil, 0)
	if n, err := d.Decode(make([]byte, 1), 0); n != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	for i := range 200 {
		content := bytes.Repeat([]byte{'a' + byte(i%26), byte(r.Uint32()), byte(r.Uint32())}, 1+r.IntN(100_000)/3)
		for range r.IntN(200) {
			content[r.IntN(len(content))] = byte(r.Uint32())
		}
		var stream bytes.Buffer
		w, err := flate.NewWriter(&stream, i%12-2)
		if err == nil {
			_, err = w.Write(content)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		size := stream.Len()
		if i%3 == 2 {
			size /= 2
		}
		d.Open(bytes.NewReader(stream.Bytes()), int64(size))
		got := make([]byte, len(content)+1)
		if i%3 == 1 {
			got = got[:len(content)/2]
		}
		n, err := d.Decode(got, 0)
		want := []error{io.EOF, nil, io.ErrUnexpectedEOF}[i%3]
		if !bytes.HasPrefix(content, got[:n]) || i%3 == 0 && n != len(content) || !errors.Is(err, want) {
			t.Fatalf("stream %d of %d bytes: %d bytes, %v, want %v", i, len(content), n, err, want)
		}
	}
}
