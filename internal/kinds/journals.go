package kinds

import (
	"path/filepath"

	"lorefs/internal/save"
	"lorefs/internal/save/dcsave"
)

// Journals are those of all kinds of sources that can be edited: to a user they are the
// same.
var Journals = save.Kinds{dcsave.Kind, save.Folders}

// JournalOf looks for the journal of a source, which may be gone, or for one by its own
// path. An error matches [iofs.ErrNotExist] if there is none.
func JournalOf(path string) (save.Journal, error) {
	path, err := withoutLinks(path)
	if err != nil {
		return save.Journal{}, err
	}
	return Journals.Find(path)
}

// withoutLinks is a path as journals have it, also of a source that is gone.
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
