package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"lorefs/blte"
	"lorefs/casc/internal/format"
	"lorefs/casc/internal/lookup3"
	"lorefs/casc/keys"
	"lorefs/internal/cache"
	"lorefs/internal/readat"
)

// IdxFormat names local indexes in errors.
const IdxFormat format.Name = "idx"

const (
	// idxEntrySize is the size of key:9 place:5 size:4.
	idxEntrySize = keys.ShortSize + idxPlaceSize + idxLengthSize
	idxPlaceSize = 5
	// idxLengthSize is the number of bytes of a span's size, little-endian.
	idxLengthSize = 4
	// idxOffsetBits is how many bits of a place are the offset in the archive.
	idxOffsetBits = 30

	// Buckets is the number of index files in use at a time.
	Buckets = 16
)

// Location is a place in the local archives.
type Location struct {
	// Archive is the number NNN of data.NNN.
	Archive int
	// Off is the offset of the span. Size is its size with its header of SpanHeaderSize
	// bytes.
	Off, Size int64
}

// IdxEntry is the place of a file.
type IdxEntry struct {
	Key keys.Short
	Location
	// Status is the status in the update section: 0 normal, 3 deleted, 6 and 7 not
	// resident.
	Status uint8
}

// The states of an entry of the update section.
const (
	idxNormal  = 0
	IdxDeleted = 3
)

// Local reports whether the entry leads to data. Placeholders, deleted files and files that
// were never loaded do not.
func (e *IdxEntry) Local() bool { return e.Status == idxNormal && e.Size > SpanHeaderSize }

// MaxArchives is how many archives a place can address.
const MaxArchives = 1 << (8*idxPlaceSize - idxOffsetBits)

// Bucket returns the number of the index file for key.
func Bucket(key keys.Short) int {
	var x byte
	for _, b := range key {
		x ^= b
	}
	return int(x&15 ^ x>>4)
}

// Idx is one file of the local index. It keeps the update section in memory, and searches
// the sorted entries in the file. It is safe for parallel use.
type Idx struct {
	// Version is 7, or 5 for the form of the first beta.
	Version int
	Bucket  int
	// Problems are the first damaged update entries. The other entries are used.
	Problems []error

	// strays is whether there are keys of other buckets, too.
	strays bool

	runs []*idxRun
	// updates are newer than runs.
	updates map[keys.Short]IdxEntry
}

// IdxOptions are the options of NewIdx. The zero value is right if most of the file will be
// searched.
type IdxOptions struct {
	// Blocks keeps sorted entries, in blocks from FirstBlock on. Default: everything that
	// was read is kept.
	Blocks     blte.BlockCache
	FirstBlock uint64
}

// NewIdx opens the index file of version 7 or 5 in the first size bytes of r. It reads all
// of it once and checks all its hashes. Sorted entries are read again when they are needed.
// Version 8, with 16-byte keys, matches ErrUnsupported.
func NewIdx(r io.ReaderAt, size int64, opts IdxOptions) (*Idx, error) {
	const least = 16
	if size < least {
		return nil, IdxFormat.Bad(0, "%d bytes are no header", size)
	}
	if size > format.MaxTable {
		return nil, IdxFormat.Bad(0, "%d bytes, more than the %d that are read", size, format.MaxTable)
	}
	data := make([]byte, size)
	if err := readat.Full(r, data, 0); err != nil {
		return nil, fmt.Errorf("casc: idx: %w", err)
	}
	parse := parseIdx7
	if binary.LittleEndian.Uint16(data) == idxVersion5 && binary.LittleEndian.Uint32(data) != idxGuardedSize {
		parse = parseIdx5
	}
	x, err := parse(data)
	if err != nil {
		return nil, err
	}
	if opts.Blocks == nil {
		opts.Blocks = &cache.All{}
	}
	x.strays = x.findStray(data)
	for _, run := range x.runs {
		run.src, run.blocks, run.first = r, opts.Blocks, opts.FirstBlock
		opts.FirstBlock += uint64(len(run.sums))
	}
	return x, nil
}

// findStray reports whether there is a key of another bucket in the file.
func (x *Idx) findStray(data []byte) bool {
	for _, run := range x.runs {
		for at := run.off; at < run.off+int64(run.len)*idxEntrySize; at += idxEntrySize {
			if Bucket(keys.Short(data[at:])) != x.Bucket {
				return true
			}
		}
	}
	for key := range x.updates {
		if Bucket(key) != x.Bucket {
			return true
		}
	}
	return false
}

