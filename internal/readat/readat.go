// Package readat reads from places in sources whose size is known. An end where there should
// be more is an error ([Full]), and so is data that has changed since it was checked
// ([Checked]).
package readat

import (
	"errors"
	"io"
)

// Full fills b with what r has from off on. [io.ReaderAt] gives [io.EOF] both with the
// last byte and behind it, and callers take that for an end where all is well: here the
// one is no error, and the other is [io.ErrUnexpectedEOF].
func Full(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}
