package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"

	"github.com/spf13/cobra"

	"lorefs/internal/treecopy"
)

// exporting are the flags of export.
type exporting struct {
	source    sourceFlags
	overwrite bool
	asJSON    bool
}

func newExport(log *slog.Logger) *cobra.Command {
	var f exporting
	c := &cobra.Command{
		Use:   "export SOURCE DIR [PATH]",
		Short: "copy what a mount would show to a folder, without mounting",
		Long: `export copies the directory PATH of SOURCE, as a mount would show it, into the folder
DIR. Without PATH it copies the sheets of a data center, and all of any other source.
What can't be read is told of and left out; the exit code is 1 then. Files that are
there already are left alone, unless --overwrite is given.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactArgs("SOURCE", "DIR")(c, args)
			}
			return atMostArgs(3)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), stopSignals...)
			defer stop()
			s, err := openShown(ctx, args[0], &f.source, log)
			if err != nil {
				return err
			}
			defer s.Close()
			switch {
			case f.asJSON && len(args) > 2:
				return usageErrorf("--json is for all sheets: it goes with no PATH")
			case f.asJSON:
				return f.sheetsAsJSON(ctx, c, s, args[1])
			case len(args) > 2:
				return f.run(ctx, c, s, args[2], args[1])
			}
			return f.run(ctx, c, s, s.exports, args[1])
		},
	}
	f.source.add(c.Flags())
	c.Flags().BoolVar(&f.asJSON, "json", false, "write each sheet of a data center as one JSON document instead, a node a line")
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "replace files that are there already")
	return c
}

func (f *exporting) run(ctx context.Context, c *cobra.Command, s *opened, from, to string) error {
	e, err := s.find(ctx, from)
	if err != nil {
		return err
	}
	p := newCounter("files")
	r, err := treecopy.Copy(ctx, s.tree, e, to, treecopy.Options{
		Overwrite: f.overwrite,
		Progress:  func(files, _ int64) { p.set(files, -1) },
		Failed: func(path string, err error) error {
			p.finish()
			fmt.Fprintf(c.ErrOrStderr(), "lorefs: %s: %s\n", path, errorText(err))
			return nil
		},
	})
	p.finish()
	if err == nil {
		err = s.check()
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %d files", r.Files)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d files, %d bytes\n", r.Files, r.Bytes)
	if r.Failed > 0 {
		return fmt.Errorf("%d files could not be copied", r.Failed)
	}
	return s.complete(from)
}
