package encoding

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"sort"
	"strings"
	"sync/atomic"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
	"lorefs/internal/flight"
	"lorefs/internal/readat"
)

const encoding format.Name = "encoding"

const (
	encodingHeaderSize = 22
	// pageRefSize is the size of first_key:16 md5:16.
	pageRefSize = 32
	// encodedEntrySize is the size of key:16 spec:4 size:5.
	encodedEntrySize = 25
	// noSpec marks the unused end of a page.
	noSpec = 0xFFFFFFFF
	// maxSpecs bounds the block of ESpecs, in bytes.
	maxSpecs = 1 << 28
	// pageSlots is how many pages of a table are kept, usually 32 MiB.
	pageSlots = 1 << 13
)

// ContentEntry is a content and its encoded forms.
type ContentEntry struct {
	CKey keys.Key
	// Size is the size of the content.
	Size int64
	// EKeys are the encoding keys of its forms, at least one.
	EKeys []keys.Key
}

// EncodedEntry says how a file is encoded.
type EncodedEntry struct {
	EKey keys.Key
	// Spec is the ESpec, for blte.ParseSpec.
	Spec string
	// Size is the encoded size.
	Size int64
}

// File is the encoding file, which leads from content keys to encoding keys. It reads
// pages when it needs them, and checks each page when it reads it. It is safe for parallel
// use.
type File struct {
	r io.ReaderAt
	// OwnSpec is the ESpec of the encoding file itself.
	OwnSpec string

	// distant is r if each read of it takes long, else nil.
	distant PageSource

	specs            []byte
	specOffs         []uint32
	content, encoded pageTable
	// encodedReads and encodedRead are for the table of encoded pages of a distant file, which
	// few need.
	encodedReads flight.Group[struct{}, struct{}]
	encodedRead  atomic.Bool
}

// PageSource is implemented by encoding files that lie far away. Their pages are read without
// what is beside them, and many at once.
type PageSource interface {
	// ReadPages fills p with the pages at off. check proves them, and tells a host that sends
	// something else from one that has them.
	ReadPages(ctx context.Context, p []byte, off int64, check func([]byte) error) error
}

// maxPagesGap is how many bytes of pages that nobody wants are read from far away with those around
// them, because another request would take longer.
const maxPagesGap = 64 << 10

// maxPagesRead is how many bytes of pages are read at once from far away.
const maxPagesRead = 8 << 20

// pageTable is the table of contents of one kind of pages.
type pageTable struct {
	refs []byte
	n    int // pages
	off  int64
	size int // of a page, in bytes
	// slots keeps the pages that were read last, page i in slot i modulo their number.
	slots []atomic.Pointer[loadedPage]
}

type loadedPage struct {
	n    int
	data []byte
}

func (t *pageTable) len() int           { return t.n }
func (t *pageTable) first(i int) []byte { return t.refs[i*pageRefSize:][:16] }
func (t *pageTable) sum(i int) []byte   { return t.refs[i*pageRefSize+16:][:16] }
func (t *pageTable) offset(i int) int64 { return t.off + int64(i)*int64(t.size) }

// New opens the decoded encoding file in the first size bytes of r.
func New(ctx context.Context, r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, min(size, encodingHeaderSize))
	if err := readat.Full(readat.Bound(ctx, r), head, 0); err != nil {
		return nil, fmt.Errorf("casc: encoding: reading the header: %w", err)
	}
	c := cursor.New(head)
	magic, version, cSize, eSize := c.Bytes(2), c.U8(), c.U8(), c.U8()
	cPage, ePage, cPages, ePages, zero, specs := c.BE16(), c.BE16(), c.BE32(), c.BE32(), c.U8(), c.BE32()
	if err := encoding.Ends(c, 0); err != nil {
		return nil, err
	}
	switch {
	case string(magic) != "EN":
		return nil, encoding.Bad(0, "found %q instead of %q", magic, "EN")
	case version != 1 || cSize != 16 || eSize != 16 || zero != 0:
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, encoding.Bad(2, "version %d with keys of %d and %d bytes", version, cSize, eSize))
	case cPage == 0 || ePage == 0:
		return nil, encoding.Bad(5, "pages of 0 bytes")
	}
	e := &File{r: r}
	e.distant, _ = r.(PageSource)
	e.content.size, e.encoded.size = int(cPage)<<10, int(ePage)<<10
	return e, e.open(ctx, size, int64(specs), int64(cPages), int64(ePages))
}

