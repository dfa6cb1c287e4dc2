package kinds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"lorefs/datacenter"
	"lorefs/internal/replace"
	"lorefs/internal/save"
	"lorefs/nodes/overlay"
)

// Editor is a source that is being edited, or a part of it that is a source by itself.
type Editor interface {
	// Path is where what is saved lies.
	Path() string
	// Pending is how many edits are not saved yet, Journal where they are: empty if
	// there are none.
	Pending() int64
	Journal() string
	// Replayed is how many edits a crash had left behind.
	Replayed() int
	// Converts is the layout that saving makes of the source, empty if it stays.
	Converts() string
	// Refused are the texts that are nowhere else, as they were refused or could not be
	// written to the journal, and Loose the other files that can't be saved: all by their
	// paths in the mount.
	Refused() []overlay.Refused
	Loose() overlay.Loose
	// Notices are what is not stored of what was written.
	Notices() []string
	// KeepText writes edits as text to a file, of a source that changed, as they can't be
	// saved any more. It gives the file, or nothing if they are safe.
	KeepText(changed error) string
	// Save saves all edits. last tells that nobody is in the middle of some.
	Save(ctx context.Context, last bool) (save.Report, error)
	Close() error
}

// EditOptions are what Edit is told.
type EditOptions struct {
	// Layout is that of the data center to write.
	Layout   datacenter.Layout
	NoBackup bool
	// Salvage takes what is whole of a damaged journal.
	Salvage bool
	// Quality is that of compression, 0 for the best.
	Quality int
	Logger  *slog.Logger
}

// Edit makes the source editable. The error is [ErrReadOnly] or an [*Error].
func (s *Source) Edit(ctx context.Context, o EditOptions) error {
	editors, mounts, err := s.edit(ctx, o)
	switch {
	case errors.Is(err, ErrReadOnly), known(err) && err != nil:
		return err
	case err != nil:
		return &Error{Err: err}
	}
	s.Editors = editors
	return s.mux(mounts)
}

// Replayed is how many edits of all editors a crash had left behind.
func (s *Source) Replayed() (count int) {
	for _, e := range s.Editors {
		count += e.Replayed()
	}
	return count
}

// UnsavedError tells of edits that could not be saved.
type UnsavedError struct {
	// Path is where they were to be saved, Journal where they are kept: empty for nowhere.
	Path, Journal string
	Err           error
}

func (e *UnsavedError) Error() string {
	outcome := "was not saved"
	if errors.Is(e.Err, replace.ErrUnsynced) {
		outcome = "may not be saved for good"
	}
	return fmt.Sprintf("%s %s: %v", e.Path, outcome, e.Err)
}

func (e *UnsavedError) Unwrap() error { return e.Err }

// Save has each editor save what is its own, whatever becomes of the others.
func (s *Source) Save(ctx context.Context, last bool) (reports []save.Report, failed []*UnsavedError) {
	for _, e := range s.Editors {
		r, err := e.Save(ctx, last)
		reports = append(reports, r)
		if err != nil {
			failed = append(failed, &UnsavedError{e.Path(), e.Journal(), err})
		}
	}
	return reports, failed
}

// closeEditors closes all.
func closeEditors(editors []Editor) error {
	var errs []error
	for _, e := range editors {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
