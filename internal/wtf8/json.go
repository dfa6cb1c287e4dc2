package wtf8

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendJSON appends s as a JSON string. A surrogate without partner becomes its \ud800
// escape, which JSON allows though UTF-8 does not. Bytes that are not WTF-8 become U+FFFD.
func AppendJSON[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			dst = appendASCII(dst, s[i])
			i++
			continue
		}
		var n int
		dst, n = appendCodePoint(dst, string(s[i:min(len(s), i+utf8.UTFMax)]))
		i += n
	}
	return append(dst, '"')
}

// AppendUnitsJSON appends src, little-endian UTF-16, as a JSON string like [AppendJSON].
func AppendUnitsJSON(dst, src []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i+1 < len(src); i += 2 {
		u := binary.LittleEndian.Uint16(src[i:])
		switch {
		case u < utf8.RuneSelf && asItIs[u]:
			dst = append(dst, byte(u))
		case u < utf8.RuneSelf:
			dst = appendASCII(dst, byte(u))
		case !utf16.IsSurrogate(rune(u)):
			dst = utf8.AppendRune(dst, rune(u))
		case isHigh(u) && i+3 < len(src) && isLow(binary.LittleEndian.Uint16(src[i+2:])):
			dst = Append(dst, src[i:i+4])
			i += 2
		default:
			dst = appendEscape(dst, u)
		}
	}
	return append(dst, '"')
}

// asItIs has the characters below [utf8.RuneSelf] that appendASCII does not escape.
var asItIs = func() (is [utf8.RuneSelf]bool) {
	for c := range is {
		is[c] = len(appendASCII(nil, byte(c))) == 1
	}
	return is
}()

// appendASCII appends a character below [utf8.RuneSelf].
func appendASCII(dst []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c >= ' ' && c != 0x7f:
		return append(dst, c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c == '\r':
		return append(dst, `\r`...)
	}
	return appendEscape(dst, uint16(c))
}

// appendCodePoint appends the code point at the beginning of s, and returns its length in
// s.
func appendCodePoint(dst []byte, s string) ([]byte, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError {
		return append(dst, s[:n]...), n
	}
	if u, ok := surrogate(s); ok {
		return appendEscape(dst, u), 3
	}
	return utf8.AppendRune(dst, r), n
}

func appendEscape(dst []byte, u uint16) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
}
