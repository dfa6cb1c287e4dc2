package kinds

import (
	"path/filepath"

	"lorefs/internal/app/save"
	"lorefs/internal/app/save/dcsave"
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
