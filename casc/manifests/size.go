package manifests

import (
	"encoding/binary"
	"fmt"
	"iter"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
)

const sizeManifest format.Name = "size manifest"

// Size is the size manifest: the size of files on disk. It keeps the file's bytes.
type Size struct {
	Version int
	// KeySize is the length of the keys in bytes.
	KeySize int
	// Total is the sum of all sizes, as the manifest states it.
	Total int64
	Tags  []Tag

	entries []byte
}

// SizeEntry is a file's size.
type SizeEntry struct {
	// EKey is the encoding key or its first bytes.
	EKey []byte
	Size int64
}

// sizeBytes is the length of a size.
const sizeBytes = 4

// ParseSize reads a size manifest of version 1 or 2, which have the same layout. It
// keeps data, which must not be changed.
func ParseSize(data []byte) (*Size, error) {
	c := cursor.New(data)
	magic, version, keySize, count, tags := c.Bytes(2), c.U8(), c.U8(), c.BE32(), c.BE16()
	m := &Size{Version: int(version), KeySize: int(keySize), Total: int64(c.Big(5))}
	if err := sizeManifest.Ends(c, 0); err != nil {
		return nil, err
	}
	if string(magic) != "DS" {
		return nil, sizeManifest.Bad(0, "found %q instead of %q", magic, "DS")
	}
	if version < 1 || version > 2 || m.KeySize < 1 || m.KeySize > len(keys.Key{}) {
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, sizeManifest.Bad(2, "version %d with keys of %d bytes", version, m.KeySize))
	}
	if int64(count)*int64(m.entrySize()) > int64(c.Left()) {
		return nil, sizeManifest.Bad(4, "%d entries in %d bytes", count, c.Left())
	}
	m.Tags = readTags(c, int(tags), int(count))
	off := int64(c.Off())
	m.entries = c.Bytes(c.Left())
	if err := sizeManifest.Ends(c, 0); err != nil {
		return nil, err
	}
	if int64(len(m.entries)) != int64(count)*int64(m.entrySize()) {
		return nil, sizeManifest.Bad(off, "%d bytes are not %d entries", len(m.entries), count)
	}
	return m, nil
}

func (m *Size) entrySize() int { return m.KeySize + sizeBytes }

// Len returns the number of entries.
func (m *Size) Len() int { return len(m.entries) / m.entrySize() }

// Entry returns entry i.
func (m *Size) Entry(i int) SizeEntry {
	b := m.entries[i*m.entrySize():][:m.entrySize()]
	return SizeEntry{EKey: b[:m.KeySize:m.KeySize], Size: int64(binary.BigEndian.Uint32(b[m.KeySize:]))}
}

// Entries yields all entries in order.
func (m *Size) Entries() iter.Seq[SizeEntry] {
	return func(yield func(SizeEntry) bool) {
		for i := range m.Len() {
			if !yield(m.Entry(i)) {
				return
			}
		}
	}
}
