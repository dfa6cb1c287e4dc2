package datacenter

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"lorefs/internal/inflate"
)

// Blocks in the cache begin with the history that inflating them needed, so
// that nothing is copied.

// block gives the bytes of block n.
func (f *File) block(n uint64) ([]byte, error) {
	buf, err := f.blocks.Block(n, f.load)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return buf, nil
	}
	return buf[windowSize:], nil
}

// inflateBlock makes block n. The checksum tells whether the file still holds
// what the index was made from: no other bytes are ever handed out.
func (f *File) inflateBlock(n uint64) ([]byte, error) {
	if n >= uint64(len(f.points)) {
		return nil, badf(int64(n)<<blockShift, "beyond the data's %d bytes", f.stated)
	}
	f.inflating <- struct{}{}
	defer func() { <-f.inflating }()
	dec := f.decoders.Get().(*inflate.Decoder)
	defer f.decoders.Put(dec)
	window := f.window(int(n))
	out := int64(n) << blockShift
	buf := make([]byte, len(window)+int(min(blockSize, f.stated-out)))
	copy(buf, window)
	if err := dec.Reset(f.points[n]); err != nil {
		return nil, f.blockError(n, err)
	}
	if k, err := dec.Decode(buf, len(window)); len(window)+k < len(buf) {
		return nil, f.blockError(n, err)
	}
	if crc32.Checksum(buf[len(window):], castagnoli) != f.sums[n] {
		return nil, f.blockError(n, ErrChanged)
	}
	return buf, nil
}

// blockError is what is wrong with block n, which once could be inflated: if it
// is not the reading that fails, then the file is not what it was.
func (f *File) blockError(n uint64, err error) error {
	_, corrupt := errors.AsType[*inflate.CorruptError](err)
	if corrupt || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &FormatError{
		InFile: true, Off: compressionHeaderSize + f.points[n].In/8,
		What: fmt.Sprintf("inflating the MiB at %#x", n<<blockShift), Err: err,
	}
}

// view gives n bytes at off: a piece of a block, or, where they straddle two, a
// copy in scratch, which has room for them. The caller has checked that they
// are within the data.
func (f *File) view(off int64, n int, scratch []byte) ([]byte, error) {
	b, err := f.block(uint64(off) >> blockShift)
	if err != nil {
		return nil, err
	}
	i := int(off & (blockSize - 1))
	if i+n <= len(b) {
		return b[i : i+n], nil
	}
	return f.straddle(off, scratch[:n])
}

// straddle copies from as many blocks as p lies in.
func (f *File) straddle(off int64, p []byte) ([]byte, error) {
	for done := 0; done < len(p); {
		b, err := f.block(uint64(off) >> blockShift)
		if err != nil {
			return nil, err
		}
		i := int(off & (blockSize - 1))
		if i >= len(b) {
			return nil, &FormatError{Off: off, What: "the data ends here", Err: io.ErrUnexpectedEOF}
		}
		k := copy(p[done:], b[i:])
		done += k
		off += int64(k)
	}
	return p, nil
}

// elements gives as many of the count elements of size bytes at off as lie
// together, at least one; one that straddles two blocks comes in scratch.
func (f *File) elements(off int64, count, size int, scratch []byte) ([]byte, error) {
	b, err := f.block(uint64(off) >> blockShift)
	if err != nil {
		return nil, err
	}
	i := int(off & (blockSize - 1))
	if k := min((len(b)-i)/size, count); k > 0 {
		return b[i : i+k*size], nil
	}
	return f.straddle(off, scratch[:size])
}
