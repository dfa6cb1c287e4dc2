package blte

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"io"

	"lorefs/internal/readat"
)

const (
	// magic begins every file.
	magic = "BLTE"
	// noTable is the header of a file without table.
	noTable = magic + "\x00\x00\x00\x00"
	// prefixSize is the size of the magic and the header size.
	prefixSize = 8
	// tableOff is where the entries begin.
	tableOff = 12

	entrySize     = 24
	longEntrySize = 40

	flagsShort = 0x0f
	flagsLong  = 0x10

	maxChunks = 1<<24 - 1
)

// MD5 is a checksum, and the form of a content or encoding key.
type MD5 = [md5.Size]byte

// ChunkInfo is a chunk's entry in the table.
type ChunkInfo struct {
	// Off is where the chunk begins in the encoded file, at its mode byte.
	Off int64
	// EncodedSize counts the mode byte.
	EncodedSize int64
	// DecodedOff is where the chunk's content begins in the decoded file.
	DecodedOff int64
	// DecodedSize is -1 for the chunk of a file without table.
	DecodedSize int64
	// Sum is the MD5 of the encoded chunk; it is zero without table.
	Sum MD5
	// DecodedSum is the MD5 of the content. Only files with long entries have it.
	DecodedSum MD5
}

// Header is the part of a file before its chunks.
type Header struct {
	// Size is the number of bytes before the first chunk.
	Size int64
	// Table is false for a file of one chunk that has no table.
	Table bool
	// Long is set if entries carry the MD5 of the decoded chunk too.
	Long   bool
	Chunks []ChunkInfo
	// DecodedSize is the size of the whole file, or -1 without table.
	DecodedSize int64
	// Key is the file's encoding key: the MD5 of the header. It is zero without table,
	// because then the key is the MD5 of the whole file.
	Key MD5
}

// ReadHeader reads the header of the file in the first size bytes of r.
func ReadHeader(r io.ReaderAt, size int64) (*Header, error) {
	var prefix [tableOff]byte
	if size < prefixSize+1 {
		return nil, badHeader(0, "the file has %d bytes, its header and one chunk take at least %d", size, prefixSize+1)
	}
	if err := readat.Full(r, prefix[:min(size, tableOff)], 0); err != nil {
		return nil, fmt.Errorf("blte: reading the header: %w", err)
	}
	if string(prefix[:4]) != magic {
		return nil, badHeader(0, "found % x instead of %q", prefix[:4], magic)
	}
	headerSize := int64(binary.BigEndian.Uint32(prefix[4:]))
	if headerSize == 0 {
		return plainHeader(size), nil
	}
	h, count, err := parsePrefix(prefix[:], headerSize, size)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, headerSize)
	if err := readat.Full(r, raw, 0); err != nil {
		return nil, fmt.Errorf("blte: reading the chunk table: %w", err)
	}
	h.Key = md5.Sum(raw)
	return h, h.parseTable(raw[tableOff:], count, size)
}

// plainHeader describes a file of one chunk without table.
func plainHeader(size int64) *Header {
	return &Header{
		Size: prefixSize, DecodedSize: -1,
		Chunks: []ChunkInfo{{Off: prefixSize, EncodedSize: size - prefixSize, DecodedSize: -1}},
	}
}

// parsePrefix checks the bytes before the table against the sizes.
func parsePrefix(prefix []byte, headerSize, size int64) (*Header, int, error) {
	if headerSize > size || size < tableOff {
		return nil, 0, badHeader(4, "a header of %d bytes in a file of %d", headerSize, size)
	}
	h := &Header{Size: headerSize, Table: true}
	entry := int64(entrySize)
	switch prefix[8] {
	case flagsShort:
	case flagsLong:
		h.Long, entry = true, longEntrySize
	default:
		return nil, 0, badHeader(8, "table flags %#x instead of %#x or %#x", prefix[8], flagsShort, flagsLong)
	}
	count := int64(prefix[9])<<16 | int64(prefix[10])<<8 | int64(prefix[11])
	if count == 0 || tableOff+count*entry != headerSize {
		return nil, 0, badHeader(9, "a table of %d chunks in a header of %d bytes", count, headerSize)
	}
	return h, int(count), nil
}

func (h *Header) parseTable(raw []byte, count int, size int64) error {
	h.Chunks = make([]ChunkInfo, count)
	entry := len(raw) / count
	off, decoded := h.Size, int64(0)
	for i := range h.Chunks {
		e := raw[i*entry : (i+1)*entry]
		c := &h.Chunks[i]
		c.Off, c.EncodedSize = off, int64(binary.BigEndian.Uint32(e))
		c.DecodedOff, c.DecodedSize = decoded, int64(binary.BigEndian.Uint32(e[4:]))
		copy(c.Sum[:], e[8:24])
		if h.Long {
			copy(c.DecodedSum[:], e[24:])
		}
		if c.EncodedSize == 0 {
			return badHeader(tableOff+int64(i*entry), "chunk %d has no bytes, not even a mode", i)
		}
		off += c.EncodedSize
		decoded += c.DecodedSize
	}
	if off > size {
		return badHeader(tableOff, "the chunks end at %d, the file at %d", off, size)
	}
	h.DecodedSize = decoded
	return nil
}

// appendHeader writes a header for chunks whose sizes and sums are set.
func appendHeader(b []byte, chunks []ChunkInfo, long bool) []byte {
	entry, flags := entrySize, byte(flagsShort)
	if long {
		entry, flags = longEntrySize, flagsLong
	}
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint32(b, uint32(tableOff+len(chunks)*entry))
	b = append(b, flags, byte(len(chunks)>>16), byte(len(chunks)>>8), byte(len(chunks)))
	for i := range chunks {
		c := &chunks[i]
		b = binary.BigEndian.AppendUint32(b, uint32(c.EncodedSize))
		b = binary.BigEndian.AppendUint32(b, uint32(c.DecodedSize))
		b = append(b, c.Sum[:]...)
		if long {
			b = append(b, c.DecodedSum[:]...)
		}
	}
	return b
}
