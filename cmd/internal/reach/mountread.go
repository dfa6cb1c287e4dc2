package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/save"
	"lorefs/internal/origin"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// SourceOf returns the source that a path means to a command that reads: what is mounted on it, if
// it is a mount point, and else the path itself. s takes the options of the mount, so that the
// command sees what the mount shows. opened is nil if there is no mount.
func SourceOf(s *options.Set, path string, tell io.Writer) (source string, opened *mounted.Opened, err error) {
	s.TakeMounted(nil, "")
	if origin.IsRemote(path) || s.Given("kind") { // the files in the mount may be a source, too
		return path, nil, nil
	}
	m, err := MountIn(path)
	if err != nil || m == nil || m.Inside != "." {
		return path, nil, err
	}
	a, conn, err := mounted.Talk(m.Name, daemon.Request{Do: daemon.Opened}, nil)
	if errors.Is(err, daemon.ErrNone) {
		err = Absent(m)
	}
	if err != nil {
		return path, nil, err
	}
	if err = errors.Join(cli.FailureOf(&a), conn.Close()); err != nil {
		return path, nil, fmt.Errorf("%s: %w", m.Dir, err)
	}
	TellTexts(tell, m, &a)
	s.TakeMounted(a.Opened, m.Dir)
	return a.Opened.Source, a.Opened, nil
}

// TellTexts tells of the texts in a mount that are no edits.
func TellTexts(tell io.Writer, m *Mount, a *mounted.Answer) {
	if n := a.Left.Texts(); n > 0 {
		shown.Fprintf(tell, "lorefs: %s %s refused, or could not be taken: lorefs status %s names %s\n",
			shown.Plural(n, "text"), shown.Was(n), shown.Shell(m.Dir), shown.Verb(n, "it", "them"))
	}
}

// OpenToRead opens the source at a path or, with all that is edited, the one that is mounted there.
// Of a source with edits that are not saved it says so, since it does not show them.
func OpenToRead(c *cobra.Command, path string, f *options.SourceFlags, log *slog.Logger) (*kinds.Source, error) {
	return OpenRead(c.Context(), path, f, log, c.ErrOrStderr())
}

// A source that is saved while it is opened is opened again, readTries times at most, after a pause
// that begins with readPause and doubles.
const (
	readTries = 12
	readPause = time.Millisecond
)

// OpenRead is OpenToRead without a command. tell gets what is to be known of the source.
func OpenRead(ctx context.Context, path string, f *options.SourceFlags, log *slog.Logger, tell io.Writer) (s *kinds.Source, err error) {
	pause := readPause
	for range readTries {
		source, opened, lookErr := SourceOf(&f.Set, path, tell)
		if lookErr != nil {
			return nil, lookErr
		}
		// What a mount shows is read as it is at one moment.
		f.Pinned = opened != nil
		if opened == nil {
			if s, err = OpenShown(ctx, source, f, log); err == nil {
				TellUnsaved(tell, "this does not show them", source, f.World)
			}
			return s, err
		}
		s, err = OpenShown(ctx, source, f, log)
		if err == nil && opened.Editable {
			err = takeUnsaved(ctx, s, f.AsFile)
		}
		if !errors.Is(err, nodes.ErrChanged) {
			return s, err
		}
		log.Debug("the source was saved while it was opened", "err", err)
		tell = io.Discard // it was told
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		pause *= 2
	}
	return nil, err
}

// takeUnsaved shows the edits of a mount, or closes the source.
func takeUnsaved(ctx context.Context, s *kinds.Source, asFile bool) error {
	err := s.TakeUnsaved(ctx)
	if err == nil && asFile {
		err = s.SaveInMemory(ctx)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// ExplainInside adds a hint to the error of a mount, or of a path in one, that is no source: to mount
// it once more, or to replay what is edited there, it is none.
func ExplainInside(path string, err error) error {
	if !errors.Is(err, kinds.ErrUnknown) {
		return err
	}
	m, mountErr := MountIn(path)
	if mountErr != nil || m == nil {
		return err
	}
	hint := "it is in the mount on " + m.Name + ": name that as SOURCE"
	if m.Inside == "." {
		hint = "lorefs status " + shown.Shell(path) + " names the source that is mounted there"
	}
	return &cli.Error{Code: cli.ExitUnknown, Err: err, Hint: hint}
}

// TellUnsaved says of sources that they have edits which are not saved, and what that means.
func TellUnsaved(tell io.Writer, what string, sources ...string) {
	for _, path := range sources {
		if path == "" || origin.IsRemote(path) || cli.Quiet.Load() {
			continue
		}
		j, err := kinds.JournalOf(path)
		if err != nil || j.Edits == 0 || j.State == save.StateSaved {
			continue
		}
		where, hint := "", "lorefs edits "+shown.Shell(path)+" lists them"
		if m, err := MountFor(path); err == nil && m != nil {
			where, hint = " in its mount on "+m.Dir, "name the mount to see them"
		}
		shown.Fprintf(tell, "lorefs: %s has %s%s that %s not saved: %s (%s)\n", path, j.Count(), where, shown.Is(j.Edits), what, hint)
	}
}
