package splice

import (
	"bytes"
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/aes128"
	"lorefs/internal/cfb"
	"lorefs/internal/cores"
	"lorefs/internal/inflate"
	"lorefs/internal/readat"
)

// checkBytes reads back the file that splice wrote, whose SHA-256 should be sum. It decrypts it and
// compares it with the plain text, whose old bits were compared with those of the old file when
// they were moved. One goroutine does all of it, so that the file is read once: the other checks leave
// it no more than a core.
func (s *spliced) checkBytes(ctx context.Context, r io.ReaderAt, sum [sha256.Size]byte) error {
	if _, err := s.unlock(r); err != nil {
		return err
	}
	block, err := aes128.New(s.key.Key)
	if err != nil {
		return err
	}
	h := sha256.New()
	c := plainCheck{block: block, before: s.key.IV, sums: s.plain}
	file, buf := io.NewSectionReader(r, 0, s.size+1), make([]byte, plainPiece)
	for at := int64(0); at < s.size; at += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, kept := s.size, at < s.kept
		if kept {
			end = s.kept
		}
		buf = buf[:min(plainPiece, end-at)]
		if _, err := io.ReadFull(file, buf); err != nil {
			return fmt.Errorf("datacenter: reading back: %w", err)
		}
		h.Write(buf)
		if !c.piece(buf, kept) {
			return form.BadFile(at, "decrypts to other bytes than were written")
		}
	}
	if n, err := file.Read(buf[:1]); n > 0 || !errors.Is(err, io.EOF) || [sha256.Size]byte(h.Sum(nil)) != sum {
		return form.BadFile(0, "reading back gives more than %d bytes, or others than were written", s.size)
	}
	return nil
}

// plainCheck compares the checksums of plain text. before is the cipher block before the next piece,
// sums are those of the pieces from there on.
type plainCheck struct {
	block  cipher.Block
	before [aes.BlockSize]byte
	sums   []uint32
}

// piece decrypts a piece in place, and reports whether it is as it should be. A piece of what was kept
// has no checksum.
func (c *plainCheck) piece(p []byte, kept bool) bool {
	before := c.before
	copy(c.before[:], p[max(len(p)-len(before), 0):]) // only the last piece can be shorter
	if kept {
		return true
	}
	cfb.Decrypt(c.block, p, before)
	if len(c.sums) == 0 || crc32.Checksum(p, castagnoli) != c.sums[0] {
		return false
	}
	c.sums = c.sums[1:]
	return true
}

// checkData decodes what was encoded anew, and from the new checkpoints on, and compares it with what
// is wanted.
func (s *spliced) checkData(ctx context.Context, r io.ReaderAt) error {
	c, err := s.unlock(r)
	if err != nil {
		return err
	}
	f := form.NewFile(c, form.Uncached{})
	f.Checkpoints = s.Checkpoints
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return checkEnd(f, s.streamEnd) })
	spans := s.spans()
	var next atomic.Int64
	for range cores.Count() {
		group.Go(func() error {
			d := decodeCheck{spliced: s, dec: f.Decoder()}
			return cores.Take(ctx, &next, len(spans)+len(s.Points), func(n int) error {
				if n < len(spans) {
					return d.span(spans[n])
				}
				return d.checkpoint(n - len(spans))
			})
		})
	}
	return group.Wait()
}

// Unlock opens the file that splice wrote.
func (s *spliced) unlock(r io.ReaderAt) (*form.Container, error) {
	c, err := form.Unlock(r, s.size, s.key)
	if err == nil && c.Stated != s.stated {
		err = form.BadFile(0, "states %d inflated bytes instead of %d", c.Stated, s.stated)
	}
	return c, err
}

// blockSpan is a range of deflate blocks.
type blockSpan struct{ first, next int }

// largeSpan is the number of bytes of data from which blocks begin a new span, so that a span does not
// need much memory and all cores have one to check.
const largeSpan = 512 << 10

// spans returns the deflate blocks that may be wrong if splicing is: those that were encoded or padded
// anew, and those behind them that may copy their data.
func (s *spliced) spans() (list []blockSpan) {
	blocks := s.plan.Blocks
	for first, next := range s.plan.Anew() {
		for end := blocks[next].Out + form.WindowSize; next < len(blocks)-1 && blocks[next].Out < end; {
			next++
		}
		if n := len(list) - 1; n >= 0 && first < list[n].next {
			first = list[n].next
		}
		for ; first < next; first++ {
			n := len(list) - 1
			if n >= 0 && list[n].next == first && blocks[first].Out-blocks[list[n].first].Out < largeSpan {
				list[n].next++
			} else {
				list = append(list, blockSpan{first, first + 1})
			}
		}
	}
	return list
}

// decodeCheck compares what is decoded with what is wanted. It is for use by one goroutine.
type decodeCheck struct {
	*spliced
	dec *inflate.Decoder
	got []byte // scratch
}

// span decodes deflate blocks, and looks whether they begin where they are said to, with the one
// behind them.
func (d *decodeCheck) span(b blockSpan) error {
	blocks := d.plan.Blocks
	begin, end := blocks[b.first], blocks[b.next]
	seen := b.first
	d.dec.OnBlock = func(there inflate.Block) {
		if seen < len(blocks)-1 && there == blocks[seen] {
			seen++
		}
	}
	defer func() { d.dec.OnBlock = nil }()
	// The header behind the span is read only for a byte that is behind it, and so are those of blocks
	// without data. If there is no such byte, it is read for the end of the stream.
	more, to := b.next, end.Out
	for more < len(blocks)-1 && blocks[more].Out == end.Out {
		more++
	}
	last := end.Out == d.stated
	if !last {
		to++
	}
	const header = 300 * 8 // bits, about the longest one
	err := d.decode(inflate.Point{Out: begin.Out, In: begin.Header, Header: begin.Header}, to, end.Header+header)
	if err == nil && last {
		err = d.streamEnds()
	}
	if err == nil && seen != more {
		err = d.wrong(begin.Header, "a deflate block begins elsewhere than it should")
	}
	return err
}

