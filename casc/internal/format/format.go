// Package format has what all formats of CASC say when data breaks them.
package format

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"lorefs/internal/cursor"
	"lorefs/internal/shown"
)

// MaxText and MaxTable bound files that are read as a whole, in bytes: configurations, and
// indexes or decoded manifests.
const (
	MaxText  = 1 << 26
	MaxTable = 1 << 30
)

// Package casc exports them, and says what they mean.
var (
	ErrNotFound    = errors.New("no such file in the storage")
	ErrNotLocal    = errors.New("its data is not in the local archives")
	ErrChanged     = errors.New("it changed since it was opened")
	ErrUnsupported = errors.New("not supported")
)

// ErrNowhere is ErrNotLocal for a file that is far away.
var ErrNowhere error = nowhere{}

type nowhere struct{}

func (nowhere) Error() string        { return "no host has it" }
func (nowhere) Is(target error) bool { return target == ErrNotLocal }

// Error reports data that breaks its format.
type Error struct {
	// Format names the structure, such as "encoding" or "idx".
	Format string
	// Off is a byte offset in it, or for text the offset of the line.
	Off int64
	// What was found and what was expected.
	What string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("casc: %s: offset %#x: %s", e.Format, e.Off, shown.Fault(e.What, e.Err))
}

func (e *Error) Unwrap() error { return e.Err }

// Name names a structure in errors.
type Name string

// Bad returns an error of the structure at an offset.
func (f Name) Bad(off int64, text string, args ...any) error {
	return &Error{Format: string(f), Off: off, What: fmt.Sprintf(text, args...)}
}

// Ends turns the error of a cursor, if it has one, into an error of the format. base is the
// offset of the cursor's data.
func (f Name) Ends(c *cursor.Cursor, base int64) error {
	e, ok := errors.AsType[*cursor.EndError](c.Err())
	switch {
	case !ok:
		return nil
	case e.Want == 0:
		return f.Bad(base+int64(e.Off), "a string without end")
	}
	return f.Bad(base+int64(e.Off), "%d bytes expected, %d there", e.Want, e.Have)
}

// Lines yields the lines of a text, without their ends, and their offsets.
func Lines(data []byte) iter.Seq2[int64, string] {
	return func(yield func(int64, string) bool) {
		off := int64(0)
		for line := range strings.Lines(string(data)) {
			if !yield(off, strings.TrimRight(line, "\r\n")) {
				return
			}
			off += int64(len(line))
		}
	}
}
