package pending

import (
	"errors"
	"fmt"

	"lorefs/internal/journal"
)

// ErrStale means that there is a journal of edits that can't be made again: a file
// is neither what they belong to nor what they were saved as.
var ErrStale = errors.New("edits were left behind that belong to another version of the file")

// StaleError is an [ErrStale]: it says which journal it is.
type StaleError struct {
	Journal string
	// File is the one that is another one now; of several, it is one of them.
	File  string
	Edits int
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s: %v: %d of them, in %s", e.File, ErrStale, e.Edits, e.Journal)
}

// Is makes the error match [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// JournalError means that edits were left behind that can't be read, or not be made
// again. It matches [journal.ErrDamaged] whatever the cause, as there is the same
// to be done about it.
type JournalError struct {
	// Path is the journal.
	Path string
	Err  error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("edits were left behind that can't be made again: %s: %v", e.Path, e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }

// Is makes the error match [journal.ErrDamaged].
func (e *JournalError) Is(target error) bool { return target == journal.ErrDamaged }

// ConflictError means that a file is no longer the one that was edited, so that what
// was edited has become a file of its own. The journal is kept, too.
type ConflictError struct {
	// File is the file that was edited, and Path the one that holds all of that.
	File, Path string
	// Err matches [source.ErrChanged].
	Err error
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v; what was edited is in %s", e.Err, e.Path)
}

func (e *ConflictError) Unwrap() error { return e.Err }

// Conflicts are all that an error tells of.
func Conflicts(err error) []*ConflictError {
	switch e := err.(type) { //nolint:errorlint // it walks through all that is wrapped
	case *ConflictError:
		return []*ConflictError{e}
	case interface{ Unwrap() error }:
		return Conflicts(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*ConflictError
		for _, one := range e.Unwrap() {
			all = append(all, Conflicts(one)...)
		}
		return all
	}
	return nil
}
