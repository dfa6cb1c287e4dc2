package inflate

import (
	"errors"
	"fmt"
	"io"
)

// CorruptError reports data that is not DEFLATE.
type CorruptError struct {
	Offset int64 // byte offset in the deflate stream, at or directly behind what is wrong
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("inflate: corrupt data at byte %d: %s", e.Offset, e.What)
}

// What a CorruptError may say of the symbols of a block. The hot loop returns
// these, which is why they are constants and not errors.
const (
	badLength   = "invalid length symbol"
	badDistance = "invalid distance symbol"
	farDistance = "distance beyond the start of the data"
)

// errPoint is wrapped by what Reset returns for a Point that cannot be one of
// this stream. A damaged cache file leads here.
var errPoint = errors.New("inflate: invalid point")

func (d *Decoder) corrupt(what string) error {
	return &CorruptError{Offset: d.bitOffset() >> 3, What: what}
}

// inputErr says why there is no more input. It is asked only when the bits left
// do not suffice, so a failed read ahead of need costs no output.
func (d *Decoder) inputErr() error {
	at := d.base + int64(d.end)
	if d.readErr != nil {
		return fmt.Errorf("inflate: read at byte %d: %w", at, d.readErr)
	}
	return fmt.Errorf("inflate: input ends at byte %d: %w", at, io.ErrUnexpectedEOF)
}
