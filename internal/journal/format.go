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

	magic = "lorefs-j"
	// version is the version that is written. versionPlain is the one before, which had
	// neither features nor promises.
	version      = 2
	versionPlain = 1

	// Offsets in the header that are the same in all versions.
	versionOff   = 8
	fileMarkOff  = 12
	headerLenOff = 16
	commonSize   = 20
	// Offsets in the header of version 2. Its last 4 bytes are the checksum, as in version
	// 1.
	featuresOff     = 20
	headerSize      = 28
	plainHeaderSize = 24
	crcSize         = 4

	// slotCount is the number of slots. slotBlock is the size and alignment of the block
	// that each has for itself: a disk that loses power while it writes one harms no other,
	// nor a record.
	slotCount = 2
	slotBlock = 4096
	// Offsets in a slot.
	slotCRCOff = 8
	slotSize   = 12

	// Offsets in a record.
	lenOff     = 4
	crcOff     = 8
	recordSize = 12

	// markSize is the size of the mark, with which a record begins.
	markSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// head is the header of a file.
type head struct {
	version, mark uint32
	// The caller put about into the header.
	about []byte
	// slots is the offset of the first slot, 0 if there are none. first is the offset of the first
	// record.
	slots, first int64
}

// appendHead appends what lies before the records of a new journal.
func appendHead(dst []byte, mark uint32, about []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, mark)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(about)))
	dst = binary.LittleEndian.AppendUint32(dst, 0) // features
	crc := crc32.Update(crc32.Checksum(dst[start:], castagnoli), castagnoli, about)
	dst = binary.LittleEndian.AppendUint32(dst, crc)
	dst = append(dst, about...)
	slots, first := placeSlots(int64(len(dst) - start))
	for at := slots; at < first; at += slotBlock {
		dst = append(dst, make([]byte, at-int64(len(dst)-start))...)
		dst = appendSlot(dst, mark, first)
	}
	return append(dst, make([]byte, first-int64(len(dst)-start))...)
}

// placeSlots returns the offsets of the slots behind a header that ends at end, and of the
// records behind them.
func placeSlots(end int64) (slots, first int64) {
	slots = (end + slotBlock - 1) / slotBlock * slotBlock
	return slots, slots + slotCount*slotBlock
}

func parseHead(r io.ReaderAt, size int64) (h head, err error) {
	var b [headerSize]byte
	if size < plainHeaderSize {
		return h, bad(0, "%d bytes are too few for a header of %d", size, plainHeaderSize)
	}
	if err := readFull(r, b[:commonSize], 0); err != nil {
		return h, err
	}
	if string(b[:len(magic)]) != magic {
		return h, bad(0, "it begins with %q, want %q", b[:len(magic)], magic)
	}
	fixed := int64(headerSize)
	switch h.version = binary.LittleEndian.Uint32(b[versionOff:]); h.version {
	case version:
	case versionPlain:
		fixed = plainHeaderSize
	default:
		return h, &UnsupportedError{fmt.Sprintf("version %d of the format, want at most %d", h.version, version)}
	}
	n := int64(binary.LittleEndian.Uint32(b[headerLenOff:]))
	if n > size-fixed || n > MaxHeader {
		return h, bad(headerLenOff, "a header of %d bytes in a file of %d", n, size)
	}
	h.about = make([]byte, n)
	if err := readFull(r, b[commonSize:fixed], commonSize); err != nil {
		return h, err
	}
	if err := readFull(r, h.about, fixed); err != nil {
		return h, err
	}
	crc := crc32.Update(crc32.Checksum(b[:fixed-crcSize], castagnoli), castagnoli, h.about)
	if want := binary.LittleEndian.Uint32(b[fixed-crcSize:]); crc != want {
		return h, bad(0, "the header's checksum is %#x, want %#x", crc, want)
	}
	if h.mark = binary.LittleEndian.Uint32(b[fileMarkOff:]); h.mark == 0 {
		return h, bad(fileMarkOff, "the mark is 0") // as in a file that was never written
	}
	h.first = fixed + n
	if h.version == versionPlain {
		return h, nil
	}
	if features := binary.LittleEndian.Uint32(b[featuresOff:]); features != 0 {
		return h, &UnsupportedError{fmt.Sprintf("the features %#x, want none", features)}
	}
	if h.slots, h.first = placeSlots(h.first); h.first > size {
		return h, bad(size, "the file ends ahead of the records, which begin at %#x", h.first)
	}
	return h, nil
}

// appendSlot appends a slot, which promises that the journal is whole up to end.
func appendSlot(dst []byte, mark uint32, end int64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(end))
	return binary.LittleEndian.AppendUint32(dst, slotCRC(dst[start:], mark))
}

// slotCRC returns the checksum of a slot. promise is what lies before it.
func slotCRC(promise []byte, mark uint32) uint32 {
	var m [markSize]byte
	binary.LittleEndian.PutUint32(m[:], mark)
	return crc32.Update(crc32.Checksum(m[:], castagnoli), castagnoli, promise)
}

// promises are the promises in the slots: up to where the journal was whole when it was
// synced.
type promises [slotCount]int64

// readSlots reads the promises. That of a slot that is not whole is 0.
func (h *head) readSlots(r io.ReaderAt) (p promises, err error) {
	for i := range p {
		var b [slotSize]byte
		if err := readFull(r, b[:], h.slots+int64(i)*slotBlock); err != nil {
			return p, err
		}
		end := int64(binary.LittleEndian.Uint64(b[:]))
		if end >= h.first && slotCRC(b[:slotCRCOff], h.mark) == binary.LittleEndian.Uint32(b[slotCRCOff:]) {
			p[i] = end
		}
	}
	return p, nil
}

// last returns the promise that counts. A journal only grows.
func (p promises) last() int64 { return max(p[0], p[1]) }

// whole reports whether both slots are whole. A torn one may have promised anything.
func (p promises) whole() bool { return min(p[0], p[1]) > 0 }

// older returns the slot for the next promise, which is not the one that counts.
func (p promises) older() int {
	if p[1] < p[0] {
		return 1
	}
	return 0
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

// recordCRC returns the checksum of a record. head is what lies before it.
func recordCRC(head []byte, off int64, payload []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(off))
	crc := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, at[:])
	return crc32.Update(crc, castagnoli, payload)
}

// errNoRecord means that there is no whole record at an offset.
var errNoRecord = errors.New("no whole record")

// readRecord reads the record at off of a file of size bytes into buf, which grows as
// needed. It returns the payload, or errNoRecord, or an error of reading. Also with
// errNoRecord, the buffer is as long as what was read of a payload.
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

// readFull fills b. The end of the file is an error, because the file was longer just now.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	err := readat.Full(r, b, off)
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: reading at offset %#x: %w", off, err)
}
