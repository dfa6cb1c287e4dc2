package wtf8

import (
	"fmt"
	"unicode/utf8"
)

// AppendJSON appends s as a JSON string. A surrogate without partner becomes its
// \ud800 escape, which JSON has though UTF-8 has not; bytes that are no WTF-8 become
// U+FFFD.
func AppendJSON(dst, s []byte) []byte {
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
			r, n := utf8.DecodeRune(s[i:])
			if u, ok := surrogate(string(s[i:min(len(s), i+3)])); ok && r == utf8.RuneError {
				dst, n = appendEscape(dst, u), 3
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, u uint16) []byte { return fmt.Appendf(dst, `\u%04x`, u) }
