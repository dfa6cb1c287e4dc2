package xmltext

import (
	"fmt"
	"unicode/utf8"

	"lorefs/internal/shown"
)

// SyntaxError reports a file that is not well-formed, or not the sheet or schema that it
// should be.
type SyntaxError struct {
	// File is the name that the reader was given.
	File string
	// Line and Column count from 1, columns in characters. They are those of the first letter
	// of what is named, as in editors and in novadrop-dc, and 0 if the whole file is meant.
	Line, Column int
	// What was found and what was expected.
	What string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("sheets: %s: %s", e.File, e.What)
	}
	return fmt.Sprintf("sheets: %s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

// Place returns the place of the mistake in the file, and its description.
func (e *SyntaxError) Place() (line, column int, what string) { return e.Line, e.Column, e.What }

// ValueError reports something that a data center can't hold, or that does not fit its
// type.
type ValueError struct {
	// File, Line and Column are as in [SyntaxError].
	File         string
	Line, Column int
	// Where names what it is a value of, such as "Item id"; it may be empty.
	Where string
	// Err says what is wrong. It matches datacenter.ErrValue or datacenter.ErrTooLarge.
	Err error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("sheets: %s:%d:%d: %s", e.File, e.Line, e.Column, e.Text())
}

// Place returns the place of the mistake in the file, and its description.
func (e *ValueError) Place() (line, column int, what string) { return e.Line, e.Column, e.Text() }

// Text returns what is wrong, without the place in the file.
func (e *ValueError) Text() string {
	const longWhere = 100 // nobody wants to read a longer name
	switch {
	case e.Where == "":
		return e.Err.Error()
	case len(e.Where) > longWhere:
		return shown.Quote(e.Where) + ": " + e.Err.Error()
	}
	return e.Where + ": " + e.Err.Error()
}

func (e *ValueError) Unwrap() error { return e.Err }

// Place returns the line and the column of an offset in a text. Lines are not counted
// before, because most files have no errors.
func Place(data []byte, off int) (line, column int) {
	off = min(off, len(data))
	line, start := CountLines(data, 0, off, 1, 0)
	return line, utf8.RuneCount(data[start:off]) + 1
}

// CountLines counts lines from one offset to a later one. It returns the later one's line
// and where that begins. Lines end in LF, CR or both.
func CountLines(data []byte, from, to, line, start int) (newLine, newStart int) {
	for i, c := range data[from:to] {
		next := from + i + 1
		if c == '\n' || c == '\r' && (next == len(data) || data[next] != '\n') {
			line++
			start = next
		}
	}
	return line, start
}
