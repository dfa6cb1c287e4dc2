// Package jsonscan reads JSON from beginning to end without building values.
//
// encoding/json does not fit for three reasons. It replaces unpaired surrogates with U+FFFD,
// and official packets have them where a name is cut. It loses the order of members, and all
// but the last of two members with one name. And it takes several times as long for the
// numbers of a zone. encoding/json/jsontext keeps the order, but needs GOEXPERIMENT up to Go
// 1.26 and takes twice as long.
package jsonscan

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Scanner reads a text. It keeps its first error; after that all its methods return zero
// values, and loops end.
//
// This reads an array; an object is read the same way, with Key in the loop:
//
//	s.Open('[')
//	for i := 0; s.More(i, ']'); i++ { … }
type Scanner struct {
	text   []byte
	pos    int
	failed *Error
}

// New returns a Scanner of text, which must not change meanwhile.
func New(text []byte) Scanner { return Scanner{text: text} }

// Error is a mistake in a text.
type Error struct {
	// Line and Column count from 1. A column is a character.
	Line, Column int
	// What says what was found and what was expected.
	What string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// Fail makes the Scanner fail with an error at an offset, unless it has failed already.
func (s *Scanner) Fail(pos int, format string, args ...any) {
	if s.failed != nil {
		return
	}
	before := s.text[:min(pos, len(s.text))]
	line := bytes.LastIndexByte(before, '\n') + 1
	s.failed = &Error{
		Line:   bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[line:]) + 1,
		What:   fmt.Sprintf(format, args...),
	}
}

// Failed reports whether there was an error.
func (s *Scanner) Failed() bool { return s.failed != nil }

// Err returns the first error, or nil.
func (s *Scanner) Err() *Error { return s.failed }

// Pos returns the offset after what was read.
func (s *Scanner) Pos() int { return s.pos }

// Next skips white space and returns the offset after it.
func (s *Scanner) Next() int {
	s.Peek()
	return s.pos
}

// Peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
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

// found names what is at an offset, for an error.
func (s *Scanner) found(pos int) string {
	if pos >= len(s.text) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(s.text[pos:])
	return strconv.QuoteRune(r)
}

// Open skips the bracket, comma or colon c.
func (s *Scanner) Open(c byte) {
	if s.failed != nil {
		return
	}
	// Most texts have no white space within a line.
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return
	}
	if s.Peek() != c {
		s.Fail(s.pos, "found %s, want %q", s.found(s.pos), c)
		return
	}
	s.pos++
}

// More reports whether there is an element i. It skips the comma before all but the first,
// or the closing bracket if there are no more elements.
func (s *Scanner) More(i int, closing byte) bool {
	if s.failed != nil {
		return false
	}
	switch c := s.Peek(); {
	case c == closing && s.pos < len(s.text):
		s.pos++
		return false
	case i == 0:
		return true
	case c == ',':
		s.pos++
		return true
	}
	s.Fail(s.pos, "found %s, want ',' or %q", s.found(s.pos), closing)
	return false
}

// End fails if anything follows.
func (s *Scanner) End() {
	if s.failed == nil && s.Next() < len(s.text) {
		s.Fail(s.pos, "found %s, want the end of the text", s.found(s.pos))
	}
}

// Key reads the key of a member and the colon after it.
func (s *Scanner) Key() string {
	k := s.String()
	s.Open(':')
	return k
}

// Value skips any value and returns its text. No more than nesting brackets may be open at a
// time.
func (s *Scanner) Value(nesting int) []byte {
	if s.failed != nil {
		return nil
	}
	start := s.Next()
	s.skip(nesting, nesting)
	if s.failed != nil {
		return nil
	}
	return s.text[start:s.pos]
}

// skip skips a value. left is the number of brackets that may still be opened.
func (s *Scanner) skip(left, nesting int) {
	if s.failed != nil {
		return
	}
	c := s.Peek()
	if left == 0 {
		s.Fail(s.pos, "more than %d brackets are open", nesting)
		return
	}
	switch c {
	case '{':
		s.Open(c)
		for i := 0; s.More(i, '}'); i++ {
			s.quoted()
			s.Open(':')
			s.skip(left-1, nesting)
		}
	case '[':
		s.Open(c)
		for i := 0; s.More(i, ']'); i++ {
			s.skip(left-1, nesting)
		}
	case '"':
		s.quoted()
	case 't', 'f', 'n':
		s.word()
	default:
		s.Number()
	}
}

// word skips true, false or null.
func (s *Scanner) word() {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.text[s.pos:], []byte(w)) {
			s.pos += len(w)
			return
		}
	}
	s.Fail(s.pos, "found %s, want a value", s.found(s.pos))
}
