package splice

import (
	"cmp"
	"context"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/streamedit"
	"lorefs/internal/adler"
	"lorefs/internal/aes128"
	"lorefs/internal/cfb"
	"lorefs/internal/cores"
	"lorefs/internal/inflate"
	"lorefs/internal/readat"
)

// To encode a deflate block anew takes time in proportion to its data, about twice as long as to
// inflate it: even for half of the data that is a fraction of the time for the whole way. But new
// blocks compress a little worse, and all of them are held in memory. So at most a maxSplicedShare of
// the data is encoded anew, or freelySpliced bytes: one edit may touch most of a small file.
const (
	maxSplicedShare = 2 // as a divisor
	freelySpliced   = 8 << 20
)

// mostSpliced returns how many bytes of data may be in deflate blocks that have to be encoded anew.
func mostSpliced(f *form.File) int64 { return max(f.Stated/maxSplicedShare, freelySpliced) }

// errTooMany says that edits touch more than mostSpliced bytes, or that splicing them would make a
// stream that is not worth it. Nothing was written then.
var errTooMany = errors.New("datacenter: too many deflate blocks are touched")

// spliced describes a file that splice wrote. It has what the index of the new file says of
// the stream.
type spliced struct {
	form.Checkpoints
	key       form.Key
	stated    int64 // inflated size
	size      int64 // of the file
	streamEnd int64
	// touched is the number of deflate blocks that were encoded anew.
	touched int
	// doubtful are the checkpoints that may be wrong if splicing is: those of blocks that are not
	// all old bits behind an old window.
	doubtful []bool
	// kept is the number of bytes at the start of the file that are copied as they are. plain has
	// the checksums of the plain text behind them.
	kept  int64
	plain []uint32
	// plan has the data as it is wanted: that of base, the old file, with the edits.
	plan *streamedit.Plan
	base *form.File
}

// spliceData writes to w the file that f becomes when edits are made in its inflated data. It
// encodes anew only the deflate blocks that the edits touch. It writes nothing if it returns
// errTooMany.
func spliceData(ctx context.Context, f *form.File, w io.Writer, edits []streamedit.Edit) (*spliced, error) {
	if len(f.DeflateBlocks) == 0 {
		return nil, errTooMany
	}
	stream := f.DeflateStream()
	plan, err := streamedit.Make(ctx, &streamedit.Stream{
		Deflate: stream, Size: stream.Size(), Blocks: f.DeflateBlocks, Data: func(off int64, p []byte) error {
			_, err := f.Straddle(off, p)
			return err
		},
	}, edits, f.Points, mostSpliced(f))
	if errors.Is(err, streamedit.ErrTooMany) {
		return nil, errTooMany
	}
	if err != nil {
		return nil, fmt.Errorf("datacenter: splicing: %w", err)
	}
	s := &spliced{key: f.Key, stated: plan.Size(), touched: plan.Touched, plan: plan, base: f}
	s.DeflateBlocks = plan.Blocks
	end := plan.Blocks[len(plan.Blocks)-1].Header
	s.streamEnd = form.CompressionHeaderSize + (end+7)/8 + form.AdlerSize
	s.size = s.streamEnd
	if s.stated > form.MaxSize || s.stated > form.MaxFree+form.MaxRatio*s.size {
		return nil, errTooMany
	}
	if err := s.moveBlocks(ctx, f, plan); err != nil {
		return nil, err
	}
	if err := s.write(ctx, f, w, plan); err != nil {
		return nil, fmt.Errorf("datacenter: splicing: %w", err)
	}
	return s, nil
}

// movedBlock is a block of the new file.
type movedBlock struct {
	point    inflate.Point
	window   []byte
	size     int64
	adler    uint32
	doubtful bool
}

