package form

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
//	layout, header as in the file, regions, StreamEnd,
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
	data, err := f.Identity.Load(opts.Index)
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
		f.Index = Index{}
		return false
	}
	return true
}

// checkIndex checks the blocks that hold the names and the root.
func (f *File) checkIndex() error {
	if f.Layout.Version() != f.fileVersion {
		return fmt.Errorf("of version %d: the file is of %d", f.Layout.Version(), f.fileVersion)
	}
	if err := f.readTables(); err != nil {
		return err
	}
	return f.CountErr
}

// remember has the index saved. Nothing changes an index any more, so that may happen later.
func (f *File) remember(opts Options) {
	if opts.Index != nil && f.CountErr == nil && f.AdlerErr == nil {
		opts.Later(func() { f.save(opts) })
	}
}

func (f *File) save(opts Options) {
	const rest = 1 << 20 // roughly the size of the other parts
	marks := 8 * (len(f.SharedAttributes.Many) + len(f.SharedNodes.Many))
	data := f.appendIndex(f.Identity.Begin(len(f.Windows) + 4*len(f.Entries) + marks + rest))
	if err := f.Identity.Save(opts.Index, cache.Seal(data)); err != nil {
		opts.Logger.Warn("the index of the data center can't be kept", slog.Any("err", err))
	}
}

// appendIndex is the inverse of parseIndex.
func (f *File) appendIndex(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, byte(f.Layout))
	b = f.Header.Append(b, f.Layout)
	b = le.AppendUint64(b, uint64(f.Stated))
	b = f.Regions.append(b)
	b = le.AppendUint64(b, uint64(f.StreamEnd))
	b = f.appendCheckpoints(b)
	b = append(b, Bit(f.Sorted), Bit(f.Placeholders))
	b = le.AppendUint16(b, f.MaxName)
	b = le.AppendUint64(b, uint64(f.maxNameAt))
	b = le.AppendUint64(b, uint64(f.Logical))
	b = le.AppendUint64(b, uint64(f.Steps))
	zeros := -(len(b) + 1) & 7
	b = append(b, byte(zeros))
	b = append(b, make([]byte, zeros)...)
	b = f.SharedAttributes.append(b)
	b = f.SharedNodes.append(b)
	return words.Append(b, f.Entries)
}

// Bit returns 1 for true.
func Bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// parseIndex reads what appendIndex wrote. All sizes follow from the size of the data and
// from the regions, so it trusts no size in b. Most of the index stays in the memory of b.
func (f *File) parseIndex(b []byte) error {
	c := indexReader{cursor.New(b)}
	f.Layout = Layout(c.U8())
	if f.Layout < LayoutV3 || f.Layout > LayoutV6X64 {
		return fmt.Errorf("unknown layout %d", f.Layout)
	}
	if h := c.Bytes(int(f.Layout.HeaderSize())); c.Err() == nil {
		f.Header = parseHeader(h, f.Layout)
	}
	if stated := int64(c.LE64()); c.Err() == nil && stated != f.Stated {
		return fmt.Errorf("of %d bytes: the file has %d", stated, f.Stated)
	}
	f.Regions = c.regions(f.Stated, f.Layout)
	if f.StreamEnd = int64(c.LE64()); f.StreamEnd < 0 || f.StreamEnd > f.Size {
		c.Fail("the stream ends at %#x", f.StreamEnd)
	}
	c.checkpoints(&f.Checkpoints, f.Stated)
	c.tally(&f.Tally, &f.Regions)
	return c.End()
}

// indexReader reads what appendIndex wrote, and checks that no offset is outside the file.
type indexReader struct{ *cursor.Cursor }

func (c indexReader) tally(t *Tally, r *Regions) {
	t.Sorted, t.Placeholders = c.U8() != 0, c.U8() != 0
	t.MaxName, t.maxNameAt = c.LE16(), int64(c.LE64())
	t.Logical, t.Steps = int64(c.LE64()), int64(c.LE64())
	c.Bytes(int(c.U8()))
	t.SharedAttributes, t.SharedNodes = c.marks(r.Attributes), c.marks(r.Nodes)
	t.Entries = words.Of[uint32](c.Bytes(int(Addressable(r.Nodes)) * 4))
	if c.Err() == nil && (len(t.Entries) == 0 || t.Entries[0] == 0) {
		c.Fail("no root")
	}
}

func (r *Regions) append(b []byte) []byte {
	b = r.Keys.append(b)
	b = appendSegments(b, r.Attributes)
	b = appendSegments(b, r.Nodes)
	b = r.Values.append(b)
	b = r.Names.append(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Footer))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Marker))
	return binary.LittleEndian.AppendUint64(b, uint64(r.End))
}

// Regions reads what regions.append wrote for a file of size inflated bytes.
func (c indexReader) regions(size int64, l Layout) (r Regions) {
	r.Keys = c.span(size, KeySize)
	r.Attributes = c.segments(size, l.AttributeSize())
	r.Nodes = c.segments(size, l.NodeSize())
	r.Values = c.stringTable(size, ValueBuckets)
	r.Names = c.stringTable(size, NameBuckets)
	r.Footer = int64(c.LE64())
	r.Marker = int32(c.LE32())
	r.End = int64(c.LE64())
	if r.End < 0 || r.End > size || r.Footer < footerMissing || r.Footer > size {
		c.Fail("footer at %#x, end at %#x", r.Footer, r.End)
	}
	return r
}

func (s Span) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Off))
	return binary.LittleEndian.AppendUint32(b, s.Count)
}

func (c indexReader) span(size, element int64) Span {
	s := Span{Off: int64(c.LE64()), Count: c.LE32()}
	if s.Off < 0 || s.Off > size || int64(s.Count)*element > size-s.Off {
		c.Fail("%d elements at %#x", s.Count, s.Off)
	}
	return s
}

func appendSegments(b []byte, segs []Segment) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(segs)))
	for _, s := range segs {
		b = le.AppendUint64(b, uint64(s.Off))
		b = le.AppendUint32(b, s.Full)
		b = le.AppendUint32(b, s.Used)
	}
	return b
}

func (c indexReader) segments(size, element int64) []Segment {
	n := c.LE32()
	if n > MaxSegments {
		c.Fail("%d segments", n)
		return nil
	}
	segs := make([]Segment, 0, n)
	for range n {
		s := Segment{Off: int64(c.LE64()), Full: c.LE32(), Used: c.LE32()}
		if s.Off < 0 || s.Off > size || s.Used > s.Full || int64(s.Full)*element > size-s.Off {
			c.Fail("segment at %#x", s.Off)
		}
		if c.Err() != nil {
			return nil
		}
		segs = append(segs, s)
	}
	return segs
}

func (t StringTable) append(b []byte) []byte {
	b = appendSegments(b, t.Data)
	for _, s := range t.Buckets {
		b = s.append(b)
	}
	return t.Addrs.append(b)
}

func (c indexReader) stringTable(size int64, buckets int) StringTable {
	t := StringTable{Data: c.segments(size, CharSize), Buckets: make([]Span, buckets)}
	for i := range t.Buckets {
		t.Buckets[i] = c.span(size, StringSize)
	}
	t.Addrs = c.span(size, AddressSize)
	return t
}
