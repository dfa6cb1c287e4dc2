package index

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
)

const archiveIndex format.Name = "archive index"

const (
	// indexFieldsSize counts the bytes between the two hashes of a footer.
	indexFieldsSize = 12
	// minIndexHash and maxIndexHash bound how many bytes of a hash are stored. All known indexes
	// have 8.
	minIndexHash   = 8
	maxIndexHash   = md5.Size
	indexKeySize   = 16
	indexSizeBytes = 4
	// GroupOffsetBytes is archive:2 offset:4.
	GroupOffsetBytes = 6
	// LocalOffsetBytes is archive<<30|offset.
	LocalOffsetBytes = 5
)

// ArchiveEntry is the place of a file in the archives of a CDN.
type ArchiveEntry struct {
	Key keys.Key
	// Size is the encoded size.
	Size int64
	// Archive is the number of the archive in the list of the CDN configuration, for the
	// index of a group; else it is 0.
	Archive int
	// Off is where the file begins in its archive; 0 in indexes of loose files.
	Off int64
}

// Archive is a file KEY.index: the index of one archive, of loose files, or of a group
// of archives. It keeps the file's bytes and searches in them. It is safe for parallel use.
type Archive struct {
	// Name is the MD5 of the footer. It is the name of the index file and of its archive.
	Name keys.Key
	// OffsetBytes is 4 for an archive, 0 for loose files, 6 for a group, and 5 for
	// offsets as the local index has them.
	OffsetBytes int

	hashSize  int
	pages     [][]byte
	before    []int  // the number of entries before each page
	last      []byte // the last key of each page
	entrySize int
	count     int
}

