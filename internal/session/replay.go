package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"lorefs/datacenter"
	"lorefs/internal/journal"
	"lorefs/internal/pending"
)

// resume makes the edits of a journal again that was left behind, if there is one.
func (s *Session) resume(ctx context.Context) error {
	contents, err := s.edits.Resume(s.opts.Salvage)
	if err != nil || contents == nil {
		return err
	}
	path := s.Journal()
	err = s.remake(ctx, contents)
	if err == nil || ctx.Err() != nil || errors.Is(err, pending.ErrStale) {
		return err
	}
	return &pending.JournalError{Path: path, Err: err}
}

// remake decides what becomes of the edits of a journal.
func (s *Session) remake(ctx context.Context, contents *journal.Contents) error {
	d, err := digest(contents)
	if err != nil {
		return err
	}
	switch d.state(s.id) {
	case pending.Saved:
		return s.edits.Settle(filepath.Dir(s.path))
	case pending.Open:
		return s.replay(ctx, contents)
	}
	return s.edits.Stale(s.path, d.Identity, d.edits, d.Began)
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
		n, err := datacenter.RecordEdits(record[1:])
		if err == nil {
			err = s.draft.Replay(ctx, record[1:])
		}
		if err != nil {
			return fmt.Errorf("edit %d: %w", s.replayed+1, err)
		}
		s.replayed += n
	}
	return nil
}
