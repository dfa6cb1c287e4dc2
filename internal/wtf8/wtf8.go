// Package wtf8 converts UTF-16 to WTF-8: UTF-8 in which a surrogate without partner is
// encoded like any other code point, in three bytes. So every sequence of UTF-16 units has
// one spelling, and can be restored.
//
// unicode/utf16 and unicode/utf8 replace a lone surrogate by U+FFFD, which would lose data.
// For the same reason the strings of JSON are written here, not by encoding/json.
package wtf8

import (
	"encoding/binary"
	"unicode/utf8"
)

const (
	surrogateMin = 0xd800
	lowMin       = 0xdc00
	surrogateEnd = 0xe000
	astralMin    = 0x10000
)

// Append appends the WTF-8 of src, little-endian UTF-16, to dst. An odd last
// byte of src is ignored.
func Append(dst, src []byte) []byte {
	// Most texts are ASCII: four units at a time, up to the first that is not.
	const notASCII = 0xff80ff80ff80ff80
	for ; len(src) >= 8; src = src[8:] {
		u := binary.LittleEndian.Uint64(src)
		if u&notASCII != 0 {
			break
		}
		dst = append(dst, byte(u), byte(u>>16), byte(u>>32), byte(u>>48))
	}
	for i := 0; i+1 < len(src); i += 2 {
		u := binary.LittleEndian.Uint16(src[i:])
		switch {
		case u < utf8.RuneSelf:
			dst = append(dst, byte(u))
		case u < 0x800:
			dst = append(dst, 0xc0|byte(u>>6), 0x80|byte(u)&0x3f)
		case isHigh(u) && i+3 < len(src) && isLow(binary.LittleEndian.Uint16(src[i+2:])):
			low := binary.LittleEndian.Uint16(src[i+2:])
			r := astralMin + (rune(u)-surrogateMin)<<10 + rune(low) - lowMin
			dst = utf8.AppendRune(dst, r)
			i += 2
		default: // lone surrogates come here too
			dst = append(dst, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0xbf, 0x80|byte(u)&0x3f)
		}
	}
	return dst
}

// Len returns the number of bytes that Append would append.
func Len(src []byte) int {
	n := 0
	for i := 0; i+1 < len(src); i += 2 {
		u := binary.LittleEndian.Uint16(src[i:])
		switch {
		case u < utf8.RuneSelf:
			n++
		case u < 0x800:
			n += 2
		case isHigh(u) && i+3 < len(src) && isLow(binary.LittleEndian.Uint16(src[i+2:])):
			n += 4
			i += 2
		default:
			n += 3
		}
	}
	return n
}

// AppendUTF16 appends the little-endian UTF-16 units of s, which is WTF-8. A byte that is
// no part of a code point becomes U+FFFD.
func AppendUTF16[T string | []byte](dst []byte, s T) []byte {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			dst = append(dst, s[i], 0)
			i++
			continue
		}
		if u, ok := surrogate(s[i:]); ok {
			dst = binary.LittleEndian.AppendUint16(dst, u)
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		if r >= astralMin {
			r -= astralMin
			dst = binary.LittleEndian.AppendUint16(dst, uint16(surrogateMin+r>>10))
			dst = binary.LittleEndian.AppendUint16(dst, uint16(lowMin+r&0x3ff))
		} else {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
		}
		i += n
	}
	return dst
}

// surrogate reads the three bytes of a surrogate at the start of s.
func surrogate[T string | []byte](s T) (uint16, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return uint16(s[0]&0x0f)<<12 | uint16(s[1]&0x3f)<<6 | uint16(s[2]&0x3f), true
}

func isHigh(u uint16) bool { return u >= surrogateMin && u < lowMin }
func isLow(u uint16) bool  { return u >= lowMin && u < surrogateEnd }
