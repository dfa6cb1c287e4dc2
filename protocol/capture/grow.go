package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"lorefs/internal/readat"
)

// ErrRewritten means that a file no longer begins with what was read of it.
var ErrRewritten = errors.New("the recorded session was cut or written anew, not only appended to")

// pieceSize is the size of the pieces of a file that have a sum each. comparedPieces is how many
// of them are compared when the file has grown: all of 16 MiB, or the next part of a larger file,
// as that happens several times a second.
const (
	pieceSize      = 64 << 10
	comparedPieces = 256
)

// summed remembers a file as it was read, by sums of its pieces. The last one may be shorter.
type summed struct {
	src  io.ReaderAt
	size int64
	sums []uint64
	next int // the piece that is compared next
}

// sumUp sums a file. wanted returns an error when it should stop.
func sumUp(wanted func() error, src io.ReaderAt, size int64) (*summed, error) {
	h := &summed{src: src}
	return h, h.extend(wanted, size)
}

// grown compares the file with what it held, and returns what it holds with size bytes. The error
// matches [ErrRewritten] if it held something else.
func (h *summed) grown(wanted func() error, size int64) (*summed, error) {
	g := &summed{src: h.src, size: h.size, sums: slices.Clone(h.sums), next: h.next}
	if err := g.compare(wanted); err != nil {
		return nil, err
	}
	return g, g.extend(wanted, size)
}

// compare compares the first piece, and some of the others in turn. extend does the last.
func (h *summed) compare(wanted func() error) error {
	buf := make([]byte, pieceSize)
	whole := int(h.size / pieceSize)
	for k := range min(whole, 1+comparedPieces) {
		i := 0
		if k > 0 {
			h.next = h.next%max(whole-1, 1) + 1
			i = h.next
		}
		if err := wanted(); err != nil {
			return err
		}
		if err := h.read(buf, int64(i)*pieceSize); err != nil {
			return err
		}
		if xxhash.Sum64(buf) != h.sums[i] {
			return h.rewritten(i)
		}
	}
	return nil
}

// extend sums what the file has up to size, and compares the last piece, if it goes on.
func (h *summed) extend(wanted func() error, size int64) error {
	buf := make([]byte, pieceSize)
	whole := int(h.size / pieceSize)
	for i := whole; int64(i)*pieceSize < size; i++ {
		if err := wanted(); err != nil {
			return err
		}
		off := int64(i) * pieceSize
		b := buf[:min(pieceSize, size-off)]
		if err := h.read(b, off); err != nil {
			return err
		}
		if i < len(h.sums) && xxhash.Sum64(b[:h.size-off]) != h.sums[i] {
			return h.rewritten(i)
		}
		h.sums = append(h.sums[:i], xxhash.Sum64(b))
	}
	h.size = size
	return nil
}

func (h *summed) read(b []byte, off int64) error {
	err := readat.Full(h.src, b, off)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("capture: %w: it ends before %d", ErrRewritten, off+int64(len(b)))
	}
	if err != nil {
		err = fmt.Errorf("capture: %d bytes at %d: %w", len(b), off, err)
	}
	return err
}

func (h *summed) rewritten(piece int) error {
	return fmt.Errorf("capture: %w: other bytes are behind offset %#x", ErrRewritten, piece*pieceSize)
}

// Grown returns the log with the packets of the whole blocks that were appended to its file,
// which has size bytes now. The log has to be opened to Follow it, and stays as it is. Only the
// newest log may grow, and one at a time, because they share the memory of their index.
//
// Of a file of more than 16 MiB only a part is compared with what was read. It is another part each
// time.
//
// An error matches [ErrRewritten], or is as for [Open].
func (l *Log) Grown(ctx context.Context, size int64) (*Log, error) {
	file := l.file
	switch {
	case file == nil:
		return nil, errors.New("capture: the log was not opened to be followed")
	case size < file.size:
		return nil, fmt.Errorf("capture: %w: it had %d bytes and has %d", ErrRewritten, file.size, size)
	case size == file.size:
		return l, nil
	}
	file, err := file.grown(ctx.Err, size)
	if err != nil {
		return nil, err
	}
	g := *l
	g.file, g.wanted, g.info.Incomplete, g.labels = file, ctx.Err, nil, maps.Clone(l.labels)
	defer func() { g.wanted = nil }()
	g.src, g.size = file.src, file.size
	if err := g.more(&g, newWindow(g.src, g.size)); err != nil {
		return nil, err
	}
	return &g, nil
}

// Sequential returns the log for one goroutine, which reads packets mostly in their order:
// it reads many of them at once.
func (l *Log) Sequential() *Log {
	s := *l
	s.src, s.near = newWindow(l.src, l.size), new(int)
	return &s
}

// Ahead says that all packets from first to last are read next, so that a log of Sequential reads
// them at once.
func (l *Log) Ahead(first, last int) {
	end := l.size
	if last+1 < len(l.index) {
		end = l.Offset(last + 1)
	}
	if w, ok := l.src.(*window); ok {
		w.ahead = int(min(end-l.Offset(first), windowSize))
	}
}

// ReadAt implements [io.ReaderAt].
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	if len(p) > windowSize {
		return w.src.ReadAt(p, off)
	}
	b, err := w.upTo(off, len(p))
	n := copy(p, b)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}
