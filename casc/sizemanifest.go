package casc

import (
	"fmt"
	"iter"

	"lorefs/internal/cursor"
)

const sizeManifest format = "size manifest"

// SizeManifest is the size manifest, by description only: the size of files on disk. It
// keeps the file's bytes.
type SizeManifest struct {
	Version int
	// KeySize is the length of the keys in bytes.
	KeySize int
	// Total is the sum of all sizes.
	Total int64

	count     int
	entries   []byte
	sizeBytes int
	// nul says that keys end in a NUL, on which descriptions differ.
	nul int
}

// SizeEntry is a file's size.
type SizeEntry struct {
	// EKey is the encoding key or its first bytes.
	EKey []byte
	// Hash is never 0 or 0xFFFF.
	Hash uint16
	Size int64
}

// ParseSizeManifest reads a size manifest of version 1 or 2. It keeps data, which must not
// be changed. Whether keys end in a NUL is not proven; it takes the form that fits the
// length of the data and the total.
func ParseSizeManifest(data []byte) (*SizeManifest, error) {
	c := cursor.New(data)
	magic, version, _, count, bits := c.Bytes(2), c.U8(), c.U8(), c.BE32(), c.BE16()
	m := &SizeManifest{Version: int(version), KeySize: (int(bits) + 7) / 8, count: int(count), sizeBytes: 4}
	switch version {
	case 1:
		m.Total, m.sizeBytes = int64(c.Big(8)), int(c.U8())
	case 2:
		m.Total = int64(c.Big(5))
	}
	if err := sizeManifest.ends(c, 0); err != nil {
		return nil, err
	}
	if string(magic) != "DS" {
		return nil, sizeManifest.bad(0, "found %q instead of %q", magic, "DS")
	}
	if version < 1 || version > 2 || m.KeySize < 1 || m.KeySize > 16 || m.sizeBytes < 1 || m.sizeBytes > 8 {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported,
			sizeManifest.bad(2, "version %d with keys of %d bits and sizes of %d bytes", version, bits, m.sizeBytes))
	}
	off := int64(c.Off())
	m.entries = c.Bytes(c.Left())
	for m.nul = range 2 {
		if int64(len(m.entries)) == int64(m.count)*int64(m.entrySize()) {
			return m, m.check(off)
		}
	}
	return nil, sizeManifest.bad(off, "%d bytes are not %d entries", len(m.entries), m.count)
}

func (m *SizeManifest) entrySize() int { return m.KeySize + m.nul + 2 + m.sizeBytes }

func (m *SizeManifest) check(off int64) error {
	total, n := uint64(0), 0
	for e := range m.Entries() {
		if e.Hash == 0 || e.Hash == 0xFFFF || e.Size < 0 {
			return sizeManifest.bad(off+int64(n*m.entrySize()), "entry %d has the hash %#x and the size %d", n, e.Hash, e.Size)
		}
		total += uint64(e.Size)
		n++
	}
	if total != uint64(m.Total) {
		return sizeManifest.bad(10, "the sizes add up to %d, stated is %d", total, m.Total)
	}
	return nil
}

// Len returns the number of entries.
func (m *SizeManifest) Len() int { return m.count }

// Entries yields all entries in order.
func (m *SizeManifest) Entries() iter.Seq[SizeEntry] {
	return func(yield func(SizeEntry) bool) {
		c := cursor.New(m.entries)
		for range m.count {
			e := SizeEntry{EKey: c.Bytes(m.KeySize)}
			c.Bytes(m.nul)
			e.Hash, e.Size = c.BE16(), int64(c.Big(m.sizeBytes))
			if !yield(e) {
				return
			}
		}
	}
}
