package protocol

import (
	"errors"
	"fmt"
	"strings"

	"lorefs/internal/shown"
)

// ErrLayout means that the packet's layout does not fit its values, which have been edited
// since. They can be encoded without the layout.
var ErrLayout = errors.New("the layout does not fit the values")

// ErrTooLong means that the packet would have more than [MaxPacket] bytes.
var ErrTooLong = errors.New("longer than a packet can be")

// ErrValue means that a field can't hold a value.
var ErrValue = errors.New("not a value of the field's type")

// FormatError reports a packet that breaks the format or does not fit its definition.
type FormatError struct {
	// Off is a byte offset in the packet, header included.
	Off int
	// Field is the path of the field, such as items[3].name; it may be empty.
	Field string
	// What was found and what was expected.
	What string
	Err  error
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("protocol: offset %d of the packet: ", e.Off)
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + shown.Fault(e.What, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

func badf(off int, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf(format, args...)}
}

// inField puts the name of a field before the path of err.
func inField(err error, name string) error {
	switch e := err.(type) { //nolint:errorlint // the codec's own errors, never wrapped
	case *FormatError:
		e.Field = joinPath(name, e.Field)
	case *ValueError:
		e.Field = joinPath(name, e.Field)
	}
	return err
}

// inElement is inField for element i of an array.
func inElement(err error, i int) error { return inField(err, fmt.Sprintf("[%d]", i)) }

func joinPath(name, rest string) string {
	if rest == "" || rest[0] == '[' {
		return name + rest
	}
	return name + "." + rest
}

// ValueError reports a value that can't be put into a packet. It matches [ErrValue], unless
// Err is set.
type ValueError struct {
	// Field is the path of the field, such as items[3].name.
	Field string
	// What was found and what was expected.
	What string
	// The error matches Err.
	Err error
}

func (e *ValueError) Error() string {
	if e.Field == "" {
		return "protocol: " + e.What
	}
	return "protocol: " + e.Field + ": " + e.What
}

func (e *ValueError) Unwrap() error { return e.Err }

func badValue(format string, args ...any) error {
	return &ValueError{What: fmt.Sprintf(format, args...), Err: ErrValue}
}

// Diagnostic is a remark on one line of a definition or of a map.
type Diagnostic struct {
	File string `json:"file"`
	// Line counts from 1.
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (d Diagnostic) String() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Text) }

// SyntaxError reports a definition or a map that can't be read. It has at least one
// diagnostic and at most 21; the last of 21 says that there are more.
type SyntaxError struct {
	Diagnostics []Diagnostic
}

func (e *SyntaxError) Error() string {
	const most = 3 // the first ones show what kind of file it is
	var lines []string
	for _, d := range e.Diagnostics[:min(len(e.Diagnostics), most)] {
		lines = append(lines, d.String())
	}
	if more := len(e.Diagnostics) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more lines", more))
	}
	return "protocol: " + strings.Join(lines, "; ")
}

// maxDiagnostics is how many remarks are kept of one file.
const maxDiagnostics = 20

type diagnostics []Diagnostic

func (d *diagnostics) addf(file string, line int, format string, args ...any) {
	switch {
	case len(*d) < maxDiagnostics:
		*d = append(*d, Diagnostic{File: file, Line: line, Text: fmt.Sprintf(format, args...)})
	case len(*d) == maxDiagnostics:
		*d = append(*d, Diagnostic{File: file, Line: line, Text: "more follow, which are not listed"})
	}
}

// err returns nil if there are no remarks.
func (d diagnostics) err() error {
	if len(d) == 0 {
		return nil
	}
	return &SyntaxError{Diagnostics: d}
}
