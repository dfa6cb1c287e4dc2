package journal

import (
	"errors"
	"fmt"
)

// ErrDamaged means that a record is not whole although it was synced, or although a whole record
// follows.
var ErrDamaged = errors.New("a record is damaged")

// ErrUnusable means that syncing failed before: it is unknown which records since the last
// successful sync are on the disk, and another sync would succeed without writing them.
var ErrUnusable = errors.New("the journal cannot be used any more")

// FormatError reports a file that is not a journal, or is a damaged one.
type FormatError struct {
	// Off is the byte offset in the file.
	Off int64
	// What says what was found and what was expected.
	What string
	Err  error
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("journal: offset %#x: ", e.Off)
	if e.Err == nil {
		return s + e.What
	}
	return s + e.Err.Error() + ": " + e.What
}

func (e *FormatError) Unwrap() error { return e.Err }

func bad(off int64, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf(format, args...)}
}

// UnsupportedError reports a journal that a later version of this package wrote, or whose
// version or features are damaged.
type UnsupportedError struct {
	// What says which property is not known.
	What string
}

func (e *UnsupportedError) Error() string { return "journal: it has " + e.What }
