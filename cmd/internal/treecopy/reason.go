package treecopy

import (
	"errors"
	iofs "io/fs"

	"lorefs/internal/remote"
	"lorefs/nodes"
)

// Reason is why a file is not written.
type Reason string

const (
	// Present means that there is such a file already.
	Present Reason = "present"
	// Missing means that the content is not installed, or that no host has it.
	Missing Reason = "missing"
	// NoKey means that the content is encrypted with an unknown key.
	NoKey Reason = "no_key"
	// Damaged means that the source can't be read there.
	Damaged Reason = "damaged"
	// Partial means that there are zeros for blocks whose key is not known.
	Partial Reason = "partial"
	// Failed means that nothing is known to be wrong with the content, which could not be had from
	// its host, or not be written.
	Failed Reason = "failed"
)

// ReasonOf returns the reason for an error of a tree.
func ReasonOf(err error) Reason {
	switch {
	case errors.Is(err, nodes.ErrUnavailable):
		return Missing
	case errors.Is(err, nodes.ErrNoKey):
		return NoKey
	case remote.IsFailure(err):
		return Failed
	}
	return Damaged
}

// contentError is an error of reading a source, not of writing what was read.
type contentError struct{ error }

func (e contentError) Unwrap() error { return e.error }

// presentError means that there is a file of this name. A file where a directory has to be made is
// another matter.
type presentError struct{ error }

func (e presentError) Unwrap() error { return e.error }

// present returns the error of making a file.
func present(err error) error {
	if errors.Is(err, iofs.ErrExist) {
		return presentError{err}
	}
	return err
}

func reasonOf(err error) Reason {
	if _, ok := errors.AsType[presentError](err); ok {
		return Present
	}
	if e, ok := errors.AsType[contentError](err); ok {
		return ReasonOf(e)
	}
	return Failed
}
