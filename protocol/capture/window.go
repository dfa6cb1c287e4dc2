package capture

import (
	"fmt"
	"io"

	"lorefs/internal/readat"
)

// windowSize is how much is read at once. It is several times the longest line of a hex
// log, which must fit.
const windowSize = 512 << 10

// jumpSize is how much is read after a jump. It doubles with each part that follows the one
// before, so that a file whose offsets jump around costs little more than what is needed.
const jumpSize = 4 << 10

// window reads a file in parts, which are large if it is read forward.
type window struct {
	src  io.ReaderAt
	size int64
	off  int64 // of buf
	buf  []byte
	all  []byte
	part int // how much was read last
	// ahead is how much to read next; 0 to decide by what was read.
	ahead int
}

func newWindow(src io.ReaderAt, size int64) *window {
	return &window{src: src, size: size, part: jumpSize}
}

// upTo returns up to n bytes at off, fewer only at the end. n is at most windowSize. The
// bytes are valid until the next call.
func (w *window) upTo(off int64, n int) ([]byte, error) {
	if off < 0 || off >= w.size {
		return nil, nil
	}
	n = int(min(int64(n), w.size-off))
	if off >= w.off && off-w.off <= int64(len(w.buf)-n) {
		return w.buf[off-w.off:][:n], nil
	}
	// To leave out less than what was read is no jump: who makes an index leaves packets out.
	switch onwards := off >= w.off && off-w.off <= 2*int64(len(w.buf)); {
	case w.ahead > 0:
		w.part, w.ahead = w.ahead, 0
	case onwards:
		w.part = min(2*w.part, windowSize)
	default:
		w.part = jumpSize
	}
	need := min(int64(max(w.part, n)), w.size-off)
	if int64(len(w.all)) < need {
		w.all, w.buf = make([]byte, need), nil
	}
	part := w.all[:need]
	if err := readat.Full(w.src, part, off); err != nil {
		w.buf = nil
		return nil, fmt.Errorf("capture: %d bytes at %d: %w", len(part), off, err)
	}
	w.off, w.buf = off, part
	return w.buf[:n], nil
}

// from returns what has been read at off and behind it: n bytes or more, fewer only at the end. The
// bytes are valid until the next call.
func (w *window) from(off int64, n int) ([]byte, error) {
	b, err := w.upTo(off, n)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return w.buf[off-w.off:], nil
}

// bytes returns n bytes at off.
func (w *window) bytes(off int64, n int) ([]byte, error) {
	b, err := w.upTo(off, n)
	if err == nil && len(b) < n {
		err = badf(off, "want %d bytes, but the data ends at %d", n, w.size)
	}
	return b, err
}
