package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/journal"
)

// ErrStale means that there is a journal of edits that can't be made again: the
// source is neither what they belong to nor what they were saved as.
var ErrStale = errors.New("edits were left behind that belong to another version of the file")

// StaleError is an ErrStale: it says which journal it is.
type StaleError struct {
	Journal string
	Source  string
	Edits   int
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s: %v: %d of them, in %s", e.Source, ErrStale, e.Edits, e.Journal)
}

// Is makes the error match ErrStale.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// JournalError means that edits were left behind that can't be read, or not be
// made again. It matches [journal.ErrDamaged] whatever the cause, as there is the
// same to be done about it.
type JournalError struct {
	// Path is the journal, which Err names as well.
	Path string
	Err  error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("edits were left behind that can't be made again: %v", e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }

// Is makes the error match journal.ErrDamaged.
func (e *JournalError) Is(target error) bool { return target == journal.ErrDamaged }

// resume makes the edits of a journal again that was left behind, if there is one.
func (s *Session) resume(ctx context.Context) error {
	path, err := JournalPath(s.path)
	if err != nil {
		return err
	}
	s.sweep(path)
	if s.opts.Salvage {
		if err := s.salvage(path); err != nil {
			return &JournalError{Path: path, Err: err}
		}
	}
	j, contents, err := s.opts.system.resume(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &JournalError{Path: path, Err: err}
	}
	if err := s.take(j); err != nil {
		return errors.Join(err, j.Close())
	}
	if torn := contents.Torn(); torn > 0 {
		s.opts.Logger.Warn("the journal's last record was not complete", "journal", path, "bytes", torn)
	}
	err = s.remake(ctx, contents)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrStale) {
		return err
	}
	return &JournalError{Path: path, Err: fmt.Errorf("%s: %w", path, err)}
}

// sweep removes what is left of making a journal when the process died over it.
func (s *Session) sweep(path string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // whoever opens the journal will tell
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "."+base+".") || !strings.HasSuffix(name, ".tmp") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			s.opts.Logger.Warn("can't remove what is left of making a journal", "err", err)
		}
	}
}

// remake decides what becomes of the edits of a journal.
func (s *Session) remake(ctx context.Context, contents *journal.Contents) error {
	d, err := digest(contents)
	if err != nil {
		return err
	}
	switch d.state(s.id) {
	case stateSaved:
		// Whoever put the file in place may have died before that would last: a power
		// cut must not bring the old one back when the journal is gone.
		if err := s.opts.system.syncDir(filepath.Dir(s.path)); err != nil {
			return err
		}
		s.opts.Logger.Info("the journal is removed: what it holds was saved", "journal", s.journal.Path())
		s.retire()
		return nil
	case stateStale:
		return &StaleError{Journal: s.journal.Path(), Source: s.path, Edits: d.edits}
	}
	return s.replay(ctx, contents)
}

// replay makes the edits of a journal again.
func (s *Session) replay(ctx context.Context, contents *journal.Contents) error {
	for record, err := range contents.Records() {
		if err != nil {
			return err
		}
		if record[0] != recordEdits {
			continue // a save that was begun and did not end
		}
		if err := s.draft.Replay(ctx, record[1:]); err != nil {
			return fmt.Errorf("edit %d: %w", s.replayed+1, err)
		}
		s.replayed++
	}
	return nil
}

const (
	// StateSaved is the state of a journal of which all is in the source.
	StateSaved = "saved"
	// StateInUse is that of a journal whose source somebody edits.
	StateInUse = "in use"
)

// state tells what a journal is worth, given what the source is now.
type state string

const (
	stateOpen  state = "not saved yet" // the edits belong to the source
	stateSaved state = StateSaved      // the source is what they were saved as
	stateStale state = "stale"         // neither
)

// summary is what a journal says, but for the edits themselves.
type summary struct {
	header
	edits int
	// saved is what the source was about to become, and behind whether edits
	// follow that: then they belong to the header's file still.
	saved  []identity
	behind bool
}

func digest(contents *journal.Contents) (summary, error) {
	var d summary
	var err error
	if d.header, err = parseHeader(contents.Header()); err != nil {
		return d, err
	}
	for record, err := range contents.Records() {
		if err != nil {
			return d, err
		}
		switch record[0] {
		case recordEdits:
			d.edits++
			d.behind = true
		case recordSaving:
			var id identity
			if err := json.Unmarshal(record[1:], &id); err != nil {
				return d, fmt.Errorf("a record of saving: %w", err)
			}
			d.saved = append(d.saved, id)
			d.behind = false
		default:
			return d, fmt.Errorf("a record of unknown kind %q", record[0])
		}
	}
	return d, contents.Damage()
}

// state compares with what the source is. Only the last save can have been
// carried out: after it nothing is added to the journal.
func (d *summary) state(now identity) state {
	switch n := len(d.saved); {
	case d.edits == 0:
		return stateSaved // the first one did not get into it
	case now == d.identity:
		return stateOpen
	case n > 0 && now == d.saved[n-1] && !d.behind:
		return stateSaved
	}
	return stateStale
}
