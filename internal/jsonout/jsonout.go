package jsonout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Version is the schema_version. It grows when a member is removed or gets another meaning;
// new members do not change it.
const Version = 1

// Object prints one object. v is a struct or a map.
func Object(w io.Writer, v any) error {
	line, err := versioned(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// Text returns what [Object] prints.
func Text(v any) (string, error) {
	var b strings.Builder
	err := Object(&b, v)
	return b.String(), err
}

// Lines prints a list, an object a line.
type Lines struct {
	w   io.Writer
	enc *json.Encoder
}

// NewLines returns a list that is printed to w. A list without objects prints nothing.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Write prints an object. v is a struct or a map.
func (l *Lines) Write(v any) error {
	if l.enc != nil {
		return l.enc.Encode(v)
	}
	line, err := versioned(v)
	if err != nil {
		return err
	}
	l.enc = encoder(l.w)
	_, err = l.w.Write(line)
	return err
}

// Word spells the name of a kind, a state or the like: "no key" is no_key.
func Word(name string) string { return strings.ReplaceAll(name, " ", "_") }

// versioned returns a line with an object whose first member is schema_version.
func versioned(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := encoder(&b).Encode(v); err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(b.Bytes(), []byte("{"))
	if !ok {
		panic(fmt.Sprintf("BUG: %T is no object of JSON", v))
	}
	line := fmt.Appendf(nil, `{"schema_version":%d`, Version)
	if rest[0] != '}' {
		line = append(line, ',')
	}
	return append(line, rest...), nil
}

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
