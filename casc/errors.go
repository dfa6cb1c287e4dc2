package casc

import (
	"errors"
	"fmt"

	"lorefs/internal/cursor"
	"lorefs/internal/shown"
)

// ErrNotFound means that the storage does not know a name or key.
var ErrNotFound = errors.New("no such file in the storage")

// ErrNotLocal means that a file is known, but its data is not here.
var ErrNotLocal = errors.New("its data is not in the local archives")

// errNowhere is ErrNotLocal for a file that is far away.
var errNowhere error = nowhere{}

type nowhere struct{}

func (nowhere) Error() string        { return "no host has it" }
func (nowhere) Is(target error) bool { return target == ErrNotLocal }

// ErrNoRoot means that there are no names, because no root can be read.
var ErrNoRoot = errors.New("names are missing, for the root can't be read")

// ErrChanged means that an index file was written to or cut since its hashes were checked.
var ErrChanged = errors.New("it changed since it was opened")

// ErrUnsupported means that data seems valid but has a form that this package can't read.
var ErrUnsupported = errors.New("not supported")

// FormatError reports data that breaks its format.
type FormatError struct {
	// Format names the structure, such as "encoding" or "idx".
	Format string
	// Off is a byte offset in it, or for text the offset of the line.
	Off int64
	// What was found and what was expected.
	What string
	Err  error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("casc: %s: offset %#x: %s", e.Format, e.Off, shown.Fault(e.What, e.Err))
}

func (e *FormatError) Unwrap() error { return e.Err }

// format names a structure in errors.
type format string

func (f format) bad(off int64, text string, args ...any) error {
	return &FormatError{Format: string(f), Off: off, What: fmt.Sprintf(text, args...)}
}

// ends turns the error of a cursor, if it has one, into an error of the format. base is the
// offset of the cursor's data.
func (f format) ends(c *cursor.Cursor, base int64) error {
	e, ok := errors.AsType[*cursor.EndError](c.Err())
	switch {
	case !ok:
		return nil
	case e.Want == 0:
		return f.bad(base+int64(e.Off), "a string without end")
	}
	return f.bad(base+int64(e.Off), "%d bytes expected, %d there", e.Want, e.Have)
}
