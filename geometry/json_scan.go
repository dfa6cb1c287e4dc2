package geometry

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"lorefs/internal/shown"
)

// scanner reads the JSON of zones and areas. It keeps its first error: from then
// on everything it gives is zero, and loops end.
//
// A list is read like this, and an object with key in the loop:
//
//	s.open('[')
//	for i := 0; s.more(i, ']'); i++ { … }
type scanner struct {
	text []byte
	pos  int
	// failed is a JSONError, or nil.
	failed error
}

// fail keeps an error at a place in the text.
func (s *scanner) fail(pos int, format string, args ...any) {
	if s.failed != nil {
		return
	}
	before := s.text[:min(pos, len(s.text))]
	line := bytes.LastIndexByte(before, '\n') + 1
	s.failed = &JSONError{
		Line:   bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[line:]) + 1,
		What:   fmt.Sprintf(format, args...),
	}
}

// found names what is at a place, for an error.
func (s *scanner) found(pos int) string {
	if pos >= len(s.text) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(s.text[pos:])
	return strconv.QuoteRune(r)
}

// peek skips white space and gives the byte behind it, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// open skips the bracket c.
func (s *scanner) open(c byte) {
	if s.failed != nil {
		return
	}
	if s.peek() != c {
		s.fail(s.pos, "found %s, want %q", s.found(s.pos), c)
		return
	}
	s.pos++
}

// more reports whether there is an element i, and skips what is before it: nothing
// before the first, else a comma. If there is none it skips the closing bracket.
func (s *scanner) more(i int, closing byte) bool {
	if s.failed != nil {
		return false
	}
	switch c := s.peek(); {
	case c == closing && s.pos < len(s.text):
		s.pos++
		return false
	case i == 0:
		return true
	case c == ',':
		s.pos++
		return true
	}
	s.fail(s.pos, "found %s, want ',' or %q", s.found(s.pos), closing)
	return false
}

// end sees to it that nothing follows.
func (s *scanner) end() error {
	if s.failed == nil {
		s.peek()
		if s.pos < len(s.text) {
			s.fail(s.pos, "found %s, want the end of the text", s.found(s.pos))
		}
	}
	return s.failed
}

// str reads a string and gives what is between its quotes, as it is written.
func (s *scanner) str() string {
	s.open('"')
	start := s.pos
	for s.failed == nil {
		switch {
		case s.pos >= len(s.text) || s.text[s.pos] < ' ':
			s.fail(s.pos, "found %s in a string", s.found(s.pos))
		case s.text[s.pos] == '\\':
			s.escape()
		case s.text[s.pos] == '"':
			s.pos++
			return string(s.text[start : s.pos-1])
		default:
			s.pos++
		}
	}
	return ""
}

