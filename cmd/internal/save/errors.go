package save

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"lorefs/internal/journal"
)

// ErrStale means that a journal has edits that can't be replayed: the file has neither the content
// that they belong to nor the content that they were saved as.
var ErrStale = errors.New("edits were left behind that belong to another version of the file")

// StaleError describes the journal of an [ErrStale].
type StaleError struct {
	Journal string
	// File is the file that has changed; if there are several, one of them.
	File string
	// Edits is how many edits they are. If AtMost is set, they may be fewer.
	Edits  int
	AtMost bool
	// Patch is the path of a patch of the edits, and Backup the path of the file that they belong to.
	// Each is empty if there is none.
	Patch, Backup string
}

func (e *StaleError) Error() string {
	most := ""
	if e.AtMost {
		most = "up to "
	}
	text := fmt.Sprintf("%s: %v: %s%d of them, in %s", e.File, ErrStale, most, e.Edits, e.Journal)
	if e.Patch != "" {
		text += "; as a patch they are in " + e.Patch
	}
	return text
}

// Is makes the error match [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// JournalError means that a crash has left edits that can't be read or replayed. It matches
// [journal.ErrDamaged] whatever the cause, because the user has the same choices.
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

// AppendError means that the journal could not store an edit. The edit was refused, although
// nothing is wrong with the edit itself.
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

// ConflictError means that a file is no longer the one that was edited. The edited content was
// written to a file of its own. The journal is kept, too.
type ConflictError struct {
	// File is the edited file, and Path the new one with all edits.
	File, Path string
	// Err matches [source.ErrChanged].
	Err error
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v; what was edited is in %s", e.Err, e.Path)
}

func (e *ConflictError) Unwrap() error { return e.Err }

// PatchError means that the edits can't be saved any more, because the file was overwritten while
// it was edited. They were written as a patch. The journal is kept, too.
type PatchError struct {
	// File is the edited file, and Path the patch.
	File, Path string
	// Err matches [source.ErrChanged].
	Err error
}

func (e *PatchError) Error() string {
	return fmt.Sprintf("%v; what was edited is written as a patch in %s", e.Err, e.Path)
}

func (e *PatchError) Unwrap() error { return e.Err }

// Conflicts returns all conflicts that an error wraps.
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
