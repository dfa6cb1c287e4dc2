package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter/patch"
)

// listing are the flags of commands that list edits.
type listing struct {
	source        options.SourceFlags
	asJSON, patch bool
	log           *slog.Logger
}

func (l *listing) add(c *cobra.Command) {
	l.source.AddEditable(c.Flags())
	cli.AddJSON(c, &l.asJSON, cli.ObjectALine)
	c.Flags().BoolVar(&l.patch, "patch", false, "print a patch of a data center, as diff --patch does")
	c.MarkFlagsMutuallyExclusive("json", "patch")
}

func (l *listing) format() kinds.EditsFormat {
	if l.patch {
		return kinds.EditsPatch
	}
	return format(l.asJSON)
}

// format returns the format in which edits are printed.
func format(asJSON bool) kinds.EditsFormat {
	if asJSON {
		return kinds.EditsJSON
	}
	return kinds.EditsText
}

func newEdits(log *slog.Logger) *cobra.Command {
	l := listing{log: log}
	c := &cobra.Command{
		Use:   "edits MOUNTPOINT|SOURCE [PATH…]",
		Short: "list what is edited and not saved yet",
		Long: `edits prints what you edited in a mount and have not saved yet. It also reads the journal
that a crash has left of a source. What you changed and changed back is no edit.

Lines with - are in the file, lines with + in the mount. For a node that was added or
removed, the line ends with its numbers of nodes and attributes. Paths are queries, which
revert, query, ls and cat take. A line with ? names a file that a program has open and has
not written yet.

In a world, an edit is a square or an area. Its line begins with ~ and has the path, how
many cells or nodes differ, and the first one before and after. --json has all of them, up
to 4 KiB.

With a PATH, edits lists only that and what is below. A PATH is a file or directory in a
mount, or a query, as for revert. If a PATH in a mount is the only argument, you need no
MOUNTPOINT before it.`,
		Args: func(c *cobra.Command, args []string) error {
			return cli.ExactArgs("MOUNTPOINT|SOURCE")(c, args[:min(len(args), 1)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			return l.run(c, args[0], args[1:])
		},
	}
	l.add(c)
	return c
}

// run lists the edits of a mount, those at some paths in it, or those of a source.
func (l *listing) run(c *cobra.Command, path string, inside []string) error {
	m, err := reach.MountFor(path)
	switch {
	case err != nil:
		return err
	case m != nil:
		_, err := l.ask(c, m, m.Meant(inside))
		return err
	case len(inside) > 0:
		return cli.UsageErrorf("%s is not mounted: PATH is one in a mount", path)
	}
	j, err := kinds.JournalOf(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return l.none(c.Context(), c.OutOrStdout(), path)
	}
	if err != nil {
		return err
	}
	return l.journal(c.Context(), c.OutOrStdout(), &j, "")
}

// none lists the edits of a source that has no journal. It returns an error for a path where
// there could be no edits, such as a mistyped one.
func (l *listing) none(ctx context.Context, w io.Writer, path string) error {
	k, err := l.source.KindOf(ctx, path, l.log)
	switch {
	case err != nil:
		return err
	case !k.Editable:
		return reach.NotEditable(k)
	}
	s, err := reach.OpenShown(ctx, path, &l.source, l.log)
	if err != nil {
		return err
	}
	defer s.Close()
	if !l.patch {
		return nil
	}
	if !s.Kind.Sheets {
		return kinds.ErrNoPatch
	}
	_, err = w.Write((&patch.Patch{}).Append(nil))
	return err
}

// ask prints the edits of a mount, or those at some paths in it, and returns how many the mount
// has.
func (l *listing) ask(c *cobra.Command, m *reach.Mount, paths []string) (int64, error) {
	if slices.ContainsFunc(paths, isWhole) {
		paths = nil
	}
	if l.patch && len(paths) > 0 {
		return 0, cli.UsageErrorf("--patch has all edits of a mount: leave %s away", paths[0])
	}
	a, err := m.Talk(c.OutOrStdout(), daemon.Request{
		Do: daemon.Edits, Source: m.Source, Paths: paths, Format: string(l.format()),
	})
	if err != nil {
		return 0, err
	}
	reach.TellTexts(c.ErrOrStderr(), m, a)
	return a.Edits, nil
}

// journal lists the edits of a journal on the file at base or, if that is empty, on what
// there is.
func (l *listing) journal(ctx context.Context, w io.Writer, j *save.Journal, base string) error {
	if j.State == save.StateInUse {
		return &cli.Error{Code: cli.ExitBusy, Err: fmt.Errorf("%s is edited by a process that can't be asked", j.Source)}
	}
	on, err := kinds.BaseOf(j, base)
	if err != nil {
		return err
	}
	if on == "" {
		return nil // all is saved
	}
	s, err := reach.OpenShown(ctx, on, l.source.Reading(), l.log)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.WriteUnsaved(ctx, w, j, on, l.format())
}
