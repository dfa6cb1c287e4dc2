package capture

import (
	"errors"
	"fmt"

	"lorefs/internal/shown"
)

// ErrUnknown means that the file is no recorded session in a known format.
var ErrUnknown = errors.New("not a recorded session of a known format")

// FormatError reports data that breaks the format.
type FormatError struct {
	// Off is a byte offset in the file.
	Off int64
	// What was found and what was expected.
	What string
	Err  error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("capture: offset %#x of the file: %s", e.Off, shown.Fault(e.What, e.Err))
}

func (e *FormatError) Unwrap() error { return e.Err }

func badf(off int64, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf(format, args...)}
}
