package datacenter

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io"

	"lorefs/internal/cfb"
	"lorefs/internal/readat"
	"lorefs/internal/splice"
)

// maxSpliced is the number of deflate blocks that may have to be encoded anew.
const maxSpliced = 600

// errTooMany says that edits touch more than maxSpliced deflate blocks, or that splicing them
// would make a stream that is not worth it. Nothing was written then: writing the whole file
// anew is about as fast.
var errTooMany = errors.New("datacenter: too many deflate blocks are touched")

// spliced describes a file that splice wrote. It has what the index of the new file says of
// the stream.
type spliced struct {
	checkpoints
	key       Key
	stated    int64 // inflated size
	size      int64 // of the file
	streamEnd int64
	// touched is the number of deflate blocks that were encoded anew.
	touched int
	// doubtful are the blocks that may be wrong if splicing is: those that are not all old
	// bits behind an old window.
	doubtful []bool
}

// splice writes to w the file that f becomes when edits are made in its inflated data. It
// encodes anew only the deflate blocks that the edits touch. It writes nothing if it returns
// errTooMany.
func (f *File) splice(ctx context.Context, w io.Writer, edits []splice.Edit) (*spliced, error) {
	if len(f.deflateBlocks) == 0 {
		return nil, errTooMany
	}
	stream := f.deflateStream()
	plan, err := splice.Make(ctx, &splice.Stream{
		Deflate: stream, Size: stream.Size(), Blocks: f.deflateBlocks, Data: f.readData,
	}, edits, f.points, maxSpliced)
	if errors.Is(err, splice.ErrTooMany) {
		return nil, errTooMany
	}
	if err != nil {
		return nil, fmt.Errorf("datacenter: splicing: %w", err)
	}
	s := &spliced{key: f.key, stated: plan.Size(), touched: plan.Touched}
	s.deflateBlocks = plan.Blocks
	end := plan.Blocks[len(plan.Blocks)-1].Header
	s.streamEnd = compressionHeaderSize + (end+7)/8 + adlerSize
	s.size = s.streamEnd
	if s.stated > maxSize || s.stated > maxFree+maxRatio*s.size {
		return nil, errTooMany
	}
	if err := s.moveBlocks(f, plan); err != nil {
		return nil, err
	}
	if err := s.write(w, plan, f.zlib); err != nil {
		return nil, fmt.Errorf("datacenter: splicing: %w", err)
	}
	return s, nil
}

// readData reads inflated data.
func (f *File) readData(off int64, p []byte) error {
	_, err := f.straddle(off, p)
	return err
}

// moveBlocks makes the checkpoints of the new file from those of f.
func (s *spliced) moveBlocks(f *File, plan *splice.Plan) error {
	for i, p := range f.points {
		end := f.end(i, f.stated)
		from, to := plan.Cut(p.Out), plan.Cut(end)
		if end == f.stated {
			to = s.stated // what is appended belongs to the last block
		}
		if from == to {
			continue
		}
		if to-from > maxBlockSize {
			return errTooMany
		}
		if err := s.moveBlock(f, plan, i, from, to); err != nil {
			return err
		}
	}
	if len(s.points) == 0 {
		return errTooMany // nothing is left
	}
	s.locate(s.stated)
	for from, to := range plan.Anew() {
		first, _ := s.blockAt(from)
		last, _ := s.blockAt(max(to-1, from))
		for n := first; n <= last && n < uint64(len(s.doubtful)); n++ {
			s.doubtful[n] = true
		}
	}
	return nil
}

// moveBlock adds block i of f, which reaches from one offset to another in the new data.
func (s *spliced) moveBlock(f *File, plan *splice.Plan, i int, from, to int64) error {
	old := f.points[i]
	p, err := plan.Point(old)
	if err != nil {
		return fmt.Errorf("datacenter: splicing: %w", err)
	}
	doubtful := false
	window := f.window(i)
	if !plan.Untouched(old.Out-windowSize-1, old.Out) {
		doubtful = true
		if window, err = plan.Data(max(from-windowSize, 0), from); err != nil {
			return err
		}
	}
	sum, adler := f.sums[i], f.adlers[i]
	if end := f.end(i, f.stated); to-from != end-old.Out || !plan.Untouched(old.Out, end) {
		doubtful = true
		data, err := plan.Data(from, to)
		if err != nil {
			return err
		}
		sum, adler = crc32.Checksum(data, castagnoli), adler32.Checksum(data)
	}
	s.addBlock(p, window)
	s.sums, s.adlers = append(s.sums, sum), append(s.adlers, adler)
	s.doubtful = append(s.doubtful, doubtful)
	return nil
}

// write writes the new file.
func (s *spliced) write(to io.Writer, plan *splice.Plan, zlib [2]byte) error {
	block, err := aes.NewCipher(s.key.Key[:])
	if err != nil {
		return err
	}
	w := cfb.NewWriter(to, block, s.key.IV)
	head := binary.LittleEndian.AppendUint32(nil, uint32(s.stated))
	if _, err := w.Write(append(head, zlib[:]...)); err != nil {
		return err
	}
	if _, err := plan.WriteTo(w); err != nil {
		return err
	}
	_, err = w.Write(binary.BigEndian.AppendUint32(nil, s.adler(s.stated)))
	return err
}

// check reads back the file that splice wrote, whose SHA-256 should be sum. It decodes what was
// encoded anew through the new checkpoints and compares it with what was wanted.
func (s *spliced) check(ctx context.Context, r io.ReaderAt, sum [sha256.Size]byte) error {
	h := sha256.New()
	if n, err := io.Copy(h, io.NewSectionReader(r, 0, s.size+1)); err != nil || n != s.size {
		return fmt.Errorf("datacenter: reading back %d of %d bytes: %w", n, s.size, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	if [sha256.Size]byte(h.Sum(nil)) != sum {
		return fmt.Errorf("datacenter: what is read back is not what was written")
	}
	c, err := unlock(r, s.size, s.key)
	if err != nil {
		return err
	}
	if c.stated != s.stated {
		return badFile(0, "states %d inflated bytes instead of %d", c.stated, s.stated)
	}
	f := newFile(c, nil)
	f.checkpoints = s.checkpoints
	for n, doubtful := range s.doubtful {
		if err := ctx.Err(); err != nil {
			return err
		}
		if doubtful {
			if _, err := f.inflateBlock(uint64(n)); err != nil {
				return err
			}
		}
	}
	return f.checkEnd(s.streamEnd)
}

// checkEnd inflates the last block, and checks that the stream ends behind it.
func (f *File) checkEnd(streamEnd int64) error {
	n := len(f.points) - 1
	window := f.window(n)
	size := len(window) + int(f.stated-f.points[n].Out)
	buf := make([]byte, size+1)
	copy(buf, window)
	dec := f.decoder()
	if err := dec.Reset(f.points[n]); err != nil {
		return f.blockError(uint64(n), err)
	}
	k, err := dec.Decode(buf, len(window))
	if len(window)+k != size || !errors.Is(err, io.EOF) {
		return f.blockError(uint64(n), cmp.Or(err, ErrChanged))
	}
	at := compressionHeaderSize + dec.InputOffset()
	var trailer [adlerSize]byte
	if err := readat.Full(f.plain, trailer[:], at); err != nil {
		return fmt.Errorf("datacenter: reading back the Adler-32: %w", err)
	}
	if got, want := binary.BigEndian.Uint32(trailer[:]), f.adler(f.stated); got != want || at+adlerSize != streamEnd {
		return badFile(at, "ends with the Adler-32 %08x: the data has %08x", got, want)
	}
	return nil
}
