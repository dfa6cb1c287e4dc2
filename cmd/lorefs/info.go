package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

func newInfo(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	asJSON := false
	c := &cobra.Command{
		Use:   "info SOURCE [PATH]",
		Short: "show header, counts and versions, or where a file comes from",
		Long: `info prints what SOURCE is: its header, counts and versions.

Of a folder that is no source but has some in it, info prints which. The folder of an
installed client of TERA stands for its data center, if there is only one.

PATH is a file of a CASC storage, as a mount would show it. With it, info prints where the
content comes from: entries in the root, content key, encoding keys, encoding (ESpec),
archive and offset. info also reads the file, and says why if that fails. The exit code is 1
if it could not be had from a host.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 {
				return cli.ExactArgs("SOURCE")(c, args)
			}
			return cli.AtMostArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				f.CASC.Unhidden = true // so that it can say of a file that it is not installed
			}
			f.AsFile = true
			s, err := reach.OpenToRead(c, args[0], &f, log)
			if folder, ok := errors.AsType[*kinds.FolderError](err); ok && len(args) == 1 {
				return printHeld(c.OutOrStdout(), folder.Sources, asJSON)
			}
			if err != nil {
				return err
			}
			defer s.Close()
			d, err := describe(c.Context(), s, args[1:])
			if err != nil {
				return err
			}
			if asJSON {
				err = jsonout.Object(c.OutOrStdout(), d)
			} else {
				err = d.Print(c.OutOrStdout())
			}
			if f, ok := d.(interface{ Failed() bool }); ok && err == nil && f.Failed() {
				return &cli.Error{Code: cli.ExitFailure}
			}
			return err
		},
	}
	f.Add(c.Flags())
	cli.AddJSON(c, &asJSON, cli.OneObject)
	return c
}

// heldSources are the sources in a folder, as --json prints them.
type heldSources struct {
	Sources []kinds.Held `json:"sources"`
}

// printHeld prints the sources in a folder, with their kinds.
func printHeld(w io.Writer, sources []kinds.Held, asJSON bool) error {
	if asJSON {
		return jsonout.Object(w, heldSources{sources})
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, h := range sources {
		shown.Fprintf(t, "%s\t%s\n", h.Path, h.Kind)
	}
	return t.Flush()
}

// describe describes a source, or the file of it at the path in args.
func describe(ctx context.Context, s *kinds.Source, args []string) (kinds.Description, error) {
	if len(args) == 0 {
		return s.Describe()
	}
	d, err := casckind.DescribeFile(ctx, s, args[0])
	if errors.Is(err, casckind.ErrNotDescribed) {
		err = cli.UsageErrorf("%w", err)
	}
	return d, err
}
