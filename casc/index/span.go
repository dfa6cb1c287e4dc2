package index

import (
	"encoding/binary"

	"lorefs/casc/internal/format"
	"lorefs/casc/internal/lookup3"
	"lorefs/casc/keys"
)

const span format.Name = "span header"

// SpanHeaderSize is the number of bytes before each file in a local archive.
const SpanHeaderSize = 30

// SpanHeader stands before each file in data.NNN. Since 2023 it may be zeros or garbage. It
// is not needed for reading, and serves only for diagnosis.
type SpanHeader struct {
	// Key is the encoding key; its end may be zeros.
	Key keys.Key
	// Size is the size of the span with this header.
	Size uint32
	// Placeholder says that there is no data.
	Placeholder bool
}

const (
	// spanHashed is how much of the header the first hash covers, and spanSeed its seed.
	// spanSummed is how much the second covers.
	spanHashed = 0x16
	spanSeed   = 0x3D6BE971
	spanSummed = 0x1A
)

// spanTable goes into the second checksum, by the header's place.
var spanTable = [16]uint32{
	0x049396B8, 0x72A82A9B, 0xEE626CCA, 0x9917754F, 0x15DE40B1, 0xF5A8A9B6, 0x421EAC7E, 0xA9D55C9A,
	0x317FD40C, 0x04FAF80D, 0x3D6BE971, 0x52933CFD, 0x27F64B7D, 0xC6F5C11B, 0xD5757E3A, 0x6C388745,
}

// spanSum returns the second checksum of a header at off of its archive. It is proven only
// for offset 0. That it does not depend on the archive's number is by description.
func spanSum(header []byte, off int64) [4]byte {
	var x [4]byte
	for i, b := range header[:spanSummed] {
		x[i&3] ^= b
	}
	v := uint32(off + SpanHeaderSize)
	var e, sum [4]byte
	binary.LittleEndian.PutUint32(e[:], v^spanTable[v&15])
	for j := range sum {
		at := (spanSummed + j) & 3
		sum[j] = x[at] ^ e[at]
	}
	return sum
}

// ParseSpanHeader reads the header at off of an archive and checks its hashes.
func ParseSpanHeader(b []byte, off int64) (SpanHeader, error) {
	if len(b) < SpanHeaderSize {
		return SpanHeader{}, span.Bad(off, "%d bytes, expected %d", len(b), SpanHeaderSize)
	}
	var h SpanHeader
	for i := range h.Key {
		h.Key[i] = b[len(h.Key)-1-i]
	}
	h.Size, h.Placeholder = binary.LittleEndian.Uint32(b[0x10:]), b[0x14] == 1
	if hash, want := lookup3.Hash(b[:spanHashed], spanSeed), binary.LittleEndian.Uint32(b[spanHashed:]); hash != want {
		return h, span.Bad(off+spanHashed, "the hash is %08x, stated is %08x", hash, want)
	}
	if sum := spanSum(b, off); string(sum[:]) != string(b[spanSummed:SpanHeaderSize]) {
		return h, span.Bad(off+spanSummed, "the checksum is %x, stated is %x", sum, b[spanSummed:SpanHeaderSize])
	}
	return h, nil
}

// Append appends the header as it stands at off of an archive.
func (h SpanHeader) Append(dst []byte, off int64) []byte {
	var b [SpanHeaderSize]byte
	for i := range h.Key {
		b[i] = h.Key[len(h.Key)-1-i]
	}
	binary.LittleEndian.PutUint32(b[0x10:], h.Size)
	if h.Placeholder {
		b[0x14] = 1
	}
	binary.LittleEndian.PutUint32(b[spanHashed:], lookup3.Hash(b[:spanHashed], spanSeed))
	sum := spanSum(b[:], off)
	copy(b[spanSummed:], sum[:])
	return append(dst, b[:]...)
}
