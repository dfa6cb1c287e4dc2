package protocol

import (
	"fmt"

	"lorefs/internal/jsonscan"
	"lorefs/internal/shown"
)

// maxJSONNesting bounds nesting as encoding/json does. Values are nested as deep as definitions, which
// are far from it.
const maxJSONNesting = 10_000

// jsonReader reads a text that is known to be good JSON, a value with each method.
type jsonReader struct {
	jsonscan.Scanner
	// inArrays and inFixed are how many values of arrays and of T[n] were read.
	inArrays, inFixed int
}

// newJSON checks that data is one JSON value.
func newJSON(data []byte) (*jsonReader, error) {
	s := jsonscan.New(data)
	s.Value(maxJSONNesting)
	s.End()
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("protocol: no JSON: %w", err)
	}
	return &jsonReader{Scanner: jsonscan.New(data)}, nil
}

// members calls read for the value of each member of an object, in their order. A name
// that is there twice is an error: one of the values would be lost.
func (r *jsonReader) members(read func(name string) error) error {
	seen := make(map[string]bool)
	return r.eachMember(func(name string) error {
		if seen[name] {
			return badValue("%s is there twice", shown.Quote(name))
		}
		seen[name] = true
		return read(name)
	})
}

// eachMember is members, for those who want a name that is there twice.
func (r *jsonReader) eachMember(read func(name string) error) error {
	if r.Peek() != '{' {
		return r.unexpected("an object")
	}
	r.Open('{')
	for i := 0; r.More(i, '}'); i++ {
		if err := read(r.Key()); err != nil {
			return err
		}
	}
	return nil
}

// elements calls read for each element of an array.
func (r *jsonReader) elements(read func() error) error {
	if r.Peek() != '[' {
		return r.unexpected("an array")
	}
	r.Open('[')
	for i := 0; r.More(i, ']'); i++ {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// unexpected skips a value, and says that it is none of those wanted.
func (r *jsonReader) unexpected(want string) error {
	return badValue("want %s, got %s", want, brief(r.Value(maxJSONNesting)))
}

// brief is the beginning of a value's text, for an error.
func brief(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// scalarText reads what a string says, or a number, true or false as they are.
func (r *jsonReader) scalarText() (string, error) {
	switch r.Peek() {
	case '"':
		return r.String(), nil
	case '{', '[', 'n':
		return "", r.unexpected("a value")
	}
	return string(r.Value(maxJSONNesting)), nil
}

// text reads what a string says, in WTF-8.
func (r *jsonReader) text() (string, error) {
	if r.Peek() != '"' {
		return "", r.unexpected("a string")
	}
	return r.String(), nil
}
