package datacenter

import (
	"fmt"

	"lorefs/internal/wtf8"
)

// maxString bounds a string, in UTF-16 units. The longest official one has
// 48,588; without a bound a segment without NUL would be one string of its size.
const maxString = 1 << 24

// stringUnits gives the UTF-16 units of the string at addr, which ends before a
// NUL or at the end of the used part of its segment. Strings may share units.
func (f *File) stringUnits(data []segment, addr Address) ([]byte, error) {
	off, err := run(data, addr, 0, charSize)
	if err != nil {
		return nil, fmt.Errorf("string: %w", err)
	}
	limit := int64(data[addr.Segment].used) - int64(addr.Element)
	b, err := f.block(uint64(off) >> blockShift)
	if err != nil {
		return nil, err
	}
	i := int(off & (blockSize - 1))
	if i > len(b) {
		return nil, badf(off, "the data ends before this string")
	}
	part := b[i:]
	if int64(len(part)) > limit*charSize {
		part = part[:limit*charSize]
	}
	if n := nulAt(part); n >= 0 {
		return part[:n], nil
	}
	if int64(len(part)) == limit*charSize {
		return part, nil
	}
	return f.longString(off, limit, part)
}

// longString copies a string that goes on in the next blocks.
func (f *File) longString(off, limit int64, part []byte) ([]byte, error) {
	const step = 512
	s := append([]byte(nil), part...)
	for int64(len(s)) < limit*charSize {
		// An odd byte may be left of the block before.
		from := len(s) &^ 1
		n := int(min(step, limit*charSize-int64(len(s))))
		s = append(s, make([]byte, n)...)
		if _, err := f.straddle(off+int64(len(s)-n), s[len(s)-n:]); err != nil {
			return nil, err
		}
		if n := nulAt(s[from:]); n >= 0 {
			return s[:from+n], nil
		}
		if len(s) > maxString*charSize {
			return nil, badf(off, "string of more than %d characters", maxString)
		}
	}
	return s, nil
}

// nulAt finds the first NUL character of b; -1 if there is none.
func nulAt(b []byte) int {
	for i := 0; i+1 < len(b); i += charSize {
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
