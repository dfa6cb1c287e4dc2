package geometry

import (
	"lorefs/internal/jsonscan"
	"lorefs/internal/shown"
)

// scanner reads the JSON of zones and areas.
type scanner struct{ jsonscan.Scanner }

func newScanner(text []byte) scanner { return scanner{jsonscan.New(text)} }

// err is the first error as a JSONError, or nil.
func (s *scanner) err() error {
	if e := s.Err(); e != nil {
		return &JSONError{Line: e.Line, Column: e.Column, What: e.What}
	}
	return nil
}

// comma and close read what is between and behind the numbers of a pair.
func (s *scanner) comma() { s.Open(',') }
func (s *scanner) close() { s.Open(']') }

// maxNesting bounds what is skipped without looking at it.
const maxNesting = 32

// ignore skips a value of any kind.
func (s *scanner) ignore() { s.Value(maxNesting) }

// document reads an object of the given format. field is told each other key,
// and is false for one that it does not know; all keys in want have to be there.
func (s *scanner) document(format string, want []string, field func(key string) bool) error {
	seen := map[string]bool{}
	s.Open('{')
	for i := 0; s.More(i, '}'); i++ {
		at := s.Next()
		key := s.Key()
		if seen[key] {
			s.Fail(at, "%s is there twice", shown.Quote(key))
		}
		seen[key] = true
		value := s.Next()
		switch {
		case s.Failed():
		case key == "about":
			s.ignore()
		case key == "format":
			if got := s.String(); got != format {
				s.Fail(value, "the format is %s: want %s", shown.Quote(got), shown.Quote(format))
			}
		case !field(key):
			s.Fail(at, "unknown key %s", shown.Quote(key))
		}
	}
	for _, key := range want {
		if !seen[key] {
			s.Fail(s.Pos()-1, "the document ends without %q", key)
		}
	}
	s.End()
	return s.err()
}
