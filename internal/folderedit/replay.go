package folderedit

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// ErrStale means that there is a journal of edits that can't be made again: a file
// is neither what they belong to nor what they were saved as.
var ErrStale = errors.New("edits were left behind that belong to another version of the file")

// StaleError is an [ErrStale]: it says which journal it is.
type StaleError struct {
	Journal string
	// File is the first one that is another one now.
	File  string
	Edits int
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s: %v: %d edits in %s", e.File, ErrStale, e.Edits, e.Journal)
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

func (e *JournalError) Error() string { return fmt.Sprintf("journal %s: %v", e.Path, e.Err) }

func (e *JournalError) Unwrap() error { return e.Err }

// Is makes the error match [journal.ErrDamaged].
func (e *JournalError) Is(target error) bool { return target == journal.ErrDamaged }

// resume looks for a journal that was left behind.
func (s *Session) resume() error {
	path, err := JournalPath(s.dir)
	if err != nil {
		return err
	}
	j, contents, err := journal.Resume(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &JournalError{Path: path, Err: err}
	}
	s.left = contents // until it is known that nothing of it is to be replayed
	if err := s.take(j); err != nil {
		return errors.Join(err, j.Close())
	}
	if torn := contents.Torn(); torn > 0 {
		s.opts.Logger.Warn("the journal's last record was not complete", "journal", path, "bytes", torn)
	}
	d, err := digest(contents)
	if err != nil {
		return &JournalError{Path: path, Err: err}
	}
	return s.decide(d)
}

// decide finds out which edits of a journal are to be made again.
func (s *Session) decide(d summary) error {
	for file, f := range d.files {
		path := filepath.Join(s.dir, file)
		if !filepath.IsLocal(file) || strings.ContainsAny(file, `/\`) {
			return &JournalError{Path: s.journal.Path(), Err: fmt.Errorf("%q is no name of a file", file)}
		}
		s.sweep(path)
		state, err := f.state(path)
		if err != nil || state == stateStale {
			return errors.Join(&StaleError{Journal: s.journal.Path(), File: path, Edits: d.edits()}, err)
		}
		if state == stateSaved && f.saved != nil {
			f.base, f.edits, f.saved = *f.saved, 0, nil
		}
	}
	s.files = d.files
	if d.edits() > 0 {
		return nil
	}
	// Whoever put the files in place may have died before that would last: a power
	// cut must not bring the old ones back when the journal is gone.
	if err := replace.SyncDir(s.dir); err != nil {
		return err
	}
	s.opts.Logger.Info("the journal is removed: what it holds was saved", "journal", s.journal.Path())
	s.left = nil
	s.retire()
	return nil
}

// sweep removes what a save has left that did not end.
func (s *Session) sweep(path string) {
	if removed, err := replace.Sweep(path); err != nil || len(removed) > 0 {
		s.opts.Logger.Info("removed what a save has left that did not end", "files", removed, "err", err)
	}
}

// state tells what the edits of a file are worth, given what the file is now.
type state string

const (
	stateOpen  state = "not saved yet" // the edits belong to the file
	stateSaved state = StateSaved      // the file is what they were saved as
	stateStale state = "stale"         // neither
)

func (f *fileState) state(path string) (state, error) {
	if f.edits == 0 {
		return stateSaved, nil
	}
	now, err := identify(path)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return stateStale, err
	case err == nil && now == f.base:
		return stateOpen, nil
	case err == nil && f.saved != nil && now == *f.saved:
		return stateSaved, nil
	}
	return stateStale, nil
}

// Replay has apply make the edits again that a crash has left behind, in their
// order. An error matches [journal.ErrDamaged].
func (s *Session) Replay(ctx context.Context, apply func(file string, record []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		return nil
	}
	place := -1
	for b, err := range s.left.Records() {
		place++
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if b[0] != recordEdit {
			continue
		}
		file, record, err := parseEdit(b)
		if err != nil {
			return err
		}
		if f := s.files[file]; f.edits == 0 || place < f.first {
			continue
		}
		if err := apply(file, record); err != nil {
			return &JournalError{Path: s.journal.Path(), Err: fmt.Errorf("edit %d: %w", s.replayed+1, err)}
		}
		s.replayed++
	}
	s.left = nil
	return nil
}