// streamEnds checks that the stream ends where it should, behind all data, which was decoded.
func (d *decodeCheck) streamEnds() (err error) {
	if d.got, err = d.plan.Data(d.got, max(d.stated-form.WindowSize, 0), d.stated); err != nil {
		return err
	}
	w := len(d.got)
	want := d.plan.Blocks[len(d.plan.Blocks)-1].Header
	d.got = append(d.got, 0)
	n, err := d.dec.Decode(d.got, w)
	if n > 0 || !errors.Is(err, io.EOF) {
		return d.wrong(want, "the stream does not end behind the data: %w", cmp.Or(err, form.ErrChanged))
	}
	if at := d.dec.InputEnd(); at != want {
		return d.wrong(want, "the stream ends at bit %d, want %d", at, want)
	}
	return nil
}

// checkpoint decodes what follows checkpoint n, if that is doubtful.
func (d *decodeCheck) checkpoint(n int) error {
	if !d.doubtful[n] {
		return nil
	}
	const some = 4 << 10
	p := d.Points[n]
	return d.decode(p, min(p.Out+some, d.End(n, d.stated)), p.In+some*8)
}

// largePiece is the number of bytes that are decoded at a time: nearly all spans at once.
const largePiece = 2 * largeSpan

// decode decodes data from a place up to an offset, and compares it with what is wanted. It does so in
// pieces, since one block may have nearly all data of the file. expect is about the bit behind the data.
func (d *decodeCheck) decode(at inflate.Point, to, expect int64) error {
	d.dec.Expect(expect)
	if err := d.dec.Reset(at); err != nil {
		return d.wrong(at.Header, "reading it back: %w", err)
	}
	for begin := at.Out; begin < to; begin += largePiece {
		if err := d.piece(at, begin, min(begin+largePiece, to)); err != nil {
			return err
		}
	}
	return nil
}

// piece decodes data between two offsets, behind what was decoded from a place on.
func (d *decodeCheck) piece(at inflate.Point, begin, to int64) (err error) {
	from := max(begin-form.WindowSize, 0)
	if d.got, err = d.plan.Data(d.got, from, begin); err != nil {
		return err
	}
	w := len(d.got)
	d.got = slices.Grow(d.got, int(to-begin))[:to-from]
	next := sort.Search(len(d.Points), func(i int) bool { return d.Points[i].Out > begin })
	for w < len(d.got) {
		stop := to
		if next < len(d.Points) {
			stop = min(stop, d.Points[next].Out)
		}
		n, err := d.dec.Decode(d.got[:stop-from], w)
		if w += n; from+int64(w) < stop {
			return d.wrong(at.Header, "reading it back: %w", err)
		}
		// A checkpoint at the start of a block may be before or behind its header, where the decoder may
		// not be.
		if next < len(d.Points) && stop == d.Points[next].Out {
			if p, q := d.dec.Point(), d.Points[next]; p.Header == q.Header && p.In > p.Header && p != q {
				return d.wrong(at.Header, "a checkpoint at %#x is not where it should be", stop)
			}
			next++
		}
	}
	same, err := d.same(begin, d.got[begin-from:])
	if err == nil && !same {
		err = d.wrong(at.Header, "it inflates to other bytes than were wanted")
	}
	return err
}

// same reports whether p is the wanted data at an offset.
func (s *spliced) same(off int64, p []byte) (bool, error) {
	for x := range s.plan.Parts(off, off+int64(len(p))) {
		same, err := bytes.Equal(p[:x.Len], x.New), error(nil)
		if x.New == nil {
			same, err = s.base.Has(x.Off, p[:x.Len])
		}
		if !same || err != nil {
			return false, err
		}
		p = p[x.Len:]
	}
	return len(p) == 0, nil
}

// wrong returns an error for the deflate block at a bit of the stream.
func (d *decodeCheck) wrong(header int64, format string, args ...any) error {
	return &form.FormatError{InFile: true, Off: form.CompressionHeaderSize + header/8, What: "a deflate block", Err: fmt.Errorf(format, args...)}
}

// checkEnd inflates the last block, and checks that the stream ends behind it.
func checkEnd(f *form.File, streamEnd int64) error {
	n := len(f.Points) - 1
	window := f.Window(n)
	size := len(window) + int(f.Stated-f.Points[n].Out)
	buf := make([]byte, size+1)
	copy(buf, window)
	dec := f.Decoder()
	if err := dec.Reset(f.Points[n]); err != nil {
		return f.BlockError(uint64(n), err)
	}
	k, err := dec.Decode(buf, len(window))
	if len(window)+k != size || !errors.Is(err, io.EOF) {
		return f.BlockError(uint64(n), cmp.Or(err, form.ErrChanged))
	}
	at := form.CompressionHeaderSize + dec.InputOffset()
	var trailer [form.AdlerSize]byte
	if err := readat.Full(f.Plain, trailer[:], at); err != nil {
		return fmt.Errorf("datacenter: reading back the Adler-32: %w", err)
	}
	if got, want := binary.BigEndian.Uint32(trailer[:]), f.Adler(f.Stated); got != want || at+form.AdlerSize != streamEnd {
		return form.BadFile(at, "ends with the Adler-32 %08x: the data has %08x", got, want)
	}
	return nil
}
