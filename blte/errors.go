package blte

import (
	"errors"
	"fmt"

	"lorefs/internal/shown"
)

// ErrNoKey means that data is encrypted with an unknown key. Errors that match it are of
// type *KeyError.
var ErrNoKey = errors.New("no such encryption key is known")

// KeyError names the missing key.
type KeyError struct {
	Name KeyName
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("encrypted with key %v, which is not known", e.Name)
}

// Is makes a KeyError match ErrNoKey.
func (e *KeyError) Is(target error) bool { return target == ErrNoKey }

// FormatError reports a file that breaks the format.
type FormatError struct {
	// Off is a byte offset in the encoded file.
	Off int64
	// Chunk is the number of the chunk, or -1 for the header.
	Chunk int
	// What was found and what was expected.
	What string
	Err  error
}

func (e *FormatError) Error() string {
	where := "header"
	if e.Chunk >= 0 {
		where = fmt.Sprintf("chunk %d", e.Chunk)
	}
	return fmt.Sprintf("blte: offset %#x: %s: %s", e.Off, where, shown.Fault(e.What, e.Err))
}

func (e *FormatError) Unwrap() error { return e.Err }

func badHeader(off int64, format string, args ...any) error {
	return &FormatError{Off: off, Chunk: -1, What: fmt.Sprintf(format, args...)}
}

// errFormat is a fault in a chunk's data before its place in the file is known.
type errFormat struct {
	what string
	err  error
}

func (e *errFormat) Error() string { return shown.Fault(e.what, e.err) }

func (e *errFormat) Unwrap() error { return e.err }

func badChunk(format string, args ...any) error {
	return &errFormat{what: fmt.Sprintf(format, args...)}
}
