package jsonscan

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"lorefs/internal/wtf8"
)

// String reads a string and returns its content in WTF-8. Bytes that are not UTF-8 become
// U+FFFD.
func (s *Scanner) String() string {
	raw, plain := s.quoted()
	if plain {
		return string(raw)
	}
	return string(unquote(raw))
}

// quoted skips a string and returns the text between its quotes. plain says that the text is
// its content too: all ASCII, without escapes.
func (s *Scanner) quoted() (raw []byte, plain bool) {
	s.Open('"')
	start, plain := s.pos, true
	for s.failed == nil {
		if s.pos == len(s.text) {
			s.Fail(s.pos, "found %s in a string", s.found(s.pos))
			break
		}
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return s.text[start : s.pos-1], plain
		case c == '\\':
			plain = false
			s.escape()
		case c < ' ':
			s.Fail(s.pos, "found %s in a string", s.found(s.pos))
		default:
			plain = plain && c < utf8.RuneSelf
			s.pos++
		}
	}
	return nil, true
}

// escapes are the letters after a backslash, and escaped what they mean.
const (
	escapes = `bfnrt"\/`
	escaped = "\b\f\n\r\t\"\\/"
)

// escape skips a backslash and the rest of its escape.
func (s *Scanner) escape() {
	rest := s.text[s.pos:]
	if _, ok := unit(rest); ok {
		s.pos += 6
	} else if len(rest) > 1 && strings.IndexByte(escapes, rest[1]) >= 0 {
		s.pos += 2
	} else {
		s.Fail(s.pos, "the string has an unknown escape")
	}
}

// unit parses the \u escape at the start of raw.
func unit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(u), err == nil
}

// unquote returns the content of raw, whose escapes were checked.
func unquote(raw []byte) []byte {
	dst := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		n := 1
		switch c := raw[0]; {
		case c == '\\':
			dst, n = appendEscaped(dst, raw)
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			var r rune
			r, n = utf8.DecodeRune(raw)
			dst = utf8.AppendRune(dst, r)
		}
		raw = raw[n:]
	}
	return dst
}

// appendEscaped appends the meaning of the escape at the start of raw, and returns the
// length of the escape.
func appendEscaped(dst, raw []byte) ([]byte, int) {
	u, ok := unit(raw)
	if !ok {
		return append(dst, escaped[strings.IndexByte(escapes, raw[1])]), 2
	}
	if !utf16.IsSurrogate(u) {
		return utf8.AppendRune(dst, u), 6
	}
	if low, ok := unit(raw[6:]); ok {
		if r := utf16.DecodeRune(u, low); r != utf8.RuneError {
			return utf8.AppendRune(dst, r), 12
		}
	}
	return wtf8.Append(dst, []byte{byte(u), byte(u >> 8)}), 6
}
