package readat

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"sync"
)

// PieceSize is the size of the pieces of [Checked] in bytes. So much is read for a single
// byte, and the sums take a 4096th of the size of the data.
const PieceSize = 32 << 10

// ErrChanged means that data is not what it was when it was checked.
var ErrChanged = errors.New("it was written to since its MD5 was checked")

// seed starts the sums, which never leave the process.
var seed = maphash.MakeSeed()

// buffers keeps those for pieces.
var buffers = sync.Pool{New: func() any { return new([PieceSize]byte) }}

// Checked is data that was checked as a whole, and is too large to be held: it is read from
// where it lies. Somebody may write to it meanwhile, and its checksum is of all of it. So
// the pass that checks it keeps a sum of each piece, and every read of a piece is compared
// with that. It is safe for parallel use.
type Checked struct {
	src  io.ReaderAt
	size int64
	sums []uint64
}

// Check reads all of src, which has size bytes, and writes it to check. The caller finds out
// whether the checksum is right. It ends when ctx ends, also for a src that is not Waiting,
// because size may be large.
func Check(ctx context.Context, src io.ReaderAt, size int64, check io.Writer) (*Checked, error) {
	d := &Checked{src: src, size: size}
	buf := buffers.Get().(*[PieceSize]byte)
	defer buffers.Put(buf)
	now := Bound(ctx, src)
	for off := int64(0); off < size; off += PieceSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := buf[:min(PieceSize, size-off)]
		if err := Full(now, b, off); err != nil {
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
func (d *Checked) Size() int64 { return d.size }

// ReadAt is [io.ReaderAt]. It ends before the first piece that is not what it was, with
// ErrChanged.
func (d *Checked) ReadAt(p []byte, off int64) (int, error) {
	return d.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements [Waiting].
func (d *Checked) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("readat: negative offset")
	}
	done := 0
	for done < len(p) && off+int64(done) < d.size {
		n, err := d.read(ctx, p[done:], off+int64(done))
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
func (d *Checked) read(ctx context.Context, p []byte, off int64) (int, error) {
	i := int(off / PieceSize)
	from := int64(i) * PieceSize
	n := len(p) / PieceSize * PieceSize
	if rest := d.size - off; int64(len(p)) >= rest {
		n = int(rest)
	}
	if off == from && n > 0 {
		return d.load(ctx, p[:n], i)
	}
	buf := buffers.Get().(*[PieceSize]byte)
	defer buffers.Put(buf)
	b := buf[:min(PieceSize, d.size-from)]
	if _, err := d.load(ctx, b, i); err != nil {
		return 0, err
	}
	return copy(p, b[off-from:]), nil
}

// load fills b with pieces from i on, and compares them. It tells how many bytes of them
// are before the first that is not what it was.
func (d *Checked) load(ctx context.Context, b []byte, i int) (int, error) {
	if err := Full(Bound(ctx, d.src), b, int64(i)*PieceSize); err != nil {
		return 0, err
	}
	for n := 0; n < len(b); n += PieceSize {
		if maphash.Bytes(seed, b[n:min(n+PieceSize, len(b))]) != d.sums[i+n/PieceSize] {
			return n, ErrChanged
		}
	}
	return len(b), nil
}
