package wtf8

import "unicode/utf8"

// AppendJSON appends s as a JSON string. A surrogate without partner becomes its
// \ud800 escape, which JSON has though UTF-8 has not; bytes that are no WTF-8 become
// U+FFFD.
func AppendJSON[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7F:
			dst = appendEscape(dst, uint16(c))
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			var n int
			dst, n = appendCodePoint(dst, string(s[i:min(len(s), i+utf8.UTFMax)]))
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}

// appendCodePoint appends the code point that s begins with, and tells how long it is
// spelled.
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
