package shown

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with everything escaped that must not reach a terminal. It is one line.
func Text(s string) string {
	if isPlain(s) || !strings.ContainsFunc(s, isEscaped) && utf8.ValidString(s) {
		return s
	}
	return string(appendText(nil, []byte(s), isEscaped))
}

// isPlain reports whether s is ASCII with nothing to escape, as almost all texts are.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// maxQuoted is how much of a text an error quotes, in the quoted form. More would not help,
// least of all if it is binary.
const maxQuoted = 48

// Quote returns the beginning of a text in quotes, for an error.
func Quote[T string | []byte](s T) string {
	text := string(s[:min(len(s), maxQuoted)])
	quoted := `"`
	for done := 0; done < len(text); {
		_, n := utf8.DecodeRuneInString(text[done:])
		next := strconv.Quote(text[done : done+n])
		next = next[1 : len(next)-1]
		if len(quoted)+len(next) > maxQuoted {
			return quoted + `"…`
		}
		quoted += next
		done += n
	}
	if len(text) < len(s) {
		return quoted + `"…`
	}
	return quoted + `"`
}

// isEscaped reports whether a character is escaped.
func isEscaped(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// isEscapedInLines is isEscaped for text of many lines, with columns.
func isEscapedInLines(r rune) bool { return isEscaped(r) && r != '\n' && r != '\t' }

// appendText appends s, with the characters escaped that escaped selects.
func appendText(dst, s []byte, escaped func(rune) bool) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\x%02x`, s[0])
		case !escaped(r):
			dst = append(dst, s[:n]...)
		default:
			dst = appendEscape(dst, r)
		}
		s = s[n:]
	}
	return dst
}

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if r > 0xffff {
		return fmt.Appendf(dst, `\U%08x`, r)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}
