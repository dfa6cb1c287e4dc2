package form

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// pieceSize is how much is decrypted at a time, and piecesAhead how many pieces are
	// decrypted before they are inflated.
	pieceSize   = 256 << 10
	piecesAhead = 3
)

// forward reads a source from start to end, in a goroutine of its own: so the next pieces are
// decrypted while others are inflated. It implements [io.ReaderAt] for one reader that never
// goes back.
type forward struct {
	pieces <-chan piece
	free   chan<- []byte
	now    piece // what is left of the current piece
	buf    []byte
	off    int64 // of now
}

// piece is a part of the source, with the error of what follows.
type piece struct {
	data []byte
	err  error
}

// readForward reads the size bytes of src until stop is called, which returns when nothing is
// read any more.
func readForward(src io.ReaderAt, size int64) (r *forward, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	pieces, free := make(chan piece, piecesAhead), make(chan []byte, piecesAhead+2)
	for range cap(free) {
		free <- make([]byte, max(min(pieceSize, size), 0))
	}
	go func() {
		defer close(pieces)
		for off := int64(0); off < size; {
			var buf []byte
			select {
			case buf = <-free: // there are more than can be waiting or read
			case <-ctx.Done(): // what stop takes does not become free
				return
			}
			want := int(min(pieceSize, size-off))
			n, err := src.ReadAt(buf[:want], off)
			off += int64(n)
			switch {
			case off == size && errors.Is(err, io.EOF):
				err = nil
			case n < want && err == nil: // a source must not, but would never come to its end
				err = io.ErrUnexpectedEOF
			}
			select {
			case pieces <- piece{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &forward{pieces: pieces, free: free}, func() {
		cancel()
		for range pieces {
		}
	}
}

// ReadAt implements [io.ReaderAt].
func (r *forward) ReadAt(p []byte, off int64) (n int, err error) {
	if off != r.off {
		return 0, fmt.Errorf("BUG: read at %#x, not at %#x", off, r.off)
	}
	for n < len(p) {
		k := copy(p[n:], r.now.data)
		n, r.off, r.now.data = n+k, r.off+int64(k), r.now.data[k:]
		if len(r.now.data) > 0 {
			break
		}
		if r.now.err != nil {
			return n, r.now.err
		}
		if r.buf != nil {
			r.free <- r.buf[:cap(r.buf)]
			r.buf = nil
		}
		var ok bool
		if r.now, ok = <-r.pieces; !ok {
			return n, io.EOF
		}
		r.buf = r.now.data
	}
	return n, nil
}
