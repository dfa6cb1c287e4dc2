package kinds

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"

	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/dcsave"
	"lorefs/internal/filelock"
)

// Journals are the kinds of journals, which users do not tell apart.
var Journals = save.Kinds{dcsave.Kind, save.Folders, save.Files}

// JournalOf returns the journal of a source, or the journal with that path. The source need
// not exist any more. If there is no journal, the error matches [iofs.ErrNotExist].
func JournalOf(path string) (save.Journal, error) {
	path, err := withoutLinks(path)
	if err != nil {
		return save.Journal{}, err
	}
	return Journals.Find(path)
}

// UnsavedOf returns the journal of the source at a path if it has edits that are not saved, and else
// nil. If these belong to another file than the one that is there now, the error matches
// [nodes.ErrChanged].
func UnsavedOf(path string) (*save.Journal, error) {
	j, err := JournalOf(path)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil, nil //nolint:nilnil // there is no journal
	case err != nil:
		return nil, err
	case j.State == save.StateSaved:
		return nil, nil //nolint:nilnil // nothing is left
	}
	is, err := j.Belongs(path)
	if err == nil && !is {
		err = &ChangedError{fmt.Errorf("%s: its edits that are not saved are of another file than the one that is there now", path)}
	}
	return &j, err
}

// withoutLinks returns a path as journals name it: absolute and without links, as far as it
// still exists.
func withoutLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole, nil
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path)), nil
	}
	return path, nil
}

// UnsavedEditsError means that a source has edits from a session that ended before it saved
// them. To change and save the source would save them as well, which nobody asked for.
type UnsavedEditsError struct {
	Path string
	// Problem is why the edits can't be made again, or empty.
	Problem string
}

func (e *UnsavedEditsError) Error() string {
	if e.Problem != "" {
		return e.Problem
	}
	return e.Path + " has edits that are not saved"
}

// CheckUnedited returns an error if somebody edits the source at a path, or if it has edits that are not saved.
func CheckUnedited(path string) error {
	j, err := JournalOf(path)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case j.State == save.StateSaved:
		return nil
	case j.State == save.StateInUse:
		return &Error{Err: filelock.ErrLocked}
	}
	e := &UnsavedEditsError{path, j.Problem}
	if j.State == save.StateStale && e.Problem == "" {
		e.Problem = path + " is not the file that edits were made on which are not saved"
	}
	return e
}
