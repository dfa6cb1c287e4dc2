package main

import (
	"errors"
	iofs "io/fs"
	"os"

	"lorefs/internal/folderedit"
	"lorefs/internal/session"
)

// Journals are kept by package session for files and by folderedit for folders. To
// a user they are the same.

// allJournals describes those of the user.
func allJournals() ([]session.Journal, error) {
	list, err := session.List()
	if err != nil {
		return nil, err
	}
	folders, err := folderedit.List()
	for _, j := range folders {
		list = append(list, ofFolder(j))
	}
	return list, err
}

func ofFolder(j folderedit.Journal) session.Journal {
	return session.Journal{Path: j.Path, Source: j.Folder, Began: j.Began, Edits: j.Edits, State: j.State, Problem: j.Problem}
}

// journalOf describes that of a source, whose path has no links; ok is false if it
// has none.
func journalOf(source string) (j session.Journal, ok bool) {
	if path, err := session.JournalPath(source); err == nil {
		if _, err := os.Lstat(path); err == nil {
			return session.Describe(path), true
		}
	}
	if path, err := folderedit.JournalPath(source); err == nil {
		if _, err := os.Lstat(path); err == nil {
			return ofFolder(folderedit.Describe(path)), true
		}
	}
	return j, false
}

// dropJournal removes that of a source, whose path has no links.
func dropJournal(source string) (edits int, err error) {
	edits, err = session.Drop(source)
	if errors.Is(err, iofs.ErrNotExist) {
		edits, err = folderedit.Drop(source)
	}
	return edits, err
}
