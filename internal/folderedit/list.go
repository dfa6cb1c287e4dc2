package folderedit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/replace"
	"lorefs/internal/userdir"
)

const (
	journalFolder = "folder-journal"
	journalSuffix = ".journal"
)

// States of journals.
const (
	// StateSaved is the state of a journal of which all is in the files.
	StateSaved = "saved"
	// StateInUse is that of a journal whose folder somebody edits.
	StateInUse = "in use"
)

// Journal describes one that was left behind, or is in use.
type Journal struct {
	Path   string
	Folder string
	Began  time.Time
	Edits  int
	// State is "in use", "not saved yet", "saved", "stale", or "damaged".
	State string
	// Problem says more of a State that is one.
	Problem string
}

// statePath is the path of a file in the state folder that belongs to a folder.
func statePath(sub, dir, suffix string) (string, error) {
	state, err := userdir.State(sub)
	if err != nil {
		return "", err
	}
	defer state.Close()
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(state.Path(), hex.EncodeToString(sum[:8])+suffix), nil
}

// JournalPath is where the journal of a folder is, whose path has no links.
func JournalPath(dir string) (string, error) { return statePath(journalFolder, dir, journalSuffix) }

// lockFor takes the lock of whoever edits a folder.
func lockFor(dir string) (*filelock.Lock, error) {
	path, err := statePath("lock", dir, ".lock")
	if err != nil {
		return nil, err
	}
	return filelock.Acquire(path, dir)
}

// List describes all journals of the user.
func List() ([]Journal, error) {
	dir, err := userdir.State(journalFolder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := os.ReadDir(dir.Path())
	if err != nil {
		return nil, err
	}
	var list []Journal
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), journalSuffix) {
			list = append(list, Describe(filepath.Join(dir.Path(), e.Name())))
		}
	}
	return list, nil
}

// Describe looks at one journal, without changing anything.
func Describe(path string) Journal {
	j := Journal{Path: path}
	if err := j.describe(); err != nil {
		j.State, j.Problem = "damaged", err.Error()
	}
	return j
}

func (j *Journal) describe() error {
	contents, err := journal.Read(j.Path)
	if err != nil {
		return err
	}
	defer contents.Close()
	d, err := digest(contents)
	j.Folder, j.Began, j.Edits = d.Folder, d.Began, d.edits()
	if err != nil {
		return err
	}
	lock, err := lockFor(d.Folder)
	if errors.Is(err, filelock.ErrLocked) {
		j.State = StateInUse
		return nil
	}
	if err == nil {
		err = lock.Close()
	}
	state, compareErr := d.state()
	j.State = string(state)
	if err = errors.Join(compareErr, err); err != nil {
		j.Problem = err.Error()
	}
	return nil
}

// state is what the journal is worth as a whole.
func (d *summary) state() (state, error) {
	worth := stateSaved
	for file, f := range d.files {
		s, err := f.state(filepath.Join(d.Folder, file))
		switch {
		case err != nil || s == stateStale:
			return stateStale, err
		case s == stateOpen:
			worth = stateOpen
		}
	}
	return worth, nil
}

// Drop removes the journal of a folder, whose path has no links, for good, and gives
// how many edits it held as far as that can be told. Nobody may be editing the
// folder.
func Drop(dir string) (edits int, err error) {
	path, err := JournalPath(dir)
	if err != nil {
		return 0, err
	}
	if _, err := os.Lstat(path); err != nil {
		return 0, fmt.Errorf("%s has no journal: %w", dir, err)
	}
	lock, err := lockFor(dir)
	if err != nil {
		return 0, err
	}
	if contents, err := journal.Read(path); err == nil {
		d, _ := digest(contents) // it may be damaged: it goes all the same
		edits = d.edits()
		contents.Close()
	}
	err = os.Remove(path)
	if err == nil {
		err = replace.SyncDir(filepath.Dir(path))
	}
	return edits, errors.Join(err, lock.Close())
}
