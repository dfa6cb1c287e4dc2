package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/replace"
	"lorefs/internal/source"
	"lorefs/internal/userdir"
)

// Journal describes one that was left behind, or is in use.
type Journal struct {
	Path   string    `json:"path"`
	Source string    `json:"source,omitempty"`
	Began  time.Time `json:"began"`
	Edits  int       `json:"edits"`
	// State is "in use", "not saved yet", "saved", "stale", or "damaged".
	State string `json:"state"`
	// Problem says more of a State that is one.
	Problem string `json:"problem,omitempty"`
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
	list := []Journal{}
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
	j.Source, j.Began, j.Edits = d.Source, d.Began, d.edits
	if err != nil {
		return err
	}
	lock, err := lockFor(d.Source)
	if errors.Is(err, filelock.ErrLocked) {
		j.State = StateInUse
		return nil
	}
	if err == nil {
		err = lock.Close()
	}
	state, compareErr := d.compare()
	j.State = string(state)
	if err = errors.Join(compareErr, err); err != nil {
		j.Problem = err.Error()
	}
	return nil
}

// compare tells what the journal is worth, and why it is stale if its source
// can't be read.
func (d *summary) compare() (state, error) {
	f, err := source.Open(d.Source)
	if err != nil {
		return stateStale, err
	}
	defer f.Close()
	now, err := identify(f, f.Size())
	if err != nil {
		return stateStale, err
	}
	return d.state(now), nil
}

// lockFor takes the lock of whoever edits a source.
func lockFor(source string) (*filelock.Lock, error) {
	path, err := statePath("lock", source, ".lock")
	if err != nil {
		return nil, err
	}
	return filelock.Acquire(path, source)
}

// Drop removes the journal of a source, whose path has no links, for good, and
// gives how many edits it held as far as that can be told. Nobody may be editing
// the source.
func Drop(source string) (edits int, err error) {
	path, err := JournalPath(source)
	if err != nil {
		return 0, err
	}
	if _, err := os.Lstat(path); err != nil {
		return 0, fmt.Errorf("%s has no journal: %w", source, err)
	}
	lock, err := lockFor(source)
	if err != nil {
		return 0, err
	}
	if contents, err := journal.Read(path); err == nil {
		d, _ := digest(contents) // it may be damaged: it goes all the same
		edits = d.edits
		contents.Close()
	}
	err = os.Remove(path)
	if err == nil {
		err = replace.SyncDir(filepath.Dir(path))
	}
	return edits, errors.Join(err, lock.Close())
}