// open checks that the parts fit, and reads everything but the pages.
func (e *File) open(ctx context.Context, size, specs, cPages, ePages int64) error {
	e.content.off = encodingHeaderSize + specs + cPages*pageRefSize
	e.encoded.off = e.content.off + cPages*int64(e.content.size) + ePages*pageRefSize
	end := e.encoded.off + ePages*int64(e.encoded.size)
	if end > size || specs > maxSpecs {
		return encoding.Bad(9, "%d bytes of specs, %d and %d pages end at %d, the file at %d", specs, cPages, ePages, end, size)
	}
	if size-end > maxSpecs {
		return encoding.Bad(end, "%d bytes of the file's own spec", size-end)
	}
	e.content.n, e.encoded.n = int(cPages), int(ePages)
	e.specs = make([]byte, specs)
	if err := e.readPart(ctx, e.specs, encodingHeaderSize); err != nil {
		return err
	}
	if err := e.readTable(ctx, &e.content); err != nil {
		return err
	}
	if e.distant != nil {
		return e.findSpecs()
	}
	own := make([]byte, size-end)
	if err := e.readPart(ctx, own, end); err != nil {
		return err
	}
	e.OwnSpec = strings.TrimRight(string(own), "\x00")
	if err := e.findSpecs(); err != nil {
		return err
	}
	return e.loadEncoded(ctx)
}

func (e *File) readPart(ctx context.Context, b []byte, off int64) error {
	if err := readat.Full(readat.Bound(ctx, e.r), b, off); err != nil {
		return fmt.Errorf("casc: encoding: reading the contents: %w", err)
	}
	return nil
}

// findSpecs finds where specs begin.
func (e *File) findSpecs() error {
	if n := len(e.specs); n > 0 && e.specs[n-1] != 0 {
		return encoding.Bad(encodingHeaderSize+int64(n), "the last spec has no end")
	}
	for off := 0; off < len(e.specs); off += bytes.IndexByte(e.specs[off:], 0) + 1 {
		e.specOffs = append(e.specOffs, uint32(off))
	}
	return nil
}

// readTable reads a table, and checks the order of the pages.
func (e *File) readTable(ctx context.Context, t *pageTable) error {
	refs := make([]byte, t.n*pageRefSize)
	if err := e.readPart(ctx, refs, t.off-int64(len(refs))); err != nil {
		return err
	}
	t.refs, t.slots = refs, make([]atomic.Pointer[loadedPage], min(t.len(), pageSlots))
	for i := 1; i < t.len(); i++ {
		if bytes.Compare(t.first(i-1), t.first(i)) >= 0 {
			return encoding.Bad(t.off-int64(len(t.refs))+int64(i*pageRefSize), "page %d is not behind the one before it", i)
		}
	}
	return nil
}

// loadEncoded reads the table of encoded pages, unless that was done.
func (e *File) loadEncoded(ctx context.Context) error {
	if e.encodedRead.Load() {
		return nil
	}
	_, err := e.encodedReads.Do(ctx, struct{}{}, func(ctx context.Context) (struct{}, error) {
		// Another caller may have read it between our look and our turn.
		if e.encodedRead.Load() {
			return struct{}{}, nil
		}
		err := e.readTable(ctx, &e.encoded)
		e.encodedRead.Store(err == nil)
		return struct{}{}, err
	})
	return err
}

// Specs returns the number of ESpecs.
func (e *File) Specs() int { return len(e.specOffs) }

// Spec is ESpec i.
func (e *File) Spec(i int) string {
	b := e.specs[e.specOffs[i]:]
	return string(b[:bytes.IndexByte(b, 0)])
}

// plainReader reads without checking MD5s of chunks. The pages are usually one large plain
// chunk of the encoding file, but each page has an MD5 of its own, so reading and checking
// one page is enough.
type plainReader interface {
	ReadPlainAt(ctx context.Context, p []byte, off int64) bool
}

// page returns page i of a table. It reads the page and checks its MD5 unless it is kept.
func (e *File) page(ctx context.Context, t *pageTable, i int) ([]byte, error) {
	slot := &t.slots[i%len(t.slots)]
	if p := slot.Load(); p != nil && p.n == i {
		return p.data, nil
	}
	data := make([]byte, t.size)
	if err := e.readPage(ctx, t, i, data); err != nil {
		return nil, err
	}
	slot.Store(&loadedPage{i, data})
	return data, nil
}

