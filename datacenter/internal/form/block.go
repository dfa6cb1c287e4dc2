package form

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"lorefs/internal/adler"
	"lorefs/internal/inflate"
)

// A cached block begins with the history that inflating it needed, so that nothing has to
// be copied.

// Block returns the bytes of block n. A file is local, so that loading a block takes a moment
// and needs no context to end it.
func (f *File) Block(n uint64) ([]byte, error) {
	if b := f.last.get(n); b != nil {
		return b, nil
	}
	b, err := f.Blocks.Block(context.Background(), n, f.load)
	if err != nil {
		return nil, err
	}
	if !f.bare {
		b = b[min(f.Points[n].Out, WindowSize):]
	}
	f.last.keep(n, b)
	return b, nil
}

// inflateBlock inflates block n. It compares the checksum with the index, so that it never
// returns bytes of a file that has changed since.
func (f *File) inflateBlock(_ context.Context, n uint64) ([]byte, error) {
	if n >= uint64(len(f.Points)) {
		return nil, Badf(f.Stated, "beyond the data's %d bytes", f.Stated)
	}
	f.inflating <- struct{}{}
	defer func() { <-f.inflating }()
	dec := f.Decoder()
	window := f.Window(int(n))
	buf := make([]byte, len(window)+int(f.End(int(n), f.Stated)-f.Points[n].Out))
	copy(buf, window)
	if next := n + 1; next < uint64(len(f.Points)) {
		dec.Expect(f.Points[next].In)
	}
	if err := dec.Reset(f.Points[n]); err != nil {
		return nil, f.BlockError(n, err)
	}
	if k, err := dec.Decode(buf, len(window)); len(window)+k < len(buf) {
		return nil, f.BlockError(n, err)
	}
	if adler.Checksum(buf[len(window):]) != f.Adlers[n] {
		return nil, f.BlockError(n, ErrChanged)
	}
	return buf, nil
}

// BlockError returns the error for block n, which could be inflated before. Unless reading
// failed, the file has changed since.
func (f *File) BlockError(n uint64, err error) error {
	_, corrupt := errors.AsType[*inflate.CorruptError](err)
	if corrupt || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &FormatError{
		InFile: true, Off: CompressionHeaderSize + f.Points[n].In/8,
		What: fmt.Sprintf("inflating the block at %#x", f.Points[n].Out), Err: err,
	}
}

// View returns n bytes at off: a piece of a block or, if they straddle two blocks, a copy
// in scratch, which must have room for them. The caller has checked that the bytes are
// within the data.
func (f *File) View(off int64, n int, scratch []byte) ([]byte, error) {
	block, i := f.BlockAt(off)
	b, err := f.Block(block)
	if err != nil {
		return nil, err
	}
	if i+n <= len(b) {
		return b[i : i+n], nil
	}
	return f.Straddle(off, scratch[:n])
}

// Straddle copies bytes to p from all the blocks that they lie in.
func (f *File) Straddle(off int64, p []byte) ([]byte, error) {
	for done := 0; done < len(p); {
		block, i := f.BlockAt(off)
		b, err := f.Block(block)
		if err != nil {
			return nil, err
		}
		if i >= len(b) {
			return nil, &FormatError{Off: off, What: "the data ends here", Err: io.ErrUnexpectedEOF}
		}
		k := copy(p[done:], b[i:])
		done += k
		off += int64(k)
	}
	return p, nil
}

// Has reports whether p is the data at off.
func (f *File) Has(off int64, p []byte) (bool, error) {
	for len(p) > 0 {
		block, i := f.BlockAt(off)
		b, err := f.Block(block)
		if err != nil {
			return false, err
		}
		if i >= len(b) || !bytes.HasPrefix(p, b[i:min(len(b), i+len(p))]) {
			return false, nil
		}
		n := min(len(b)-i, len(p))
		p, off = p[n:], off+int64(n)
	}
	return true, nil
}

// Elements returns those of the count elements of size bytes at off that lie in one block,
// at least one. An element that straddles two blocks is copied to scratch.
func (f *File) Elements(off int64, count, size int, scratch []byte) ([]byte, error) {
	block, i := f.BlockAt(off)
	b, err := f.Block(block)
	if err != nil {
		return nil, err
	}
	if k := min((len(b)-i)/size, count); k > 0 {
		return b[i : i+k*size], nil
	}
	return f.Straddle(off, scratch[:size])
}
