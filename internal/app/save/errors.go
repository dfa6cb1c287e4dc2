package save

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

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
	// Text is the file in which they were written as text, and Backup the one that they
	// belong to: each is empty if there is none.
	Text, Backup string
}

func (e *StaleError) Error() string {
	text := fmt.Sprintf("%s: %v: %d of them, in %s", e.File, ErrStale, e.Edits, e.Journal)
	if e.Text != "" {
		text += "; as text they are in " + e.Text
	}
	return text
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

// AppendError means that the journal can't take an edit, which was not made for that
// reason: there is nothing wrong with the edit itself.
type AppendError struct {
	Journal string
	Err     error
}

func (e *AppendError) Error() string {
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		return fmt.Sprintf("there is no space for the journal in %s: %v", filepath.Dir(e.Journal), e.Err)
	}
	return fmt.Sprintf("the journal can't take it: %v", e.Err)
}

func (e *AppendError) Unwrap() error { return e.Err }

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

// TextError means that what was edited can't be saved any more, as the file was written over
// while it was edited. The edits have become a text of their own. The journal is kept, too.
type TextError struct {
	// File is the file that was edited, and Path the text.
	File, Path string
	// Err matches [source.ErrChanged].
	Err error
}

func (e *TextError) Error() string {
	return fmt.Sprintf("%v; what was edited is written as text in %s", e.Err, e.Path)
}

func (e *TextError) Unwrap() error { return e.Err }

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