// ParseArchive reads an index and checks all its hashes. It keeps data, which must not
// be changed.
func ParseArchive(data []byte) (*Archive, error) {
	x, err := parseArchiveIndex(data)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// parseArchiveIndex is ParseArchive. With an error that matches ErrUnsupported it returns an
// index that has only a name.
func parseArchiveIndex(data []byte) (*Archive, error) {
	hash := indexHash(data)
	at := len(data) - indexFieldsSize - 2*hash
	if at < 0 {
		return nil, archiveIndex.Bad(0, "%d bytes are no footer", len(data))
	}
	f := data[at+hash:][:indexFieldsSize]
	stated := data[len(data)-hash:]
	if sum := md5.Sum(slices.Concat(f, make([]byte, hash))); !bytes.Equal(sum[:hash], stated) {
		return nil, archiveIndex.Bad(int64(len(data)-hash), "the footer has the hash %x, stated is %x", sum[:hash], stated)
	}
	x := &Archive{
		Name: keys.Of(data[at:]), OffsetBytes: int(f[4]), hashSize: hash,
		entrySize: indexKeySize + indexSizeBytes + int(f[4]),
		count:     int(binary.LittleEndian.Uint32(f[8:])),
	}
	if f[0] != 1 || f[1] != 0 || f[2] != 0 || f[5] != indexSizeBytes || f[6] != indexKeySize || int(f[7]) != hash {
		return x, fmt.Errorf("%w: %w", format.ErrUnsupported, archiveIndex.Bad(int64(at+hash), "footer % x", f[:8]))
	}
	switch x.OffsetBytes {
	case 0, 4, LocalOffsetBytes, GroupOffsetBytes:
	default:
		return x, fmt.Errorf("%w: %w", format.ErrUnsupported, archiveIndex.Bad(int64(at+hash)+4, "offsets of %d bytes", x.OffsetBytes))
	}
	return x, x.parsePages(data[:at], int(f[3])<<10, data[at:at+hash])
}

// indexHash returns how many bytes of each hash an index has. The footer says so, and begins where
// that tells.
func indexHash(data []byte) int {
	for n := minIndexHash + 1; n <= maxIndexHash && len(data) >= indexFieldsSize+2*n; n++ {
		if f := data[len(data)-n-indexFieldsSize:]; f[0] == 1 && f[5] == indexSizeBytes && f[6] == indexKeySize && int(f[7]) == n {
			return n
		}
	}
	return minIndexHash
}

// ParseNamed reads the index whose name is given. What is unsupported has that name as well, so
// that no other host has anything better.
func ParseNamed(data []byte, name keys.Key) (*Archive, error) {
	x, err := parseArchiveIndex(data)
	if (err == nil || errors.Is(err, format.ErrUnsupported)) && x.Name != name {
		err = archiveIndex.Bad(int64(len(data)-indexFieldsSize-2*x.hashSize), "the footer has the MD5 %v, the file is called %v", x.Name, name)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// parsePages checks the pages against the table of contents behind them.
func (x *Archive) parsePages(data []byte, pageSize int, tocHash []byte) error {
	tocEntry := indexKeySize + x.hashSize
	if pageSize == 0 || len(data)%(pageSize+tocEntry) != 0 {
		return archiveIndex.Bad(0, "%d bytes are no pages of %d with %d bytes of contents each", len(data), pageSize, tocEntry)
	}
	n := len(data) / (pageSize + tocEntry)
	toc := data[n*pageSize:]
	if sum := md5.Sum(toc); !bytes.Equal(sum[:x.hashSize], tocHash) {
		return archiveIndex.Bad(int64(n*pageSize), "the contents have the hash %x, stated is %x", sum[:x.hashSize], tocHash)
	}
	x.last = toc[:n*indexKeySize]
	sums := toc[n*indexKeySize:]
	count := 0
	for i := range n {
		page := data[i*pageSize : (i+1)*pageSize]
		if sum := md5.Sum(page); !bytes.Equal(sum[:x.hashSize], sums[i*x.hashSize:][:x.hashSize]) {
			return archiveIndex.Bad(int64(i*pageSize), "page %d has the hash %x, stated is %x", i, sum[:x.hashSize], sums[i*x.hashSize:][:x.hashSize])
		}
		used, err := x.checkPage(page, i, int64(i*pageSize))
		if err != nil {
			return err
		}
		x.before = append(x.before, count)
		count += used
		x.pages = append(x.pages, page[:used*x.entrySize])
	}
	if count != x.count {
		return archiveIndex.Bad(int64(len(data))+16, "%d entries, stated are %d", count, x.count)
	}
	return nil
}

// checkPage counts the entries of a page and checks their order.
func (x *Archive) checkPage(page []byte, i int, off int64) (int, error) {
	var zero, last [indexKeySize]byte
	n := 0
	for ; (n+1)*x.entrySize <= len(page); n++ {
		key := page[n*x.entrySize:][:indexKeySize]
		if bytes.Equal(key, zero[:]) {
			break
		}
		if bytes.Compare(key, last[:]) <= 0 {
			return 0, archiveIndex.Bad(off+int64(n*x.entrySize), "entry %d of page %d is not behind the one before it", n, i)
		}
		copy(last[:], key)
	}
	if want := x.last[i*indexKeySize:][:indexKeySize]; n == 0 || !bytes.Equal(last[:], want) {
		return 0, archiveIndex.Bad(off, "page %d ends with the key %x, its contents say %x", i, last, want)
	}
	if i > 0 && bytes.Compare(x.last[(i-1)*indexKeySize:][:indexKeySize], page[:indexKeySize]) >= 0 {
		return 0, archiveIndex.Bad(off, "page %d is not behind the one before it", i)
	}
	return n, nil
}

// Len returns the number of entries.
func (x *Archive) Len() int { return x.count }

func (x *Archive) entry(b []byte) ArchiveEntry {
	e := ArchiveEntry{Key: keys.Key(b[:indexKeySize]), Size: int64(binary.BigEndian.Uint32(b[indexKeySize:]))}
	b = b[indexKeySize+indexSizeBytes:]
	switch x.OffsetBytes {
	case 4:
		e.Off = int64(binary.BigEndian.Uint32(b))
	case LocalOffsetBytes:
		place := parsePlace(b)
		e.Archive, e.Off = place.Archive, place.Off
	case GroupOffsetBytes:
		e.Archive, e.Off = int(binary.BigEndian.Uint16(b)), int64(binary.BigEndian.Uint32(b[2:]))
	}
	return e
}

// Find looks for the entry whose key begins with prefix, and returns its number too.
func (x *Archive) Find(prefix []byte) (ArchiveEntry, int, bool) {
	prefix = prefix[:min(len(prefix), indexKeySize)]
	at := sort.Search(len(x.pages), func(i int) bool {
		return bytes.Compare(x.last[i*indexKeySize:][:len(prefix)], prefix) >= 0
	})
	if at == len(x.pages) {
		return ArchiveEntry{}, 0, false
	}
	page := x.pages[at]
	n := sort.Search(len(page)/x.entrySize, func(i int) bool {
		return bytes.Compare(page[i*x.entrySize:][:len(prefix)], prefix) >= 0
	})
	if n == len(page)/x.entrySize || !bytes.HasPrefix(page[n*x.entrySize:], prefix) {
		return ArchiveEntry{}, 0, false
	}
	return x.entry(page[n*x.entrySize:]), x.before[at] + n, true
}

// Entries yields all entries in the order of their keys.
func (x *Archive) Entries() iter.Seq[ArchiveEntry] {
	return func(yield func(ArchiveEntry) bool) {
		for _, page := range x.pages {
			for ; len(page) > 0; page = page[x.entrySize:] {
				if !yield(x.entry(page)) {
					return
				}
			}
		}
	}
}
