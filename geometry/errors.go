package geometry

import (
	"errors"
	"fmt"

	"lorefs/internal/shown"
)

// ErrTooLarge means that a file decompresses to more than the reader allows.
var ErrTooLarge = errors.New("more than is allowed")

// FormatError reports data that breaks a format.
type FormatError struct {
	// In says which data: "zone" and "area" are decompressed, ".zgd file" and ".apd file"
	// are not; ".idx file" and the like are the original server's.
	In string
	// Off is a byte offset in that data.
	Off int64
	// What was found and what was expected.
	What string
	Err  error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("geometry: offset %d of the %s: %s", e.Off, e.In, shown.Fault(e.What, e.Err))
}

func (e *FormatError) Unwrap() error { return e.Err }

func badf(in string, off int, format string, args ...any) error {
	return &FormatError{In: in, Off: int64(off), What: fmt.Sprintf(format, args...)}
}

// JSONError reports a text that is no zone, square or area.
type JSONError struct {
	// Line and Column count from 1. A column is a character.
	Line, Column int
	// What was found and what was expected.
	What string
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("geometry: line %d, column %d: %s", e.Line, e.Column, e.What)
}

// Place returns the place of the mistake in the text, and its description.
func (e *JSONError) Place() (line, column int, what string) { return e.Line, e.Column, e.What }
