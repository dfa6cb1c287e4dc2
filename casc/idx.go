package casc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"

	"lorefs/casc/internal/lookup3"
)

const idx format = "idx"

const (
	// idxEntrySize is key:9 place:5 size:4.
	idxEntrySize = ShortKeySize + idxPlaceSize + idxLengthSize
	idxPlaceSize = 5
	// idxLengthSize is that of a span's size, little-endian.
	idxLengthSize = 4
	// idxOffsetBits is how many bits of a place are the offset in the archive.
	idxOffsetBits = 30

	// Buckets is the number of index files that count at a time.
	Buckets = 16
)

// Location is a place in the local archives.
type Location struct {
	// Archive is the number NNN of data.NNN.
	Archive int
	// Off is where the span begins, and Size its length with the span's header of
	// SpanHeaderSize bytes.
	Off, Size int64
}

// IdxEntry says where a file is.
type IdxEntry struct {
	Key ShortKey
	Location
	// Status is that of the update section: 0 normal, 3 deleted, 6 and 7 not
	// resident.
	Status uint8
}

// The states of an entry of the update section.
const (
	idxNormal  = 0
	idxDeleted = 3
)

// Local says that the entry leads to data, not to a placeholder, nor to what was
// deleted or never loaded.
func (e *IdxEntry) Local() bool { return e.Status == idxNormal && e.Size > SpanHeaderSize }

// Bucket is the number of the index file that has key.
func Bucket(key ShortKey) int {
	var x byte
	for _, b := range key {
		x ^= b
	}
	return int(x&15 ^ x>>4)
}

// Idx is one file of the local index. It keeps the file's bytes and searches in
// them. It is safe for parallel use.
type Idx struct {
	// Version is 7, or 5 for the form of the first beta.
	Version int
	// Bucket is the file's own number.
	Bucket int
	// Problems are the first update entries that are damaged; the others are in use.
	Problems []error

	// runs are sorted entries.
	runs [][]byte
	// updates are newer than runs.
	updates map[ShortKey]IdxEntry
}

// ParseIdx reads an index file of version 7 or 5, and checks all its hashes. It
// keeps data, which must not be changed. Version 8, of 16-byte keys, matches
// ErrUnsupported.
func ParseIdx(data []byte) (*Idx, error) {
	const least = 16
	if len(data) < least {
		return nil, idx.bad(0, "%d bytes are no header", len(data))
	}
	if binary.LittleEndian.Uint16(data) == idxVersion5 && binary.LittleEndian.Uint32(data) != idxGuardedSize {
		return parseIdx5(data)
	}
	return parseIdx7(data)
}

// parsePlace reads the archive and the offset of an entry.
func parsePlace(b []byte) Location {
	_ = b[idxPlaceSize-1]
	place := uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:]))
	return Location{Archive: int(place >> idxOffsetBits), Off: int64(place & (1<<idxOffsetBits - 1))}
}

func idxEntry(b []byte) IdxEntry {
	e := IdxEntry{Key: ShortKey(b), Location: parsePlace(b[ShortKeySize:])}
	e.Size = int64(binary.LittleEndian.Uint32(b[ShortKeySize+idxPlaceSize:]))
	return e
}

// Find looks for the newest entry of key.
func (x *Idx) Find(key ShortKey) (IdxEntry, bool) {
	if e, ok := x.updates[key]; ok {
		return e, true
	}
	for _, run := range slices.Backward(x.runs) {
		at := behind(run, key)
		if at > 0 && bytes.Equal(run[(at-1)*idxEntrySize:][:ShortKeySize], key[:]) {
			return idxEntry(run[(at-1)*idxEntrySize:]), true
		}
	}
	return IdxEntry{}, false
}

// behind gives the first entry of a run whose key is behind key. Keys are MD5s, so
// it is near where key is among all keys: searching from there touches a few entries,
// where halving would touch some in every part of the run.
func behind(run []byte, key ShortKey) int {
	n := len(run) / idxEntrySize
	beyond := func(i int) bool { return bytes.Compare(run[i*idxEntrySize:][:ShortKeySize], key[:]) > 0 }
	guess, _ := bits.Mul64(binary.BigEndian.Uint64(key[:]), uint64(n))
	from, to := int(guess), int(guess)
	near := 1 << (bits.Len(uint(n)) / 2) // how far off the guess may well be
	for step := near; to < n && !beyond(to); step *= 2 {
		from, to = to+1, min(to+step, n)
	}
	for step := near; from > 0 && beyond(from-1); step *= 2 {
		to, from = from-1, max(from-step, 0)
	}
	return from + sort.Search(to-from, func(i int) bool { return beyond(from + i) })
}

// Entries gives the newest entry of each key, placeholders and deleted ones too:
// first those of the sorted part, then those that only the update section has.
func (x *Idx) Entries() iter.Seq[IdxEntry] {
	return func(yield func(IdxEntry) bool) {
		seen := make(map[ShortKey]bool, len(x.updates))
		for _, run := range x.runs {
			for ; len(run) > 0; run = run[idxEntrySize:] {
				e := idxEntry(run)
				if u, ok := x.updates[e.Key]; ok {
					e = u
					seen[e.Key] = true
				}
				if !yield(e) {
					return
				}
			}
		}
		for key, e := range x.updates {
			if !seen[key] && !yield(e) {
				return
			}
		}
	}
}

// checkSorted checks the order of a run, without which searching finds nothing.
func checkSorted(run []byte, off int64) error {
	for i := idxEntrySize; i < len(run); i += idxEntrySize {
		if bytes.Compare(run[i-idxEntrySize:][:ShortKeySize], run[i:][:ShortKeySize]) > 0 {
			return idx.bad(off+int64(i), "entry %d is not behind the one before it", i/idxEntrySize)
		}
	}
	return nil
}

// checkWidths accepts the only widths of fields that were ever seen.
func checkWidths(off int64, got []byte) error {
	want := [...]byte{idxLengthSize, idxPlaceSize, ShortKeySize, idxOffsetBits}
	if [len(want)]byte(got) != want {
		return fmt.Errorf("%w: %w", ErrUnsupported, idx.bad(off, "widths of fields % d, expected % d", got, want))
	}
	return nil
}

// entriesHash compares the hash of a sorted part. Two forms were seen: of the second
// result of the hash going into the next step too, or not. It gives the first.
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

// ParseIdxName reads the name of an index file: two hex digits of the bucket and
// eight of the version, or data.iXY with a digit of each.
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