// readPage reads page i of a table into data, and checks its MD5. From far away it reads as
// many pages as data has room for.
func (e *File) readPage(ctx context.Context, t *pageTable, i int, data []byte) error {
	off := t.offset(i)
	if e.distant != nil {
		if err := e.distant.ReadPages(ctx, data, off, func(b []byte) error { return t.prove(b, i) }); err != nil {
			return fmt.Errorf("casc: encoding: offset %#x: reading %d pages from %d on: %w", off, len(data)/t.size, i, err)
		}
		return nil
	}
	if r, ok := e.r.(plainReader); ok && r.ReadPlainAt(ctx, data, off) && t.prove(data, i) == nil {
		return nil
	}
	if err := readat.Full(readat.Bound(ctx, e.r), data, off); err != nil {
		return fmt.Errorf("casc: encoding: offset %#x: reading page %d: %w", off, i, err)
	}
	return t.prove(data, i)
}

// prove checks the MD5s of pages from i on.
func (t *pageTable) prove(data []byte, i int) error {
	for ; len(data) > 0; data, i = data[t.size:], i+1 {
		if sum := keys.Of(data[:t.size]); !bytes.Equal(sum[:], t.sum(i)) {
			return encoding.Bad(t.offset(i), "page %d has the MD5 %v, stated is %x", i, sum, t.sum(i))
		}
	}
	return nil
}

// atOnce returns how many pages of a table are best read at once.
func (e *File) atOnce(t *pageTable) int {
	if e.distant == nil {
		return 1
	}
	return max(1, maxPagesRead/t.size)
}

// pages reads pages from to to of a table, one after another into the same bytes. It does
// not keep them, so that reading all pages does not push out those that are kept.
func (e *File) pages(ctx context.Context, t *pageTable, from, to int) iter.Seq2[tablePage, error] {
	return func(yield func(tablePage, error) bool) {
		from, to := max(from, 0), min(to, t.len())
		step := max(1, min(e.atOnce(t), to-from))
		data := make([]byte, step*t.size)
		for i := from; i < to; i += step {
			data = data[:min(step, to-i)*t.size]
			if err := e.readPage(ctx, t, i, data); err != nil {
				yield(tablePage{}, err)
				return
			}
			for at := 0; at < len(data); at += t.size {
				if !yield(tablePage{data[at : at+t.size], t.offset(i) + int64(at)}, nil) {
					return
				}
			}
		}
	}
}

// tablePage is a page and its offset.
type tablePage struct {
	data []byte
	off  int64
}

// find returns the page that may have the first key that begins with prefix, or -1 if all
// keys are behind it.
func (t *pageTable) find(prefix []byte) int {
	return sort.Search(t.len(), func(i int) bool { return bytes.Compare(t.first(i)[:len(prefix)], prefix) > 0 }) - 1
}

// Find looks for a content key. If the encoding file does not have it, the error matches
// ErrNotFound.
func (e *File) Find(ctx context.Context, ckey keys.Key) (ContentEntry, error) {
	row, _, err := e.FindRow(ctx, ckey)
	if err != nil {
		return ContentEntry{}, err
	}
	return row.entry(), nil
}

// FindEncoded looks for an encoding key. prefix is the key or its first bytes. If it is not
// there the error matches ErrNotFound.
func (e *File) FindEncoded(ctx context.Context, prefix []byte) (EncodedEntry, error) {
	prefix = prefix[:min(len(prefix), len(keys.Key{}))]
	if err := e.loadEncoded(ctx); err != nil {
		return EncodedEntry{}, err
	}
	for i := max(e.encoded.find(prefix), 0); i < e.encoded.len(); i++ {
		if bytes.Compare(e.encoded.first(i)[:len(prefix)], prefix) > 0 {
			break
		}
		page, err := e.page(ctx, &e.encoded, i)
		if err != nil {
			return EncodedEntry{}, err
		}
		n := countEncoded(page)
		at := sort.Search(n, func(i int) bool { return bytes.Compare(page[i*encodedEntrySize:][:len(prefix)], prefix) >= 0 })
		if at < n && bytes.HasPrefix(page[at*encodedEntrySize:], prefix) {
			return e.encodedEntry(page[at*encodedEntrySize:], e.encoded.off+int64(i*e.encoded.size+at*encodedEntrySize))
		}
	}
	return EncodedEntry{}, fmt.Errorf("encoding key %x is not in the encoding file: %w", prefix, format.ErrNotFound)
}

// countEncoded returns the number of entries before the unused end of a page.
func countEncoded(page []byte) int {
	return sort.Search(len(page)/encodedEntrySize, func(i int) bool {
		b := page[i*encodedEntrySize:]
		return binary.BigEndian.Uint32(b[16:]) == noSpec || keys.Key(b).IsZero()
	})
}

func (e *File) encodedEntry(b []byte, off int64) (EncodedEntry, error) {
	row, err := e.encodedRow(b, off)
	if err != nil {
		return EncodedEntry{}, err
	}
	return EncodedEntry{EKey: row.EKey, Spec: e.Spec(row.Spec), Size: row.Size}, nil
}
