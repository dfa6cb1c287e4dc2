package kinds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/internal/disk"
	"lorefs/internal/replace"
	"lorefs/internal/shown"
	"lorefs/nodes/overlay"
)

// Session is a source that is being edited, or a folder that is edited with it and saved by
// itself.
type Session interface {
	// Path is the path of the source. Dir is the directory of the mount that shows only what
	// this session edits, with a slash at its end; it is empty if that is the root.
	Path() string
	Dir() string
	// Pending returns the number of edits that are not saved yet, and Journal the file with
	// them; it is empty if there are none.
	Pending() int64
	Journal() string
	// Replayed returns how many edits were replayed that a crash had left.
	Replayed() int
	// Converts returns the layout that a save will give the source, or nothing if it does
	// not change.
	Converts() string
	// Refused returns the texts that exist nowhere else, because they were refused or could
	// not be written to the journal. Loose returns the other files that can't be saved. Both
	// name files by their paths in the mount.
	Refused() []overlay.Refused
	Loose() overlay.Loose
	// Notices returns what was written and is not stored.
	Notices() []string
	// Open returns the files that a program has open with text that is not an edit yet, by
	// their paths in the mount.
	Open() []string
	Lister
	// EditsAt returns the edits at some paths and below them, and the files there that Open
	// names. A path is as for Revert, and may lead to several nodes. If nothing is edited there,
	// that is an error only for a path that leads nowhere: a [*NoEditError], or one that says so.
	// isThere reports whether the mount has a file or directory at a path.
	EditsAt(ctx context.Context, paths []string, isThere func(path string) bool) ([]Edit, error)
	// Revert takes back the edits at some paths, with everything below them, or all edits if
	// there are no paths and all is set. It also gives up refused texts there. A path is one in
	// the mount, or for a data center a query that begins with a slash. A path that leads to
	// several nodes with edits needs all: else the error is a [*SeveralError]. If nothing is
	// edited at a path, it is a [*NoEditError]. All paths are found before anything is taken
	// back. A revert is an edit: it is in the journal when Revert returns. Text of open files
	// that is not written to the source yet is left alone.
	Revert(ctx context.Context, paths []string, all bool) (Reverted, error)
	// Discard gives up everything that is not saved, and removes the journal. Nothing can be
	// edited afterwards.
	Discard() error
	// KeepPatch writes the edits of a source that has changed to a file as a patch, since they
	// can't be saved any more. It returns the path of the file, or nothing if the edits are
	// safe.
	KeepPatch(changed error) string
	// Save saves all edits, once at a time. show is called with the progress, by several
	// goroutines.
	Save(ctx context.Context, how save.How, show func(save.Progress)) (save.Report, error)
	Close() error
}

// EditOptions are the options of Edit.
type EditOptions struct {
	// Layout is the layout of the data center to write.
	Layout   datacenter.Layout
	NoBackup bool
	// Salvage replays the undamaged records of a damaged journal.
	Salvage bool
	// Quality is the quality of compression; 0 is the best.
	Quality int
	// Source is the source, if that has become another, and what was opened is what the edits in its
	// journal were made on. They can be taken back then, and not saved.
	Source string
	Logger *slog.Logger
	// Disk is where a folder is edited: that of the system, or one for tests.
	Disk disk.FS
}

// Edit makes the source editable. The error is [ErrReadOnly] or an [*Error].
func (s *Source) Edit(ctx context.Context, o EditOptions) error {
	sessions, mounts, err := s.BeginEdits(ctx, o)
	switch {
	case errors.Is(err, ErrReadOnly), Known(err) && err != nil:
		return err
	case err != nil:
		return &Error{Err: err}
	}
	s.Sessions = sessions
	return s.Show(mounts)
}

// Replayed returns how many edits were replayed that a crash had left.
func (s *Source) Replayed() (count int) {
	for _, e := range s.Sessions {
		count += e.Replayed()
	}
	return count
}

// UnsavedError means that edits could not be saved.
type UnsavedError struct {
	// Path is the source, and Journal the file that has its edits; it is empty if there is
	// none.
	Path, Journal string
	Err           error
}

func (e *UnsavedError) Error() string {
	outcome := "was not saved"
	if errors.Is(e.Err, replace.ErrUnsynced) {
		outcome = "may not be saved for good"
	}
	// The path stands in front.
	why := strings.TrimPrefix(e.Err.Error(), e.Path+": ")
	if step, ok := errors.AsType[*replace.StepError](e.Err); ok && step.Path == e.Path {
		why = strings.Replace(why, step.Error(), step.Of("it"), 1)
	}
	return fmt.Sprintf("%s %s: %s", shown.Text(e.Path), outcome, why)
}

func (e *UnsavedError) Unwrap() error { return e.Err }

// Save saves all sessions, even if one fails.
func (s *Source) Save(ctx context.Context, how save.How, show func(save.Progress)) (reports []save.Report, failed []*UnsavedError) {
	for _, e := range s.Sessions {
		r, err := e.Save(ctx, how, show)
		reports = append(reports, r)
		if err != nil {
			failed = append(failed, &UnsavedError{e.Path(), e.Journal(), err})
		}
	}
	return reports, failed
}

// CloseSessions closes all of some sessions.
func CloseSessions(sessions []Session) error {
	var errs []error
	for _, e := range sessions {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
