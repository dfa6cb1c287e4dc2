package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/app/treecopy"
)

// exporting are the flags of export.
type exporting struct {
	source sourceFlags
	files  filing
	asJSON bool
}

func newExport(log *slog.Logger) *cobra.Command {
	var f exporting
	c := &cobra.Command{
		Use:   "export SOURCE DIR [PATH]",
		Short: "copy what a mount would show to a folder, without mounting",
		Long: `export copies the directory PATH of SOURCE, as a mount would show it, into the folder
DIR. Without PATH it copies the sheets of a data center, and all of any other source.
Files that can't be read are reported and left out; the exit code is 1 then. Existing
files are left alone, unless --overwrite is given.

For data centers and CASC storages it says first how much it will write, and writes
nothing if the disk has no room for it. It stops when only a hundredth of the disk, or
1 GiB if that is less, is free.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactArgs("SOURCE", "DIR")(c, args)
			}
			return atMostArgs(3)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
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
			return f.run(ctx, c, s, s.Kind.Exports, args[1])
		},
	}
	f.source.add(c.Flags())
	c.Flags().BoolVar(&f.asJSON, "json", false, "write each sheet of a data center as one JSON document instead, a node a line")
	f.files.add(c)
	return c
}

func (f *exporting) run(ctx context.Context, c *cobra.Command, s *kinds.Source, from, to string) error {
	e, err := s.Find(ctx, from)
	if err == nil {
		err = f.files.foresee(ctx, c, s, e, to)
	}
	if err == nil {
		err = f.files.run(c, s, to, func(o treecopy.Options) (treecopy.Report, error) {
			return treecopy.Copy(ctx, s.Tree, e, to, o)
		})
	}
	if errors.Is(err, context.Canceled) {
		err = &commandError{code: exitInterrupted, err: errors.New("interrupted after 0 files")}
	}
	if err != nil {
		return err
	}
	return complete(s, from)
}

// sheetsAsJSON writes each sheet of a data center as a JSON document.
func (f *exporting) sheetsAsJSON(ctx context.Context, c *cobra.Command, s *kinds.Source, dir string) error {
	d, err := dataCenterOf(s)
	if err != nil {
		return err
	}
	return f.files.run(c, s, dir, func(o treecopy.Options) (treecopy.Report, error) {
		return treecopy.Write(ctx, d.JSONFiles(), dir, o)
	})
}
