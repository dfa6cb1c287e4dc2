package form

import (
	"errors"
	"fmt"
	"io"

	"lorefs/internal/inflate"
	"lorefs/internal/shown"
)

// ErrKey means that no key that was tried opens the file.
var ErrKey = errors.New("no known key opens it")

// ErrChanged means that the file no longer holds what was read from it before.
var ErrChanged = errors.New("the file changed since it was opened")

// ErrAddress means that nothing is stored at an address.
var ErrAddress = errors.New("no such address")

// ErrName is wrapped by the error for a node whose name does not exist.
var ErrName = errors.New("no such name")

// FormatError reports data that breaks the format.
type FormatError struct {
	// Off is an offset in bytes: in the file on disk if InFile is set, otherwise in the
	// inflated data.
	Off    int64
	InFile bool
	// Where names the element by its address, such as "node 3:5". It is empty for elements
	// without an address.
	Where string
	// What says what was found and what was expected.
	What string
	// Err is the cause, if there is one.
	Err error
}

func (e *FormatError) Error() string {
	of := "inflated data"
	if e.InFile {
		of = "file"
	}
	s := fmt.Sprintf("datacenter: offset %#x of the %s: ", e.Off, of)
	if e.Where != "" {
		s += e.Where + ": "
	}
	return s + shown.Fault(e.What, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// inflateError returns the error of inflating at off of the file. It is a FormatError if
// the data is damaged or ends early, otherwise a read error.
func inflateError(off int64, what string, err error) error {
	_, corrupt := errors.AsType[*inflate.CorruptError](err)
	switch {
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	case !corrupt && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("datacenter: offset %#x of the file: %s: %w", off, what, err)
	}
	return &FormatError{InFile: true, Off: off, What: what, Err: err}
}

// Badf returns an error about the inflated data at off.
func Badf(off int64, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf(format, args...)}
}

// BadFile returns an error about the file at off.
func BadFile(off int64, format string, args ...any) error {
	return &FormatError{Off: off, InFile: true, What: fmt.Sprintf(format, args...)}
}

// nodeError returns an error about a node at offset off.
func nodeError(addr Address, off int64, format string, args ...any) error {
	return &FormatError{Off: off, Where: fmt.Sprintf("node %v", addr), Err: fmt.Errorf(format, args...)}
}

// attributeError returns an error about an attribute at offset off.
func attributeError(addr Address, off int64, format string, args ...any) error {
	return &FormatError{Off: off, Where: fmt.Sprintf("attribute %v", addr), Err: fmt.Errorf(format, args...)}
}

// ErrTooLarge means that something exceeds a limit of the format.
var ErrTooLarge = errors.New("more than a data center can hold")

// ErrValue means that the format cannot hold a value or a name.
var ErrValue = errors.New("not a value that a data center can hold")
