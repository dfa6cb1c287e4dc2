package datacenter

import (
	"errors"
	"fmt"
)

// ErrKey means that no key that was tried opens the file.
var ErrKey = errors.New("no known key opens it")

// ErrChanged means that the file no longer holds what was read from it before.
var ErrChanged = errors.New("the file changed since it was opened")

// ErrAddress means that nothing is stored at an address.
var ErrAddress = errors.New("no such address")

// FormatError reports data that breaks the format.
type FormatError struct {
	// Off is a byte offset in the inflated data, or in the file as it lies on
	// disk if InFile is set.
	Off    int64
	InFile bool
	// What was found and what was expected.
	What string
	// Err is the cause, if there is one.
	Err error
}

func (e *FormatError) Error() string {
	of := "inflated data"
	if e.InFile {
		of = "file"
	}
	s := fmt.Sprintf("datacenter: offset %#x of the %s: %s", e.Off, of, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *FormatError) Unwrap() error { return e.Err }

func badf(off int64, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf(format, args...)}
}

func badFile(off int64, format string, args ...any) error {
	return &FormatError{Off: off, InFile: true, What: fmt.Sprintf(format, args...)}
}

// nodeError is an error at a node that lies at off.
func nodeError(addr Address, off int64, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf("node %v", addr), Err: fmt.Errorf(format, args...)}
}

// attributeError is an error at an attribute that lies at off.
func attributeError(addr Address, off int64, format string, args ...any) error {
	return &FormatError{Off: off, What: fmt.Sprintf("attribute %v", addr), Err: fmt.Errorf(format, args...)}
}

// ErrTooLarge means that something is more than the format can hold.
var ErrTooLarge = errors.New("more than a data center can hold")

// ErrValue means that a value, or a name, is none that the format can hold.
var ErrValue = errors.New("not a value that a data center can hold")
