package readat_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"lorefs/internal/readat"
)

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

// TestRead reads data of sizes around whole pieces, in parts of any place and size.
func TestChecked(t *testing.T) {
	for _, size := range []int{0, 1, readat.PieceSize - 1, readat.PieceSize, readat.PieceSize + 1, 3*readat.PieceSize + 7} {
		content := noise(size)
		h := md5.New()
		d, err := readat.Check(t.Context(), bytes.NewReader(content), int64(size), h)
		if err != nil || d.Size() != int64(size) || [16]byte(h.Sum(nil)) != md5.Sum(content) {
			t.Fatalf("%d bytes: %v", size, err)
		}
		r := rand.New(rand.NewPCG(2, uint64(size)))
		for range 200 {
			off, n := r.IntN(size+2), r.IntN(2*readat.PieceSize)
			p := make([]byte, n)
			got, err := d.ReadAt(p, int64(off))
			want := content[min(off, size):min(off+n, size)]
			if !bytes.Equal(p[:got], want) || (got < n) != (err != nil) || err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("%d bytes: %d at %d: %d, %v", size, n, off, got, err)
			}
		}
		if _, err := d.ReadAt(nil, -1); err == nil {
			t.Error("a negative offset is read")
		}
	}
}

// leavingWriter counts what is written, and leaves at the first write.
type leavingWriter struct {
	leave context.CancelFunc
	n     int
}

func (w *leavingWriter) Write(p []byte) (int, error) {
	w.leave()
	w.n += len(p)
	return len(p), nil
}

// TestCheckEnds checks that data for which nobody waits any more is not read to the end.
func TestCheckEnds(t *testing.T) {
	content := noise(3 * readat.PieceSize)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w := &leavingWriter{leave: leave}
	_, err := readat.Check(ctx, bytes.NewReader(content), int64(len(content)), w)
	if !errors.Is(err, context.Canceled) || w.n != readat.PieceSize {
		t.Errorf("%d of %d bytes were read, %v", w.n, len(content), err)
	}
}

// TestChanged writes to a piece, and cuts data: nothing of such a piece is handed out.
func TestChanged(t *testing.T) {
	content := noise(3*readat.PieceSize + 7)
	d, err := readat.Check(t.Context(), bytes.NewReader(content), int64(len(content)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	content[readat.PieceSize+100] ^= 1
	p := make([]byte, len(content))
	if n, err := d.ReadAt(p, 0); n != readat.PieceSize || !errors.Is(err, readat.ErrChanged) {
		t.Errorf("all: %d, %v", n, err)
	}
	if n, err := d.ReadAt(p[:2*readat.PieceSize], 0); n != readat.PieceSize || !errors.Is(err, readat.ErrChanged) {
		t.Errorf("whole pieces: %d, %v", n, err)
	}
	if n, err := d.ReadAt(p[:1], 2*readat.PieceSize-1); n != 0 || !errors.Is(err, readat.ErrChanged) {
		t.Errorf("a byte of the piece: %d, %v", n, err)
	}
	if n, err := d.ReadAt(p[:9], 2*readat.PieceSize); n != 9 || err != nil {
		t.Errorf("the next piece: %d, %v", n, err)
	}
	if _, err := readat.Check(t.Context(), bytes.NewReader(content), int64(len(content)+1), io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("less than stated: %v", err)
	}
}