// moveBlocks makes the checkpoints of the new file from those of f.
func (s *spliced) moveBlocks(ctx context.Context, f *form.File, plan *streamedit.Plan) error {
	moved := make([]movedBlock, len(f.Points))
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range cores.Count() {
		group.Go(func() error {
			var buf []byte
			return cores.Take(ctx, &next, len(moved), func(n int) (err error) {
				i := len(moved) - 1 - n // the last blocks were used last, so they may be cached
				moved[i], buf, err = moveBlock(f, plan, i, buf)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.Windows = make([]byte, 0, len(f.Windows))
	for _, b := range moved {
		switch {
		case b.size > form.MaxBlockSize:
			return errTooMany
		case b.size > 0:
			s.AddBlock(b.point, b.window)
			s.Adlers = append(s.Adlers, b.adler)
			s.doubtful = append(s.doubtful, b.doubtful)
		}
	}
	if len(s.Points) == 0 {
		return errTooMany // nothing is left
	}
	s.Locate(s.stated)
	for first, next := range plan.Anew() {
		from, to := plan.Blocks[first].Out, plan.Blocks[next].Out
		n, _ := s.BlockAt(from)
		for last, _ := s.BlockAt(max(to-1, from)); n <= last && n < uint64(len(s.doubtful)); n++ {
			s.doubtful[n] = true
		}
	}
	return nil
}

// moveBlock returns what becomes of block i. buf is scratch, which it returns with more room if that
// was too small.
func moveBlock(f *form.File, plan *streamedit.Plan, i int, buf []byte) (b movedBlock, _ []byte, err error) {
	begin, end := f.Points[i].Out, f.End(i, f.Stated)
	from, to := plan.Cut(begin), plan.Cut(end)
	if end == f.Stated {
		to = plan.Size() // what is appended belongs to the last block
	}
	b = movedBlock{window: f.Window(i), size: to - from, adler: f.Adlers[i]}
	if b.point, err = plan.Point(f.Points[i]); err != nil {
		return b, buf, fmt.Errorf("datacenter: splicing: %w", err)
	}
	if !plan.Untouched(begin-form.WindowSize-1, begin) {
		b.doubtful = true
		if b.window, err = plan.Data(nil, max(from-form.WindowSize, 0), from); err != nil {
			return b, buf, err
		}
	}
	if (b.size != end-begin || !plan.Untouched(begin, end)) && b.size <= form.MaxBlockSize {
		b.doubtful = true
		b.adler, buf, err = adlerOf(f, plan, i, from, to, buf)
	}
	return b, buf, err
}

// adlerOf returns the Adler-32 of what becomes of block i, which lies between two offsets then. buf is
// scratch, as for moveBlock.
func adlerOf(f *form.File, plan *streamedit.Plan, i int, from, to int64, buf []byte) (_ uint32, _ []byte, err error) {
	begin, end := f.Points[i].Out, f.End(i, f.Stated)
	if to-from != end-begin || plan.Moves(begin, end) {
		if buf, err = plan.Data(buf, from, to); err != nil {
			return 0, buf, err
		}
		return adler.Checksum(buf), buf, nil
	}
	// Every byte is where it was, and few have changed.
	sum, off := f.Adlers[i], begin
	for x := range plan.Parts(from, to) {
		if x.New != nil {
			if buf, err = f.Straddle(off, slices.Grow(buf[:0], len(x.New))[:len(x.New)]); err != nil {
				return 0, buf, err
			}
			sum = adler.Replace(sum, end-off, buf, x.New)
		}
		off += x.Len
	}
	return sum, buf, nil
}

// write writes the new file: its start as it is, as far as nothing changes, and the rest
// encrypted anew. Reading, encrypting and writing go on at the same time.
func (s *spliced) write(ctx context.Context, f *form.File, to io.Writer, plan *streamedit.Plan) error {
	written := newBackground(ctx, to)
	err := s.encrypt(ctx, f, written, plan)
	return cmp.Or(written.close(), err)
}

func (s *spliced) encrypt(ctx context.Context, f *form.File, to io.Writer, plan *streamedit.Plan) error {
	block, err := aes128.New(s.key.Key)
	if err != nil {
		return err
	}
	iv, err := s.copyStart(f, to, plan)
	if err != nil {
		return err
	}
	encrypted := newBackground(ctx, cfb.NewWriter(to, block, iv))
	plain := &sumWriter{w: encrypted}
	err = s.writePlain(f, plain, plan)
	s.plain = plain.sums
	return cmp.Or(encrypted.close(), err)
}

// copyStart copies the start of the old file that stays as it is. It returns the last block of
// cipher text, with which encryption goes on. The first bytes are the size of the data: if that
// changes, nothing stays.
func (s *spliced) copyStart(f *form.File, to io.Writer, plan *streamedit.Plan) (iv [aes.BlockSize]byte, err error) {
	if s.stated == f.Stated {
		s.kept = (form.CompressionHeaderSize + plan.Kept()) &^ (aes.BlockSize - 1)
	}
	if s.kept == 0 {
		return s.key.IV, nil
	}
	if n, err := io.CopyBuffer(to, io.NewSectionReader(f.Src, 0, s.kept), make([]byte, plainPiece)); n < s.kept {
		return iv, fmt.Errorf("reading the old file: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return iv, readat.Full(f.Src, iv[:], s.kept-aes.BlockSize)
}

// writePlain writes the plain text of the new file behind the first bytes, which are kept.
func (s *spliced) writePlain(f *form.File, w io.Writer, plan *streamedit.Plan) error {
	skip := s.kept - form.CompressionHeaderSize
	if s.kept == 0 {
		head := binary.LittleEndian.AppendUint32(nil, uint32(s.stated))
		if _, err := w.Write(append(head, f.Zlib[:]...)); err != nil {
			return err
		}
		skip = 0
	}
	if err := plan.Write(w, skip); err != nil {
		return err
	}
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, s.Adler(s.stated)))
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// plainPiece is the number of bytes of plain text that have one checksum.
const plainPiece = 256 << 10

// sumWriter takes the CRC-32C of each plainPiece bytes that it writes.
type sumWriter struct {
	w    io.Writer
	sums []uint32
	n    int
}

// Write implements [io.Writer].
func (s *sumWriter) Write(p []byte) (int, error) {
	for b := p; len(b) > 0; {
		at := s.n % plainPiece
		if at == 0 {
			s.sums = append(s.sums, 0)
		}
		part := b[:min(len(b), plainPiece-at)]
		sum := &s.sums[len(s.sums)-1]
		*sum = crc32.Update(*sum, castagnoli, part)
		s.n += len(part)
		b = b[len(part):]
	}
	return s.w.Write(p)
}
