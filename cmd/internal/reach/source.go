package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/options"
	"lorefs/internal/origin"
	"lorefs/internal/shown"
)

// OpenSource opens a source of any kind. show is called with the progress of the first pass
// over it.
func OpenSource(ctx context.Context, path string, f *options.SourceFlags, log *slog.Logger, show func(done, total int64)) (*kinds.Source, error) {
	k, o, err := f.Reach(ctx, path, log, show)
	if err != nil {
		return nil, ExplainInside(path, err)
	}
	began := time.Now()
	s, err := k.Open(ctx, path, o)
	if err == nil {
		log.Info("opened", "source", origin.Shown(path), "kind", k.Name, "seconds", fmt.Sprintf("%.2f", time.Since(began).Seconds()))
	}
	return s, ExplainInside(path, f.ExplainKey(path, err))
}

// Opening says what takes long when a source is opened.
func Opening(path string) string {
	if origin.IsRemote(path) {
		return "fetching"
	}
	return "inflating"
}

// OpenShown calls OpenSource with a progress bar.
func OpenShown(ctx context.Context, path string, f *options.SourceFlags, log *slog.Logger) (*kinds.Source, error) {
	p := cli.NewProgress(Opening(path))
	defer p.Finish()
	return OpenSource(ctx, path, f, log, p.Set)
}

// DataCenterOf returns a source as a data center, or an error for users.
func DataCenterOf(s *kinds.Source) (*dckind.DataCenter, error) {
	d, ok := dckind.Of(s)
	if !ok {
		return nil, options.WantsDataCenter(s.Kind)
	}
	return d, nil
}

// TellNames says on w, once and if warnings are wanted, that names are sought at paths of a source
// that has numbers in place of names.
func TellNames(w io.Writer, log *slog.Logger, s *kinds.Source, paths ...string) {
	for _, name := range paths {
		if hint := s.NamesHint(name); hint != "" && log.Enabled(context.Background(), slog.LevelWarn) {
			shown.Fprintf(w, "lorefs: %s\n", hint)
			return
		}
	}
}

// Complete returns an error if names below a path are missing. The log has said which.
func Complete(s *kinds.Source, path string) error {
	if s.Complete(path) {
		return nil
	}
	return &cli.Error{Code: cli.ExitFailure}
}

// MakeEditable makes a source editable, or returns an error for users.
func MakeEditable(ctx context.Context, s *kinds.Source, o kinds.EditOptions) error {
	err := s.Edit(ctx, o)
	switch {
	case errors.Is(err, kinds.ErrReadOnly):
		return NotEditable(s.Kind)
	case errors.Is(err, kinds.ErrNotLocal):
		return cli.UsageErrorf("%w", err)
	}
	return err
}

// NotEditable returns the error for a source that can't be edited.
func NotEditable(k *kinds.Kind) error {
	return cli.UsageErrorf("sources of the kind %s can't be edited", k.Name)
}
