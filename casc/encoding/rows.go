package encoding

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"

	"lorefs/blte"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

// ContentRow is an entry of a content page as it stands: count:1 size:5 ckey:16
// ekey:16×count. A row from an iterator is valid until the next step.
type ContentRow []byte

// CKey returns the content key.
func (r ContentRow) CKey() keys.Key { return keys.Key(r[6:22]) }

// Size returns the size of the content.
func (r ContentRow) Size() int64 {
	return int64(r[1])<<32 | int64(binary.BigEndian.Uint32(r[2:]))
}

// Forms returns the number of encoded forms, at least one.
func (r ContentRow) Forms() int { return int(r[0]) }

// EKey returns the key of encoded form i.
func (r ContentRow) EKey(i int) keys.Key { return keys.Key(r[22+16*i:]) }

func (r ContentRow) entry() ContentEntry {
	entry := ContentEntry{CKey: r.CKey(), Size: r.Size(), EKeys: make([]keys.Key, r.Forms())}
	for i := range entry.EKeys {
		entry.EKeys[i] = r.EKey(i)
	}
	return entry
}

// RowNumber is the place of a content key in the encoding file: its page, and its row
// there. Both are below 1<<28.
type RowNumber struct{ Page, Row int }

// EncodedRow is an entry of an encoded page.
type EncodedRow struct {
	EKey keys.Key
	// Spec is the number of the ESpec.
	Spec int
	// Size is the encoded size.
	Size int64
}

// ContentPages returns the number of content pages.
func (e *File) ContentPages() int { return e.content.len() }

// EncodedPages returns the number of encoded pages.
func (e *File) EncodedPages() int { return e.encoded.len() }

// ContentRange returns the range of keys of page i, even if the page can't be read: from
// the first key to, but without, the second. The last page has all keys from the first on.
func (e *File) ContentRange(i int) (from, to keys.Key, last bool) { return e.content.bounds(i) }

func (t *pageTable) bounds(i int) (from, to keys.Key, last bool) {
	if last = i+1 == t.len(); !last {
		to = keys.Key(t.first(i + 1))
	}
	return keys.Key(t.first(i)), to, last
}

// FindRow is Find, but returns the row and its place. The row stays valid.
func (e *File) FindRow(ctx context.Context, ckey keys.Key) (ContentRow, RowNumber, error) {
	if i := e.content.find(ckey[:]); i >= 0 {
		page, err := e.page(ctx, &e.content, i)
		if err != nil {
			return nil, RowNumber{}, err
		}
		n := 0
		for row, err := range contentRows(tablePage{page, e.content.offset(i)}) {
			if err != nil {
				return nil, RowNumber{}, err
			}
			if bytes.Equal(row[6:22], ckey[:]) {
				return row, RowNumber{i, n}, nil
			}
			n++
		}
	}
	return nil, RowNumber{}, fmt.Errorf("content key %v is not in the encoding file: %w", ckey, format.ErrNotFound)
}

// Row returns the row at a place. If there is none the error matches ErrNotFound. The row
// stays valid.
func (e *File) Row(ctx context.Context, at RowNumber) (ContentRow, error) {
	if at.Page >= 0 && at.Page < e.content.len() {
		page, err := e.page(ctx, &e.content, at.Page)
		if err != nil {
			return nil, err
		}
		n := 0
		for row, err := range contentRows(tablePage{page, e.content.offset(at.Page)}) {
			if err != nil || n == at.Row {
				return row, err
			}
			n++
		}
	}
	return nil, fmt.Errorf("row %d of page %d of the encoding file: %w", at.Row, at.Page, format.ErrNotFound)
}