// MayHave reports whether the file may have an entry of key, which takes no search.
func (x *Idx) MayHave(key keys.Short) bool { return x.strays || Bucket(key) == x.Bucket }

// parsePlace reads the archive and the offset of an entry.
func parsePlace(b []byte) Location {
	_ = b[idxPlaceSize-1]
	place := uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:]))
	return Location{Archive: int(place >> idxOffsetBits), Off: int64(place & (1<<idxOffsetBits - 1))}
}

func idxEntry(b []byte) IdxEntry {
	e := IdxEntry{Key: keys.Short(b), Location: parsePlace(b[keys.ShortSize:])}
	e.Size = int64(binary.LittleEndian.Uint32(b[keys.ShortSize+idxPlaceSize:]))
	return e
}

// Find looks for the newest entry of key. An error comes from reading the file, or matches
// ErrChanged.
func (x *Idx) Find(key keys.Short) (IdxEntry, bool, error) {
	for e, err := range x.All(key) {
		return e, err == nil, err
	}
	return IdxEntry{}, false, nil
}

// All yields all entries of key, the newest first. An error comes last, and is as in Find.
func (x *Idx) All(key keys.Short) iter.Seq2[IdxEntry, error] {
	return func(yield func(IdxEntry, error) bool) {
		if e, ok := x.updates[key]; ok && !yield(e, nil) {
			return
		}
		for _, run := range slices.Backward(x.runs) {
			for e, err := range run.find(key) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Entries yields the newest entry of each key, including placeholders and deleted ones:
// first the keys of the sorted part, then those that only the update section has. An error
// comes last, and is as in Find.
func (x *Idx) Entries() iter.Seq2[IdxEntry, error] {
	return func(yield func(IdxEntry, error) bool) {
		seen := make(map[keys.Short]bool, len(x.updates))
		for _, run := range x.runs {
			for e, err := range run.entries() {
				if u, ok := x.updates[e.Key]; ok && err == nil {
					e = u
					seen[e.Key] = true
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
		for key, e := range x.updates {
			if !seen[key] && !yield(e, nil) {
				return
			}
		}
	}
}

// checkSorted checks the order of a run. Searches depend on it.
func checkSorted(run []byte, off int64) error {
	for i := idxEntrySize; i < len(run); i += idxEntrySize {
		if bytes.Compare(run[i-idxEntrySize:][:keys.ShortSize], run[i:][:keys.ShortSize]) > 0 {
			return IdxFormat.Bad(off+int64(i), "entry %d is not behind the one before it", i/idxEntrySize)
		}
	}
	return nil
}

// checkWidths accepts the only widths of fields that were ever seen.
func checkWidths(off int64, got []byte) error {
	want := [...]byte{idxLengthSize, idxPlaceSize, keys.ShortSize, idxOffsetBits}
	if [len(want)]byte(got) != want {
		return fmt.Errorf("%w: %w", format.ErrUnsupported, IdxFormat.Bad(off, "widths of fields % d, expected % d", got, want))
	}
	return nil
}

// entriesHash compares the hash of a sorted part, and returns it. There are two forms: the
// second result of the hash is an input of the next step, or it is not. The result is of
// the first form.
func entriesHash(run []byte, want uint32) (uint32, bool) {
	var chained, simple, l uint32
	for r := run; len(r) >= idxEntrySize; r = r[idxEntrySize:] {
		chained, l = lookup3.Hash2(r[:idxEntrySize], chained, l)
	}
	if chained == want {
		return chained, true
	}
	for r := run; len(r) >= idxEntrySize; r = r[idxEntrySize:] {
		simple = lookup3.Hash(r[:idxEntrySize], simple)
	}
	return chained, simple == want
}

// ParseIdxName reads the name of an index file: two hex digits of the bucket and eight of
// the version, or data.iXY with one digit of each.
func ParseIdxName(name string) (bucket, version int, ok bool) {
	name = strings.ToLower(name)
	digits, found := strings.CutSuffix(name, ".idx")
	at := 2
	if !found {
		if digits, found = strings.CutPrefix(name, "data.i"); !found || len(digits) != 2 {
			return 0, 0, false
		}
		at = 1
	} else if len(digits) != 10 {
		return 0, 0, false
	}
	b, err := strconv.ParseUint(digits[:at], 16, 8)
	v, err2 := strconv.ParseUint(digits[at:], 16, 32)
	if err != nil || err2 != nil || b >= Buckets {
		return 0, 0, false
	}
	return int(b), int(v), true
}
