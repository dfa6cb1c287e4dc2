package jsonscan

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"lorefs/internal/wtf8"
)

// String reads a string and gives what it says, in WTF-8. Bytes that are no UTF-8 become
// U+FFFD.
func (s *Scanner) String() string {
	raw, plain := s.quoted()
	if plain {
		return string(raw)
	}
	return string(unquote(raw))
}

// quoted skips a string and gives what is between its quotes, as it is spelled. It is
// plain if that is what the string says: all of it ASCII, and no escapes.
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

// escape skips a backslash and what belongs to it.
func (s *Scanner) escape() {
	rest := s.text[s.pos+1:]
	switch {
	case len(rest) > 0 && bytes.IndexByte([]byte(`"\/bfnrt`), rest[0]) >= 0:
		s.pos += 2
	case len(rest) >= 5 && rest[0] == 'u' && isHex(rest[1:5]):
		s.pos += 6
	default:
		s.Fail(s.pos, "the string has an unknown escape")
	}
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// unquote gives what is said by raw, whose escapes were checked.
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

// appendEscaped appends what the escape at the start of raw stands for, and gives its
// length.
func appendEscaped(dst, raw []byte) ([]byte, int) {
	if i := bytes.IndexByte([]byte("bfnrt"), raw[1]); i >= 0 {
		return append(dst, "\b\f\n\r\t"[i]), 2
	}
	if raw[1] != 'u' {
		return append(dst, raw[1]), 2
	}
	u := unit(raw)
	if !utf16.IsSurrogate(u) {
		return utf8.AppendRune(dst, u), 6
	}
	if rest := raw[6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if r := utf16.DecodeRune(u, unit(rest)); r != utf8.RuneError {
			return utf8.AppendRune(dst, r), 12
		}
	}
	return wtf8.Append(dst, []byte{byte(u), byte(u >> 8)}), 6
}

// unit reads the four digits of a \u escape.
func unit(raw []byte) rune {
	u, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError // cannot be: escape has looked at them
	}
	return rune(u)
}
