package manifests

import (
	"encoding/binary"
	"fmt"
	"iter"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
)

const download format.Name = "download manifest"

// Download is the download manifest: when each file is needed. It keeps the file's bytes.
type Download struct {
	Version int
	// BasePriority is subtracted from each priority in version 3.
	BasePriority int
	Tags         []Tag

	entries   []byte
	entrySize int
	checksum  bool
	flagBytes int
}

// DownloadEntry is a file to download.
type DownloadEntry struct {
	EKey keys.Key
	// Size is the encoded size.
	Size int64
	// Priority is 0 for what is needed first. BasePriority is already subtracted.
	Priority int
	// Checksum is 0 if the manifest has none.
	Checksum uint32
	// Flags is empty before version 2.
	Flags []byte
}

// ParseDownload reads a download manifest of version 1 to 3; 2 and 3 by description only.
// It keeps data, which must not be changed.
func ParseDownload(data []byte) (*Download, error) {
	c := cursor.New(data)
	magic, version, keySize, sums, entries, tags := c.Bytes(2), c.U8(), c.U8(), c.U8(), c.BE32(), c.BE16()
	m := &Download{Version: int(version), checksum: sums != 0}
	if version >= 2 {
		m.flagBytes = int(c.U8())
	}
	if version >= 3 {
		m.BasePriority = int(int8(c.U8()))
		c.Bytes(3)
	}
	if err := download.Ends(c, 0); err != nil {
		return nil, err
	}
	if string(magic) != "DL" {
		return nil, download.Bad(0, "found %q instead of %q", magic, "DL")
	}
	if version < 1 || version > 3 || keySize != 16 || sums > 1 || m.flagBytes > 4 {
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported,
			download.Bad(2, "version %d with keys of %d bytes, checksum flag %d, %d bytes of flags", version, keySize, sums, m.flagBytes))
	}
	m.entrySize = 16 + 5 + 1 + m.flagBytes
	if m.checksum {
		m.entrySize += 4
	}
	if int64(entries)*int64(m.entrySize) > int64(c.Left()) {
		return nil, download.Bad(5, "%d entries in %d bytes", entries, c.Left())
	}
	m.entries = c.Bytes(int(entries) * m.entrySize)
	m.Tags = readTags(c, int(tags), int(entries))
	if err := download.Ends(c, 0); err != nil {
		return nil, err
	}
	if c.Left() > 0 {
		return nil, download.Bad(int64(c.Off()), "%d bytes behind the last tag", c.Left())
	}
	return m, nil
}

// Len returns the number of entries.
func (m *Download) Len() int { return len(m.entries) / m.entrySize }

// Entry returns entry i.
func (m *Download) Entry(i int) DownloadEntry {
	b := m.entries[i*m.entrySize:][:m.entrySize]
	e := DownloadEntry{
		EKey: keys.Key(b), Size: int64(b[16])<<32 | int64(binary.BigEndian.Uint32(b[17:])),
		Priority: int(int8(b[21])) - m.BasePriority,
	}
	b = b[22:]
	if m.checksum {
		e.Checksum, b = binary.BigEndian.Uint32(b), b[4:]
	}
	e.Flags = b
	return e
}

// Entries yields all entries in order.
func (m *Download) Entries() iter.Seq[DownloadEntry] {
	return func(yield func(DownloadEntry) bool) {
		for i := range m.Len() {
			if !yield(m.Entry(i)) {
				return
			}
		}
	}
}
