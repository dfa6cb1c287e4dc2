package packetlines

import (
	"fmt"
	"slices"
	"strings"

	"lorefs/internal/jsonscan"
	"lorefs/internal/shown"
	"lorefs/internal/tabular"
)

// nesting is how many brackets may be open in a line. Definitions nest far less deep.
const nesting = 10_000

// field is a way to values in a line: names with dots between them. In arrays it leads into each
// element.
type field struct {
	name  string
	steps []string
	// looked and found say whether any packet was searched for it, and had it.
	looked, found bool
}

// members are those that a line has itself, and inPacket those in its member packet. Any other name is
// that of a field of the data.
var (
	members  = []string{"number", "time", "from", "fake", "name", "definition", "packet", "hex", "error"}
	inPacket = []string{"code", "length", "padding", "guessed", "data", "layout"}
)

func parseField(name string) (field, error) {
	f := field{name: name, steps: strings.Split(name, ".")}
	if slices.Contains(f.steps, "") {
		return f, fmt.Errorf("%s: want names with dots between them, such as data.message", shown.Quote(name))
	}
	switch first := f.steps[0]; {
	case first == "sender":
		f.steps[0] = "from"
	case slices.Contains(members, first):
	case slices.Contains(inPacket, first):
		f.steps = slices.Insert(f.steps, 0, "packet")
	default:
		f.steps = slices.Insert(f.steps, 0, "packet", "data")
	}
	return f, nil
}

// each calls visit for each value that the field leads to, as JSON, and reports whether it went
// through an array.
func (f *field) each(line []byte, visit func(value []byte)) (many bool) {
	s := jsonscan.New(line)
	f.looked = true
	f.walk(&s, 0, &many, func(value []byte) {
		f.found = true
		visit(value)
	})
	return many
}

func (f *field) walk(s *jsonscan.Scanner, at int, many *bool, visit func([]byte)) {
	if at == len(f.steps) {
		if value := s.Value(nesting); !s.Failed() {
			visit(value)
		}
		return
	}
	switch s.Peek() {
	case '{':
		s.Open('{')
		for i := 0; s.More(i, '}'); i++ {
			if s.Key() == f.steps[at] {
				f.walk(s, at+1, many, visit)
			} else {
				s.Value(nesting)
			}
		}
	case '[':
		*many = true
		s.Open('[')
		for i := 0; s.More(i, ']'); i++ {
			f.walk(s, at, many, visit)
		}
	default:
		s.Value(nesting)
	}
}

// put writes the cell of a field: its value or, if it is in the elements of an array, the list of
// its values. It uses and returns a buffer.
func (f *field) put(w *tabular.Writer, buf, line []byte) []byte {
	var one []byte
	many := f.each(line, func(value []byte) {
		if one = value; len(buf) > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, value...)
	})
	switch {
	case many:
		w.Plain(append(append([]byte("["), buf...), ']'))
	case one == nil || string(one) == "null":
		w.Absent()
	case one[0] == '"':
		w.Text([]byte(text(one)))
	default:
		w.Plain(one)
	}
	return buf
}

// text returns what a value says: the content of a string, and any other JSON as it is.
func text(value []byte) string {
	if value[0] != '"' {
		return string(value)
	}
	s := jsonscan.New(value)
	return s.String()
}