// ContentRows yields the rows of the pages from from up to, but without, to, in order. It
// checks the pages and keeps none.
func (e *File) ContentRows(ctx context.Context, from, to int) iter.Seq2[ContentRow, error] {
	return func(yield func(ContentRow, error) bool) {
		for page, err := range e.pages(ctx, &e.content, from, to) {
			if err != nil {
				yield(nil, err)
				return
			}
			for row, err := range contentRows(page) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// EncodedRows is ContentRows for encoding keys.
func (e *File) EncodedRows(ctx context.Context, from, to int) iter.Seq2[EncodedRow, error] {
	return func(yield func(EncodedRow, error) bool) {
		if err := e.loadEncoded(ctx); err != nil {
			yield(EncodedRow{}, err)
			return
		}
		for page, err := range e.pages(ctx, &e.encoded, from, to) {
			if err != nil {
				yield(EncodedRow{}, err)
				return
			}
			for n := range countEncoded(page.data) {
				row, err := e.encodedRow(page.data[n*encodedEntrySize:], page.off+int64(n*encodedEntrySize))
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// maxSingle is how many content pages are read one by one from far away. For more it is
// quicker to read all.
const maxSingle = 64

// PageRanges returns the ranges, from a page up to but without another, in which ContentRows
// best reads the content pages that are wanted, with others that lie between them where another
// request would take longer. Of an encoding file in a folder these are all
// pages, one by one, so that one that is damaged affects no other.
func (e *File) PageRanges(wanted func(page int) bool) (ranges [][2]int) {
	if e.distant == nil {
		for i := range e.content.len() {
			ranges = append(ranges, [2]int{i, i + 1})
		}
		return ranges
	}
	count := 0
	for i := range e.content.len() {
		switch last := len(ranges) - 1; {
		case !wanted(i):
			continue
		case last >= 0 && (i-ranges[last][1])*e.content.size <= maxPagesGap:
			ranges[last][1] = i + 1
		default:
			ranges = append(ranges, [2]int{i, i + 1})
		}
		count++
	}
	if count <= maxSingle {
		return ranges
	}
	ranges = nil
	step := e.atOnce(&e.content)
	for i := 0; i < e.content.len(); i += step {
		ranges = append(ranges, [2]int{i, min(i+step, e.content.len())})
	}
	return ranges
}

// Contents yields all content keys in order.
func (e *File) Contents(ctx context.Context) iter.Seq2[ContentEntry, error] {
	return func(yield func(ContentEntry, error) bool) {
		for row, err := range e.ContentRows(ctx, 0, math.MaxInt) {
			if err != nil {
				yield(ContentEntry{}, err)
				return
			}
			if !yield(row.entry(), nil) {
				return
			}
		}
	}
}

// Encoded yields all encoding keys in order.
func (e *File) Encoded(ctx context.Context) iter.Seq2[EncodedEntry, error] {
	return func(yield func(EncodedEntry, error) bool) {
		for row, err := range e.EncodedRows(ctx, 0, math.MaxInt) {
			if err != nil {
				yield(EncodedEntry{}, err)
				return
			}
			if !yield(EncodedEntry{EKey: row.EKey, Spec: e.Spec(row.Spec), Size: row.Size}, nil) {
				return
			}
		}
	}
}

// contentRows yields the entries of a page, as they stand.
func contentRows(p tablePage) iter.Seq2[ContentRow, error] {
	return func(yield func(ContentRow, error) bool) {
		for at := 0; at < len(p.data) && p.data[at] != 0; {
			n := int(p.data[at])
			size := 22 + 16*n
			if size > len(p.data)-at {
				yield(nil, encoding.Bad(p.off+int64(at), "an entry of %d encoded forms goes beyond its page", n))
				return
			}
			if !yield(p.data[at:at+size], nil) {
				return
			}
			at += size
		}
	}
}

// encodedRow reads ekey:16 spec:4 size:5, which is at off.
func (e *File) encodedRow(b []byte, off int64) (EncodedRow, error) {
	row := EncodedRow{EKey: keys.Key(b), Size: int64(b[20])<<32 | int64(binary.BigEndian.Uint32(b[21:]))}
	spec := binary.BigEndian.Uint32(b[16:])
	if int64(spec) >= int64(len(e.specOffs)) {
		return row, encoding.Bad(off+16, "spec %d of %d", spec, len(e.specOffs))
	}
	row.Spec = int(spec)
	return row, nil
}

// KeySet is a set of encoded files. The nil KeySet is empty.
type KeySet struct {
	keys   map[keys.Short]struct{}
	ranges [][2]keys.Short // in order, with their ends
}

// IsEmpty reports whether the set is empty.
func (s *KeySet) IsEmpty() bool { return s == nil || len(s.keys)+len(s.ranges) == 0 }

// Has reports whether the set has a key.
func (s *KeySet) Has(key keys.Short) bool {
	if s == nil {
		return false
	}
	if _, in := s.keys[key]; in {
		return true
	}
	at := sort.Search(len(s.ranges), func(i int) bool { return bytes.Compare(s.ranges[i][1][:], key[:]) >= 0 })
	return at < len(s.ranges) && bytes.Compare(s.ranges[at][0][:], key[:]) <= 0
}

// Encrypted returns the encoded files that may have encrypted chunks: their ESpec names
// keys, or can't be parsed, or is on a page that can't be read. The errors are those of
// pages.
func (e *File) Encrypted(ctx context.Context) (set *KeySet, faults []error) {
	suspect := e.suspectSpecs()
	if !slices.Contains(suspect, true) {
		return nil, nil
	}
	if err := e.loadEncoded(ctx); err != nil {
		return nil, []error{err}
	}
	set = &KeySet{keys: map[keys.Short]struct{}{}}
	for page := range e.EncodedPages() {
		for row, err := range e.EncodedRows(ctx, page, page+1) {
			if err != nil {
				faults = append(faults, err)
				set.ranges = append(set.ranges, e.encodedRange(page))
				break
			}
			if suspect[row.Spec] {
				set.keys[row.EKey.Short()] = struct{}{}
			}
		}
	}
	return set, faults
}

// suspectSpecs reports which ESpecs have keys or can't be parsed.
func (e *File) suspectSpecs() []bool {
	suspect := make([]bool, e.Specs())
	for i := range suspect {
		spec, err := blte.ParseSpec(e.Spec(i))
		suspect[i] = err != nil
		if err == nil {
			for range spec.KeyNames() {
				suspect[i] = true
				break
			}
		}
	}
	return suspect
}

// encodedRange returns the first key of page i of encoding keys, and a key that is not
// below the page's last.
func (e *File) encodedRange(i int) [2]keys.Short {
	from, to, last := e.encoded.bounds(i)
	if last {
		to = keys.Key(bytes.Repeat([]byte{0xFF}, len(to)))
	}
	return [2]keys.Short{from.Short(), to.Short()}
}
