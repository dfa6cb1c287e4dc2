package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"lorefs/internal/readat"
)

const (
	// MaxPayload is the size of the largest record, in bytes. The smallest is 1.
	MaxPayload = 64 << 20
	// MaxHeader is how many bytes a caller can put into a journal's header.
	MaxHeader = 1 << 20

	magic   = "lorefs-j"
	version = 1

	// Offsets in the header.
	versionOff   = 8
	fileMarkOff  = 12
	headerLenOff = 16
	headerCRCOff = 20
	headerSize   = 24

	// Offsets in a record.
	lenOff     = 4
	crcOff     = 8
	recordSize = 12

	// markSize is the size of the mark, with which a record begins.
	markSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHeader appends a file's header.
func appendHeader(dst []byte, mark uint32, header []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, mark)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(header)))
	crc := crc32.Update(crc32.Checksum(dst[start:], castagnoli), castagnoli, header)
	dst = binary.LittleEndian.AppendUint32(dst, crc)
	return append(dst, header...)
}

// parseHeader reads a file's header.
func parseHeader(r io.ReaderAt, size int64) (mark uint32, header []byte, err error) {
	var b [headerSize]byte
	if size < headerSize {
		return 0, nil, bad(0, "%d bytes are too few for a header of %d", size, headerSize)
	}
	if err := readFull(r, b[:], 0); err != nil {
		return 0, nil, err
	}
	if string(b[:len(magic)]) != magic {
		return 0, nil, bad(0, "it begins with %q, want %q", b[:len(magic)], magic)
	}
	if v := binary.LittleEndian.Uint32(b[versionOff:]); v != version {
		return 0, nil, bad(versionOff, "version %d of the format, want %d", v, version)
	}
	mark = binary.LittleEndian.Uint32(b[fileMarkOff:])
	n := binary.LittleEndian.Uint32(b[headerLenOff:])
	if int64(n) > size-headerSize || n > MaxHeader {
		return 0, nil, bad(headerLenOff, "a header of %d bytes in a file of %d", n, size)
	}
	header = make([]byte, n)
	if err := readFull(r, header, headerSize); err != nil {
		return 0, nil, err
	}
	crc := crc32.Update(crc32.Checksum(b[:headerCRCOff], castagnoli), castagnoli, header)
	if want := binary.LittleEndian.Uint32(b[headerCRCOff:]); crc != want {
		return 0, nil, bad(0, "the header's checksum is %#x, want %#x", crc, want)
	}
	if mark == 0 {
		return 0, nil, bad(fileMarkOff, "the mark is 0") // as all is that was never written
	}
	return mark, header, nil
}

// appendRecord appends a record that will lie at off.
func appendRecord(dst []byte, mark uint32, off int64, payload []byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, mark)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	crc := recordCRC(dst[start:], off, payload)
	dst = binary.LittleEndian.AppendUint32(dst, crc)
	return append(dst, payload...)
}

// recordCRC is the checksum of a record of which head is what lies before it.
func recordCRC(head []byte, off int64, payload []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(off))
	crc := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, at[:])
	return crc32.Update(crc, castagnoli, payload)
}

// errNoRecord means that there is no whole record at an offset.
var errNoRecord = errors.New("no whole record")

// readRecord reads the record at off of a file of size bytes into buf, which grows
// as needed. It gives the payload, or errNoRecord, or an error of reading; with
// errNoRecord too, the buffer is as long as what was read of a payload.
func readRecord(r io.ReaderAt, size, off int64, mark uint32, buf []byte) ([]byte, error) {
	var head [recordSize]byte
	buf = buf[:0]
	if size-off < recordSize {
		return buf, errNoRecord
	}
	if err := readFull(r, head[:], off); err != nil {
		return buf, err
	}
	n := int64(binary.LittleEndian.Uint32(head[lenOff:]))
	if binary.LittleEndian.Uint32(head[:]) != mark || n < 1 || n > MaxPayload || n > size-off-recordSize {
		return buf, errNoRecord
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if err := readFull(r, buf, off+recordSize); err != nil {
		return buf, err
	}
	if recordCRC(head[:crcOff], off, buf) != binary.LittleEndian.Uint32(head[crcOff:]) {
		return buf, errNoRecord
	}
	return buf, nil
}

// readFull fills b. The end of the file is an error: it was longer just now.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	err := readat.Full(r, b, off)
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: reading at offset %#x: %w", off, err)
}
