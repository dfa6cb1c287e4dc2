package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/app/treecopy"
	"lorefs/internal/shown"
)

// exporting are the flags of export.
type exporting struct {
	source sourceFlags
	files  filing
	format string
	links  bool
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

The links in by-key/ of a data center are written only with --links. They lead to
tree/ beside by-key/, so export all of it, PATH "/", or put both side by side.

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
			if err := f.checkFormat(c, s, len(args) > 2); err != nil {
				return err
			}
			switch {
			case f.format == formatJSON:
				return f.sheetsAsJSON(ctx, c, s, args[1])
			case len(args) > 2:
				return f.run(ctx, c, s, args[2], args[1])
			}
			return f.run(ctx, c, s, s.Kind.Exports, args[1])
		},
	}
	f.source.add(c.Flags())
	f.source.addTo(c.Flags(), []option{
		{
			name: "format", typed: true, kinds: []string{kinds.DataCenterName}, words: formatWords, value: &f.format,
			help: "`format` of the sheets of a data center: xml (default), or json: a document a sheet, a node a line",
		},
		{name: "links", typed: true, kinds: []string{kinds.DataCenterName}, value: &f.links, help: "write links, too"},
	})
	f.files.add(c)
	return c
}

func (f *exporting) run(ctx context.Context, c *cobra.Command, s *kinds.Source, from, to string) error {
	e, err := s.Find(ctx, from)
	if err == nil && !f.links {
		err = f.withoutLinks(s, e.Path)
	}
	if err == nil {
		err = f.files.foresee(ctx, c, s, e.Entry, to)
	}
	if err == nil {
		err = f.files.run(c, s, to, func(o treecopy.Options) (treecopy.Report, error) {
			return treecopy.Copy(ctx, s.Tree, e.Entry, to, o)
		})
		err = cmp.Or(err, tellPartial(c, s, false))
	}
	if errors.Is(err, context.Canceled) {
		err = &commandError{code: exitInterrupted, err: errors.New("interrupted after 0 files")}
	}
	if err != nil {
		return err
	}
	return complete(s, from)
}

// The values of --format.
const (
	formatXML  = "xml"
	formatJSON = "json"
)

var formatWords = []string{formatXML, formatJSON}

// checkFormat returns an error for a --format that does not go with what is exported. It tells
// those of it who want JSON documents by --json, as they were had once.
func (f *exporting) checkFormat(c *cobra.Command, s *kinds.Source, path bool) error {
	_, sheets := s.DataCenter()
	switch {
	case f.format == "" && sheets && !path && f.files.asJSON:
		shown.Fprintf(c.ErrOrStderr(), "lorefs: --json prints what was written; --format json writes the sheets as JSON, and --format xml as XML\n")
		return nil
	case f.format == "":
		return nil
	case !slices.Contains(formatWords, f.format):
		return usageErrorf("--format %q is unknown: want %s", f.format, orList(formatWords))
	case path:
		return usageErrorf("--format is for all sheets: it goes with no PATH")
	}
	return nil
}

// withoutLinks leaves out links. It returns an error if there is nothing else at a path.
func (f *exporting) withoutLinks(s *kinds.Source, from string) error {
	top, _, _ := strings.Cut(from, "/")
	switch {
	case s.Kind.Links == "":
	case top == "":
		f.files.without = s.Kind.Links
	case top == s.Kind.Links:
		return usageErrorf("%s: there are only links: --links writes them", from)
	}
	return nil
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
