package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"lorefs/internal/readat"
)

// ErrRewritten means that a file no longer begins with what was read of it.
var ErrRewritten = errors.New("the recorded session was cut or written anew, not only appended to")

// endSize is how much of the beginning and of the end of a file is kept to recognize it by.
const endSize = 4 << 10

// ends is what a file is recognized by after it has grown.
type ends struct {
	src         io.ReaderAt
	size        int64
	first, last []byte
}

// endsOf reads the beginning and the end of a file.
func endsOf(src io.ReaderAt, size int64) (ends, error) {
	n := min(size, endSize)
	e := ends{src: src, size: size, first: make([]byte, n), last: make([]byte, n)}
	err := readat.Full(src, e.first, 0)
	if err == nil {
		err = readat.Full(src, e.last, size-n)
	}
	if err != nil {
		err = fmt.Errorf("capture: the ends of the file: %w", err)
	}
	return e, err
}

// kept returns an error that matches [ErrRewritten] if the file does not begin with what
// it held.
func (e *ends) kept() error {
	now, err := endsOf(e.src, e.size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("capture: %w", ErrRewritten)
	}
	if same := bytes.Equal(now.first, e.first) && bytes.Equal(now.last, e.last); err == nil && !same {
		err = fmt.Errorf("capture: %w", ErrRewritten)
	}
	return err
}

// Grown returns the log with the packets of the whole blocks that were appended to its file,
// which has size bytes now. The log itself stays as it is. Only the newest log may grow,
// and one at a time, because they share the memory of their index.
//
// An error matches [ErrRewritten], or is as for [Open].
func (l *Log) Grown(ctx context.Context, size int64) (*Log, error) {
	switch {
	case size < l.file.size:
		return nil, fmt.Errorf("capture: %w: it had %d bytes and has %d", ErrRewritten, l.file.size, size)
	case size == l.file.size:
		return l, nil
	}
	if err := l.file.kept(); err != nil {
		return nil, err
	}
	if l.more == nil {
		return nil, badf(l.file.size, "%d bytes were appended: a log of the format %v is written as a whole", size-l.file.size, l.info.Format)
	}
	g := *l
	g.wanted, g.info.Incomplete, g.labels = ctx.Err, nil, maps.Clone(l.labels)
	defer func() { g.wanted = nil }()
	if err := g.grow(size); err != nil {
		return nil, g.located(err)
	}
	return &g, nil
}

// grow adds what was appended.
func (l *Log) grow(size int64) (err error) {
	file := l.file.src
	if l.file, err = endsOf(file, size); err != nil {
		return err
	}
	l.src, l.size = file, size
	if l.deep != nil {
		if l.deep, err = l.deep.grown(l.wanted, file, size-l.deep.off); err != nil {
			return err
		}
		l.src, l.size, l.info.Incomplete = l.deep, l.deep.size, l.deep.cut
	}
	return l.more(l, newWindow(l.src, l.size))
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
		end = l.at(last + 1)
	}
	// The packets of some logs lie in any order.
	if w, ok := l.src.(*window); ok && end > l.at(first) {
		w.ahead = int(min(end-l.at(first), windowSize))
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
