package resource

import "fmt"

// FormatError reports a container that breaks the format.
type FormatError struct {
	// Off is a byte offset in the container.
	Off int64
	// Where says what is there: the end of the file, the directory, or an entry.
	Where string
	// What was found and what was expected.
	What string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("resource: offset %d: %s: %s", e.Off, e.Where, e.What)
}

func badf(off int64, where, format string, args ...any) *FormatError {
	return &FormatError{Off: off, Where: where, What: fmt.Sprintf(format, args...)}
}
