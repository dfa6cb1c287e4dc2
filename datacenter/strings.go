package datacenter

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"lorefs/internal/wtf8"
)

// maxString bounds a string, in UTF-16 units. The longest official one has 48,588. Without
// a bound a segment without a NUL would be one string of the segment's size.
const maxString = 1 << 20

// stringUnits returns the UTF-16 units of the string at addr. It ends before a NUL or at
// the end of the used part of its segment. Strings may share units.
func (f *File) stringUnits(data []segment, addr Address) ([]byte, error) {
	off, err := run(data, addr, 1, charSize)
	if err != nil {
		return nil, fmt.Errorf("string: %w", err)
	}
	limit := (int64(data[addr.Segment].used) - int64(addr.Element)) * charSize
	block, i := f.blockAt(off)
	b, err := f.block(block)
	if err != nil {
		return nil, err
	}
	part := b[min(i, len(b)):]
	part = part[:min(int64(len(part)), limit)]
	if n := nulAt(part); n >= 0 {
		part = part[:n]
	} else if int64(len(part)) < limit {
		return f.longString(off, limit)
	}
	if len(part) > maxString*charSize {
		return nil, badf(off, "string of more than %d characters", maxString)
	}
	return part, nil
}

// longString copies a string of at most limit bytes that continues in the next block. It
// finds the end first, so that it copies nothing beyond it.
func (f *File) longString(off, limit int64) ([]byte, error) {
	const step = 4 << 10
	var scratch [step]byte
	n := int64(0)
	for n < limit {
		b, err := f.straddle(off+n, scratch[:min(step, limit-n)])
		if err != nil {
			return nil, err
		}
		if end := nulAt(b); end >= 0 {
			n += int64(end)
			break
		}
		if n += int64(len(b)); n > maxString*charSize {
			return nil, badf(off, "string of more than %d characters", maxString)
		}
	}
	return f.straddle(off, make([]byte, n))
}

// nulAt returns the place of the first NUL character of b, or -1.
func nulAt(b []byte) int {
	// Four characters at a time: of a word less 1 in each character, the lowest character with
	// a new highest bit was NUL.
	const ones, highest = 0x0001000100010001, 0x8000800080008000
	i := 0
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		if nul := (word - ones) &^ word & highest; nul != 0 {
			return i + bits.TrailingZeros64(nul)/16*charSize
		}
	}
	for ; i+1 < len(b); i += charSize {
		if b[i]|b[i+1] == 0 {
			return i
		}
	}
	return -1
}

// appendString appends the text of the string at addr as WTF-8.
func (f *File) appendString(dst []byte, data []segment, addr Address) ([]byte, error) {
	units, err := f.stringUnits(data, addr)
	if err != nil {
		return dst, err
	}
	return wtf8.Append(dst, units), nil
}
