package form

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"lorefs/datacenter/internal/hash"
	"lorefs/internal/wtf8"
)

// MaxString bounds a string, in UTF-16 units. The longest official one has 48,588. Without
// a bound a segment without a NUL would be one string of the segment's size.
const MaxString = 1 << 20

// StringUnits returns the UTF-16 units of the string at addr. It ends before a NUL or at
// the end of the used part of its segment. Strings may share units.
func (f *File) StringUnits(data []Segment, addr Address) ([]byte, error) {
	off, err := Run(data, addr, 1, CharSize)
	if err != nil {
		return nil, fmt.Errorf("string: %w", err)
	}
	limit := (int64(data[addr.Segment].Used) - int64(addr.Element)) * CharSize
	block, i := f.BlockAt(off)
	b, err := f.Block(block)
	if err != nil {
		return nil, err
	}
	part := b[min(i, len(b)):]
	part = part[:min(int64(len(part)), limit)]
	if n := NulAt(part); n >= 0 {
		part = part[:n]
	} else if int64(len(part)) < limit {
		return f.longString(off, limit)
	}
	if len(part) > MaxString*CharSize {
		return nil, Badf(off, "string of more than %d characters", MaxString)
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
		b, err := f.Straddle(off+n, scratch[:min(step, limit-n)])
		if err != nil {
			return nil, err
		}
		if end := NulAt(b); end >= 0 {
			n += int64(end)
			break
		}
		if n += int64(len(b)); n > MaxString*CharSize {
			return nil, Badf(off, "string of more than %d characters", MaxString)
		}
	}
	return f.Straddle(off, make([]byte, n))
}

// NulAt returns the place of the first NUL character of b, or -1.
func NulAt(b []byte) int {
	// Four characters at a time: of a word less 1 in each character, the lowest character with
	// a new highest bit was NUL.
	const ones, highest = 0x0001000100010001, 0x8000800080008000
	i := 0
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		if nul := (word - ones) &^ word & highest; nul != 0 {
			return i + bits.TrailingZeros64(nul)/16*CharSize
		}
	}
	for ; i+1 < len(b); i += CharSize {
		if b[i]|b[i+1] == 0 {
			return i
		}
	}
	return -1
}

// AppendString appends the text of the string at addr as WTF-8.
func (f *File) AppendString(dst []byte, data []Segment, addr Address) ([]byte, error) {
	units, err := f.StringUnits(data, addr)
	if err != nil {
		return dst, err
	}
	return wtf8.Append(dst, units), nil
}

// ValueHashMask masks the 14 bits that an attribute has for the hash of a string.
const ValueHashMask = 1<<14 - 1

// HashUnits returns both hashes of a string: that of the table, and that of attributes.
func HashUnits(units []byte) (text uint32, value uint16, err error) {
	var ofText, ofValue uint32
	nul := false
	for ; len(units) >= 2*CharSize; units = units[2*CharSize:] {
		first, second := binary.LittleEndian.Uint16(units), binary.LittleEndian.Uint16(units[CharSize:])
		nul = nul || first == 0 || second == 0
		ofText = hash.Two(ofText, first, second)
		ofValue = hash.Two(ofValue, hash.Fold(first), hash.Fold(second))
	}
	if len(units) >= CharSize {
		last := binary.LittleEndian.Uint16(units)
		nul = nul || last == 0
		ofText = hash.Unit(ofText, last)
		ofValue = hash.Unit(ofValue, hash.Fold(last))
	}
	if nul {
		return 0, 0, fmt.Errorf("datacenter: %w: a string with a NUL in it", ErrValue)
	}
	return ofText, uint16(ofValue & ValueHashMask), nil
}

// StringEntry is a DataCenterString.
type StringEntry struct {
	Hash, Length, Index uint32
	Addr                Address
}

// ParseStringEntry reads an entry of a string table from b.
func ParseStringEntry(b []byte) StringEntry {
	_ = b[StringSize-1]
	le := binary.LittleEndian
	return StringEntry{Hash: le.Uint32(b), Length: le.Uint32(b[4:]), Index: le.Uint32(b[8:]), Addr: ParseAddress(b[12:])}
}

// Append is the inverse of ParseStringEntry.
func (e StringEntry) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, e.Hash)
	b = le.AppendUint32(b, e.Length)
	b = le.AppendUint32(b, e.Index)
	return e.Addr.Append(b)
}
