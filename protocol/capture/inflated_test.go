package capture

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"
)

// readCounter counts the bytes that are read.
type readCounter struct {
	io.ReaderAt
	bytes int
}

func (r *readCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes += n
	return n, err
}

// TestInterleavedReaders checks that several readers side by side do not inflate a step for
// each packet.
func TestInterleavedReaders(t *testing.T) {
	want := make([]byte, (keptSteps+2)*stepSize)
	for i := range want {
		want[i] = byte(i * i >> 7)
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src := &readCounter{ReaderAt: bytes.NewReader(b.Bytes())}
	in, err := newInflated(t.Context().Err, src, 0, int64(b.Len()), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	src.bytes = 0
	p := make([]byte, 1000)
	read := func(reader, i int) {
		off := int64(reader*stepSize + i*stepSize/20)
		if n, err := in.ReadAt(p, off); n != len(p) || err != nil || !bytes.Equal(p, want[off:][:n]) {
			t.Fatalf("%d bytes at %d: %v", n, off, err)
		}
	}
	for i := range 20 {
		for reader := range keptSteps {
			read(reader, i)
		}
	}
	if src.bytes > 2*b.Len() {
		t.Errorf("%d bytes read of a stream of %d", src.bytes, b.Len())
	}
	read(keptSteps+1, 0) // replaces the oldest
	read(0, 0)
	if len(in.loaded) != keptSteps {
		t.Errorf("%d steps are kept", len(in.loaded))
	}
}
