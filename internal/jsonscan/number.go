package jsonscan

import (
	"bytes"
	"strconv"
)

// Number skips a number and returns its text.
func (s *Scanner) Number() []byte {
	if s.failed != nil {
		return nil
	}
	start := s.Next()
	s.skipOne("-")
	digits := s.pos
	if s.digits(); s.pos-digits > 1 && s.text[digits] == '0' {
		s.Fail(digits, "a number begins with 0")
	}
	if s.skipOne(".") {
		s.digits()
	}
	if s.skipOne("eE") {
		s.skipOne("+-")
		s.digits()
	}
	if s.failed != nil {
		return nil
	}
	return s.text[start:s.pos]
}

// skipOne skips one byte if it is in set.
func (s *Scanner) skipOne(set string) bool {
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

// digits skips one or more digits.
func (s *Scanner) digits() {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == start {
		s.Fail(s.pos, "found %s, want a number", s.found(s.pos))
	}
}

// Integer reads an integer from lo to hi. what names it in errors.
func (s *Scanner) Integer(what string, lo, hi int64) int64 {
	if s.failed != nil {
		return 0
	}
	start := s.Next()
	v, ok := s.small()
	if !ok {
		var err error
		v, err = strconv.ParseInt(string(s.Number()), 10, 64)
		ok = err == nil
	}
	if ok = ok && v >= lo && v <= hi; !ok {
		s.Fail(start, "the %s is %s: want a whole number from %d to %d", what, s.text[start:s.pos], lo, hi)
		return 0
	}
	return v
}

// small reads an integer of at most 9 digits and no exponent, or nothing. It is quick, and
// nearly all numbers are like this.
func (s *Scanner) small() (int64, bool) {
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

// Float reads a finite float32. what names it in errors.
func (s *Scanner) Float(what string) float32 {
	if s.failed != nil {
		return 0
	}
	s.Peek()
	// An integer has no negative zero.
	if !bytes.HasPrefix(s.text[s.pos:], []byte("-0")) {
		if v, ok := s.small(); ok {
			return float32(v)
		}
	}
	text := s.Number()
	if s.failed != nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(text), 32)
	if err != nil {
		s.Fail(s.pos-len(text), "the %s is %s: want a number that a 32-bit float can hold", what, text)
		return 0
	}
	return float32(v)
}
