package inflate

import (
	"errors"
	"fmt"
	"io"
)

// CorruptError reports data that is not DEFLATE.
type CorruptError struct {
	Offset int64 // byte offset in the deflate stream, at or directly behind the fault
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("inflate: corrupt data at byte %d: %s", e.Offset, e.What)
}

// The faults of symbols in a CorruptError. They are constants and not errors because the
// hot loop returns them.
const (
	badLength   = "invalid length symbol"
	badDistance = "invalid distance symbol"
	farDistance = "distance beyond the start of the data"
)

// errNoSymbols is the error of Skip where there are no symbols.
var errNoSymbols = errors.New("inflate: BUG: no compressed block was begun")

// errPoint is wrapped by Reset's errors for a Point that can't be one of this stream, such
// as one from a damaged cache file.
var errPoint = errors.New("inflate: invalid point")

func (d *Decoder) corrupt(what string) error {
	return &CorruptError{Offset: d.bitOffset() >> 3, What: what}
}

// inputErr says why there is no more input. It is called only when the bits left do not
// suffice, so a failed read ahead of need costs no output.
func (d *Decoder) inputErr() error {
	at := d.base + int64(d.end)
	if d.readErr != nil {
		return fmt.Errorf("inflate: read at byte %d: %w", at, d.readErr)
	}
	return fmt.Errorf("inflate: input ends at byte %d: %w", at, io.ErrUnexpectedEOF)
}
