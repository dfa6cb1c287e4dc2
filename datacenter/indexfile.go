package datacenter

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"

	"lorefs/datacenter/internal/words"
	"lorefs/internal/cache"
	"lorefs/internal/cursor"
)

// What an IndexStore keeps is the index in little-endian numbers:
//
//	layout, header as in the file, regions, streamEnd,
//	points and Adler-32 of the blocks, windows, deflate blocks,
//	flags of the tally, logical, steps,
//	zeros up to a multiple of 8 behind their number,
//	marks of the attributes, marks of the nodes, entries of each stored node
//
// The zeros are there so that what follows can be used where it was read.
//
// Names and keys are not in it: they are read again, from the last block or two.

// indexKind must change whenever the meaning of an index changes.
const indexKind = "data center index 5"

// identityEnds is the number of bytes at the start and at the end of the file that are part
// of its identity.
const identityEnds = 64 << 10

// identify returns an ID made from the file's size, ModTime and ends, and from the options
// on which the index depends.
func identify(r io.ReaderAt, size int64, opts Options) (cache.ID, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %v\n", size, opts.ModTime.UnixNano(), opts.Layout)
	head := min(size, identityEnds)
	for _, part := range []*io.SectionReader{
		io.NewSectionReader(r, 0, head),
		io.NewSectionReader(r, max(head, size-identityEnds), identityEnds),
	} {
		if _, err := io.Copy(h, part); err != nil {
			return cache.ID{}, fmt.Errorf("datacenter: %w", err)
		}
	}
	return cache.ID{Kind: indexKind, Of: [sha256.Size]byte(h.Sum(nil))}, nil
}

// restore reads the index from the store. It returns false if there is no index or a wrong
// one. Then the file has to be inflated again.
func (f *File) restore(opts Options) bool {
	if opts.Index == nil {
		return false
	}
	data, err := f.identity.Load(opts.Index)
	if errors.Is(err, iofs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = f.parseIndex(data)
	}
	if err == nil {
		err = f.checkIndex()
	}
	if err != nil {
		opts.Logger.Warn("the index of the data center is damaged and made anew", slog.Any("err", err))
		f.index = index{}
		return false
	}
	return true
}

// checkIndex checks the blocks that hold the names and the root.
func (f *File) checkIndex() error {
	if f.layout.Version() != f.fileVersion {
		return fmt.Errorf("of version %d: the file is of %d", f.layout.Version(), f.fileVersion)
	}
	if err := f.readTables(); err != nil {
		return err
	}
	return f.countErr
}

// remember has the index saved. Nothing changes an index any more, so that may happen later.
func (f *File) remember(opts Options) {
	if opts.Index != nil && f.countErr == nil && f.adlerErr == nil {
		opts.Later(func() { f.save(opts) })
	}
}

func (f *File) save(opts Options) {
	const rest = 1 << 20 // roughly the size of the other parts
	marks := 8 * (len(f.sharedAttributes.many) + len(f.sharedNodes.many))
	data := f.appendIndex(f.identity.Begin(len(f.windows) + 4*len(f.entries) + marks + rest))
	if err := f.identity.Save(opts.Index, cache.Seal(data)); err != nil {
		opts.Logger.Warn("the index of the data center can't be kept", slog.Any("err", err))
	}
}

// appendIndex is the inverse of parseIndex.
func (f *File) appendIndex(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, byte(f.layout))
	b = f.header.append(b, f.layout)
	b = le.AppendUint64(b, uint64(f.stated))
	b = f.regions.append(b)
	b = le.AppendUint64(b, uint64(f.streamEnd))
	b = f.appendCheckpoints(b)
	b = append(b, bit(f.sorted), bit(f.placeholders))
	b = le.AppendUint16(b, f.maxName)
	b = le.AppendUint64(b, uint64(f.maxNameAt))
	b = le.AppendUint64(b, uint64(f.logical))
	b = le.AppendUint64(b, uint64(f.steps))
	zeros := -(len(b) + 1) & 7
	b = append(b, byte(zeros))
	b = append(b, make([]byte, zeros)...)
	b = f.sharedAttributes.append(b)
	b = f.sharedNodes.append(b)
	return words.Append(b, f.entries)
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// parseIndex reads what appendIndex wrote. All sizes follow from the size of the data and
// from the regions, so it trusts no size in b. Most of the index stays in the memory of b.
func (f *File) parseIndex(b []byte) error {
	c := indexReader{cursor.New(b)}
	f.layout = Layout(c.U8())
	if f.layout < LayoutV3 || f.layout > LayoutV6X64 {
		return fmt.Errorf("unknown layout %d", f.layout)
	}
	if h := c.Bytes(int(f.layout.HeaderSize())); c.Err() == nil {
		f.header = parseHeader(h, f.layout)
	}
	if stated := int64(c.LE64()); c.Err() == nil && stated != f.stated {
		return fmt.Errorf("of %d bytes: the file has %d", stated, f.stated)
	}
	f.regions = c.regions(f.stated, f.layout)
	if f.streamEnd = int64(c.LE64()); f.streamEnd < 0 || f.streamEnd > f.size {
		c.Fail("the stream ends at %#x", f.streamEnd)
	}
	c.checkpoints(&f.checkpoints, f.stated)
	c.tally(&f.tally, &f.regions)
	return c.End()
}