// escape skips a backslash and what belongs to it.
func (s *scanner) escape() {
	rest := s.text[s.pos+1:]
	switch {
	case len(rest) > 0 && bytes.IndexByte([]byte(`"\/bfnrt`), rest[0]) >= 0:
		s.pos += 2
	case len(rest) >= 5 && rest[0] == 'u' && isHex(rest[1:5]):
		s.pos += 6
	default:
		s.fail(s.pos, "the string has an unknown escape")
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

// key reads the key of an object's element and the colon behind it.
func (s *scanner) key() string {
	k := s.str()
	s.open(':')
	return k
}

// number skips a number and gives its text.
func (s *scanner) number() []byte {
	if s.failed != nil {
		return nil
	}
	s.peek()
	start := s.pos
	s.skip("-")
	digits := s.pos
	if s.digits(); s.pos-digits > 1 && s.text[digits] == '0' {
		s.fail(digits, "a number begins with 0")
	}
	if s.skip(".") {
		s.digits()
	}
	if s.skip("eE") {
		s.skip("+-")
		s.digits()
	}
	if s.failed != nil {
		return nil
	}
	return s.text[start:s.pos]
}

// skip skips one byte, if it is one of set.
func (s *scanner) skip(set string) bool {
	if s.pos == len(s.text) {
		return false
	}
	for i := range len(set) {
		if s.text[s.pos] == set[i] {
			s.pos++
			return true
		}
	}
	return false
}

// digits skips one digit or more.
func (s *scanner) digits() {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == start {
		s.fail(s.pos, "found %s, want a number", s.found(s.pos))
	}
}

// integer reads a whole number from lo to hi; what names it in an error.
func (s *scanner) integer(what string, lo, hi int64) int64 {
	if s.failed != nil {
		return 0
	}
	s.peek()
	start := s.pos
	v, ok := s.small()
	if !ok {
		var err error
		v, err = strconv.ParseInt(string(s.number()), 10, 64)
		ok = err == nil
	}
	if ok = ok && v >= lo && v <= hi; !ok {
		s.fail(start, "the %s is %s: want a whole number from %d to %d", what, s.text[start:s.pos], lo, hi)
		return 0
	}
	return v
}

// small reads a whole number of at most 9 digits with nothing special about it,
// at once; else it reads nothing. Nearly all numbers are of this kind.
func (s *scanner) small() (int64, bool) {
	i := s.pos
	negative := i < len(s.text) && s.text[i] == '-'
	if negative {
		i++
	}
	start, v := i, int64(0)
	for ; i < len(s.text) && i-start < 9 && s.text[i] >= '0' && s.text[i] <= '9'; i++ {
		v = v*10 + int64(s.text[i]-'0')
	}
	if i == start || i == len(s.text) || (s.text[start] == '0' && i-start > 1) {
		return 0, false
	}
	if c := s.text[i]; c == '.' || c|0x20 == 'e' || (c >= '0' && c <= '9') {
		return 0, false
	}
	if negative {
		v = -v
	}
	s.pos = i
	return v, true
}

// float reads a finite float32.
func (s *scanner) float(what string) float32 {
	if s.failed != nil {
		return 0
	}
	s.peek()
	// An integer has no negative zero.
	if !bytes.HasPrefix(s.text[s.pos:], []byte("-0")) {
		if v, ok := s.small(); ok {
			return float32(v)
		}
	}
	text := s.number()
	if s.failed != nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(text), 32)
	if err != nil {
		s.fail(s.pos-len(text), "the %s is %s: want a number that a 32-bit float can hold", what, text)
		return 0
	}
	return float32(v)
}

// maxNesting bounds what is skipped without looking at it.
const maxNesting = 32

// ignore skips a value of any kind.
func (s *scanner) ignore(nesting int) {
	if s.failed != nil {
		return
	}
	c := s.peek()
	if nesting == maxNesting {
		s.fail(s.pos, "more than %d brackets are open", maxNesting)
		return
	}
	switch c {
	case '{':
		s.open(c)
		for i := 0; s.more(i, '}'); i++ {
			s.key()
			s.ignore(nesting + 1)
		}
	case '[':
		s.open(c)
		for i := 0; s.more(i, ']'); i++ {
			s.ignore(nesting + 1)
		}
	case '"':
		s.str()
	case 't', 'f', 'n':
		s.word()
	default:
		s.number()
	}
}

// word skips true, false or null.
func (s *scanner) word() {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.text[s.pos:], []byte(w)) {
			s.pos += len(w)
			return
		}
	}
	s.fail(s.pos, "found %s, want a value", s.found(s.pos))
}

// document reads an object of the given format. field is told each other key,
// and is false for one that it does not know; all keys in want have to be there.
func (s *scanner) document(format string, want []string, field func(key string) bool) error {
	seen := map[string]bool{}
	s.open('{')
	for i := 0; s.more(i, '}'); i++ {
		s.peek()
		at := s.pos
		key := s.key()
		if s.failed == nil && seen[key] {
			s.fail(at, "%s is there twice", shown.Quote(key))
		}
		seen[key] = true
		s.peek()
		value := s.pos
		switch {
		case s.failed != nil:
		case key == "about":
			s.ignore(0)
		case key == "format":
			if got := s.str(); s.failed == nil && got != format {
				s.fail(value, "the format is %s: want %s", shown.Quote(got), shown.Quote(format))
			}
		case !field(key):
			s.fail(at, "unknown key %s", shown.Quote(key))
		}
	}
	for _, key := range want {
		if s.failed == nil && !seen[key] {
			s.fail(s.pos-1, "the document ends without %q", key)
		}
	}
	return s.end()
}
