// Package pieces reads data that was checked as a whole, and is too large to be held,
// from where it lies. Somebody may write to it meanwhile, and its checksum is of all
// of it: so the pass that checks it keeps a sum of each piece, with which each piece
// is compared whenever it is read.
package pieces

import (
	"errors"
	"hash/maphash"
	"io"
	"sync"

	"lorefs/internal/readat"
)

// Size is that of a piece, in bytes. So much is read for a single byte, and the sums take
// a 4096th of the size of the data.
const Size = 32 << 10

// ErrChanged means that data is not what it was when it was checked.
var ErrChanged = errors.New("it was written to since its MD5 was checked")

// seed is that of the sums, which never leave the process.
var seed = maphash.MakeSeed()

// buffers keeps those for pieces.
var buffers = sync.Pool{New: func() any { return new([Size]byte) }}

// Data is data that was checked. It is safe for parallel use.
type Data struct {
	src  io.ReaderAt
	size int64
	sums []uint64
}

// Read reads all of src, which has size bytes, and writes it to check. Whether that is
// content with it is for the caller to ask.
func Read(src io.ReaderAt, size int64, check io.Writer) (*Data, error) {
	d := &Data{src: src, size: size}
	buf := buffers.Get().(*[Size]byte)
	defer buffers.Put(buf)
	for off := int64(0); off < size; off += Size {
		b := buf[:min(Size, size-off)]
		if err := readat.Full(src, b, off); err != nil {
			return nil, err
		}
		if _, err := check.Write(b); err != nil {
			return nil, err
		}
		d.sums = append(d.sums, maphash.Bytes(seed, b))
	}
	return d, nil
}

// Size is the number of bytes.
func (d *Data) Size() int64 { return d.size }

// ReadAt is [io.ReaderAt]. It ends before the first piece that is not what it was, with
// ErrChanged.
func (d *Data) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("pieces: negative offset")
	}
	done := 0
	for done < len(p) && off+int64(done) < d.size {
		n, err := d.read(p[done:], off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// read reads whole pieces, or else from off on to the end of the piece.
func (d *Data) read(p []byte, off int64) (int, error) {
	i := int(off / Size)
	from := int64(i) * Size
	n := len(p) / Size * Size
	if rest := d.size - off; int64(len(p)) >= rest {
		n = int(rest)
	}
	if off == from && n > 0 {
		return d.load(p[:n], i)
	}
	buf := buffers.Get().(*[Size]byte)
	defer buffers.Put(buf)
	b := buf[:min(Size, d.size-from)]
	if _, err := d.load(b, i); err != nil {
		return 0, err
	}
	return copy(p, b[off-from:]), nil
}

// load fills b with pieces from i on, and compares them. It tells how many bytes of them
// are before the first that is not what it was.
func (d *Data) load(b []byte, i int) (int, error) {
	if err := readat.Full(d.src, b, int64(i)*Size); err != nil {
		return 0, err
	}
	for n := 0; n < len(b); n += Size {
		if maphash.Bytes(seed, b[n:min(n+Size, len(b))]) != d.sums[i+n/Size] {
			return n, ErrChanged
		}
	}
	return len(b), nil
}