// indexReader reads what appendIndex wrote, and checks that no offset is outside the file.
type indexReader struct{ *cursor.Cursor }

func (c indexReader) tally(t *tally, r *regions) {
	t.sorted, t.placeholders = c.U8() != 0, c.U8() != 0
	t.maxName, t.maxNameAt = c.LE16(), int64(c.LE64())
	t.logical, t.steps = int64(c.LE64()), int64(c.LE64())
	c.Bytes(int(c.U8()))
	t.sharedAttributes, t.sharedNodes = c.marks(r.attributes), c.marks(r.nodes)
	t.entries = words.Of[uint32](c.Bytes(int(addressable(r.nodes)) * 4))
	if c.Err() == nil && (len(t.entries) == 0 || t.entries[0] == 0) {
		c.Fail("no root")
	}
}

func (r *regions) append(b []byte) []byte {
	b = r.keys.append(b)
	b = appendSegments(b, r.attributes)
	b = appendSegments(b, r.nodes)
	b = r.values.append(b)
	b = r.names.append(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.footer))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.marker))
	return binary.LittleEndian.AppendUint64(b, uint64(r.end))
}

// regions reads what regions.append wrote for a file of size inflated bytes.
func (c indexReader) regions(size int64, l Layout) (r regions) {
	r.keys = c.span(size, keySize)
	r.attributes = c.segments(size, l.AttributeSize())
	r.nodes = c.segments(size, l.NodeSize())
	r.values = c.stringTable(size, valueBuckets)
	r.names = c.stringTable(size, nameBuckets)
	r.footer = int64(c.LE64())
	r.marker = int32(c.LE32())
	r.end = int64(c.LE64())
	if r.end < 0 || r.end > size || r.footer < footerMissing || r.footer > size {
		c.Fail("footer at %#x, end at %#x", r.footer, r.end)
	}
	return r
}

func (s span) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(s.off))
	return binary.LittleEndian.AppendUint32(b, s.count)
}

func (c indexReader) span(size, element int64) span {
	s := span{off: int64(c.LE64()), count: c.LE32()}
	if s.off < 0 || s.off > size || int64(s.count)*element > size-s.off {
		c.Fail("%d elements at %#x", s.count, s.off)
	}
	return s
}

func appendSegments(b []byte, segs []segment) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(segs)))
	for _, s := range segs {
		b = le.AppendUint64(b, uint64(s.off))
		b = le.AppendUint32(b, s.full)
		b = le.AppendUint32(b, s.used)
	}
	return b
}

func (c indexReader) segments(size, element int64) []segment {
	n := c.LE32()
	if n > maxSegments {
		c.Fail("%d segments", n)
		return nil
	}
	segs := make([]segment, 0, n)
	for range n {
		s := segment{off: int64(c.LE64()), full: c.LE32(), used: c.LE32()}
		if s.off < 0 || s.off > size || s.used > s.full || int64(s.full)*element > size-s.off {
			c.Fail("segment at %#x", s.off)
		}
		if c.Err() != nil {
			return nil
		}
		segs = append(segs, s)
	}
	return segs
}

func (t stringTable) append(b []byte) []byte {
	b = appendSegments(b, t.data)
	for _, s := range t.buckets {
		b = s.append(b)
	}
	return t.addrs.append(b)
}

func (c indexReader) stringTable(size int64, buckets int) stringTable {
	t := stringTable{data: c.segments(size, charSize), buckets: make([]span, buckets)}
	for i := range t.buckets {
		t.buckets[i] = c.span(size, stringSize)
	}
	t.addrs = c.span(size, addressSize)
	return t
}
