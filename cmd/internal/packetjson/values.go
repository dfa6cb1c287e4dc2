package packetjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"lorefs/protocol"
)

// Values reads JSON values one by one, with any space between them.
type Values struct {
	name  string
	lines *lineCounter
	dec   *json.Decoder
}

// NewValues reads values from r. Errors name it name.
func NewValues(r io.Reader, name string) *Values {
	lines := &lineCounter{r: r}
	return &Values{name, lines, json.NewDecoder(lines)}
}

// Next reads a value. After the last one the error is [io.EOF]. A syntax error ends the
// values, since it is unknown where the next one begins.
func (v *Values) Next() ([]byte, error) {
	v.lines.forget(v.dec.InputOffset())
	var value json.RawMessage
	err := v.dec.Decode(&value)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = fmt.Errorf("%s:%d: this is not JSON: %w", v.name, v.lines.line(wrong.Offset-1), err)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%s:%d: the file ends within a value", v.name, v.lines.line(v.lines.read-1))
	} else if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s:%d: %w", v.name, v.lines.line(v.lines.start), err)
	}
	return value, err
}

// maxValue is the size of the longest value that is read: a packet in its object.
const maxValue = protocol.MaxJSON + 1<<10

// lineCounter counts the lines of the text that is read through it, and limits the size of a
// value.
type lineCounter struct {
	r io.Reader
	// start is the offset of the value that is being read.
	start int64
	// read is the number of bytes that were read. ends are the offsets after each newline in
	// them, except those that were forgotten.
	read      int64
	ends      []int64
	forgotten int
}

func (l *lineCounter) Read(p []byte) (int, error) {
	left := maxValue - (l.read - l.start)
	if left <= 0 {
		return 0, fmt.Errorf("a value of more than %d bytes: no packet needs as much", maxValue)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), left)])
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i)+1)
		}
	}
	l.read += int64(n)
	return n, err
}

// before returns how many newlines are before an offset, without the forgotten ones.
func (l *lineCounter) before(off int64) int {
	n, _ := slices.BinarySearch(l.ends, off+1)
	return n
}

// forget replaces the newlines before an offset, where a value begins, with their number.
func (l *lineCounter) forget(off int64) {
	n := l.before(off)
	l.ends = slices.Delete(l.ends, 0, n)
	l.forgotten += n
	l.start = off
}

// line returns the number of the line with an offset, from 1.
func (l *lineCounter) line(off int64) int { return l.forgotten + l.before(off) + 1 }
