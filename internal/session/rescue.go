package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/replace"
)

// ConflictError means that the source is no longer the file that was edited, so
// that what was edited has become a file of its own. The journal is kept, too.
type ConflictError struct {
	// Path is the file that holds all that was edited.
	Path string
	// Err matches [source.ErrChanged].
	Err error
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v; what was edited is in %s", e.Err, e.Path)
}

func (e *ConflictError) Unwrap() error { return e.Err }

// conflictTime is the part of a conflict file's name that tells when it was written.
const conflictTime = "20060102-150405"

// rescue writes what was edited to a file of its own, if the source has changed
// but the file that was edited is still there for this process. Edits that were
// made after a commit are on top of a file that nobody else has any more: their
// journal could never be replayed.
func (s *Session) rescue(ctx context.Context, w *datacenter.Saving, changed error) error {
	if err := s.src.Intact(); err != nil {
		return changed
	}
	if s.conflict != "" { // nothing can have been edited since
		return &ConflictError{Path: s.conflict, Err: changed}
	}
	path, err := s.writeConflict(ctx, w)
	if err != nil {
		return fmt.Errorf("%w; nor could what was edited be written elsewhere: %w", changed, err)
	}
	s.conflict = path
	return &ConflictError{Path: path, Err: changed}
}

// writeConflict writes beside the source or, where that can't be, beside the journal.
func (s *Session) writeConflict(ctx context.Context, w *datacenter.Saving) (string, error) {
	suffix := ".conflict-" + time.Now().Format(conflictTime)
	beside := s.path + suffix
	err := s.writeNew(ctx, w, beside)
	if err == nil {
		return beside, nil
	}
	state, stateErr := statePath(journalFolder, s.path, "-"+filepath.Base(s.path)+suffix)
	if stateErr == nil {
		stateErr = s.writeNew(ctx, w, state)
	}
	if stateErr != nil {
		return "", errors.Join(err, stateErr)
	}
	return state, nil
}

// writeNew writes a file where there is none. The journal is told of it, so that it
// has done its duty once somebody puts the file in the place of the source.
func (s *Session) writeNew(ctx context.Context, w *datacenter.Saving, path string) error {
	out := newSummer()
	return replace.Create(ctx, path, s.src.Info(), replace.Options{
		Size: s.src.Size(), Before: s.opts.before,
		Ready: func(os.FileInfo) error {
			s.announce(out.identity())
			return nil
		},
	}, func(to io.Writer) error {
		out.to = to
		return w.Write(ctx, out)
	}, func(f *os.File) error { return s.verify(ctx, w, f) })
}
