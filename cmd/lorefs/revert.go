package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
)

func newRevert(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	all, asJSON := false, false
	c := &cobra.Command{
		Use:   "revert MOUNTPOINT|SOURCE [PATH…]",
		Short: "take back edits that are not saved yet",
		Long: `revert takes back what you edited at a PATH and below it, and prints it as edits does. The
mount shows again what was there before, in tree/ and in sheets/, under the same names and
inode numbers. Programs that have a file open see it too. Text that such a program has not
written yet is left alone. Without PATH, --all takes back everything. SOURCE may also be a
source whose journal a crash has left. It may be overwritten or gone: revert then reads the
copy beside the journal.

A PATH is a file or directory of the mount, or a query as edits prints it. Something that
you removed still has its old name. If a PATH in a mount is the only argument, you need no
MOUNTPOINT before it. If a query finds several nodes with edits, --all takes back all of
them.`,
		Args: func(c *cobra.Command, args []string) error {
			return cli.ExactArgs("MOUNTPOINT|SOURCE")(c, args[:min(len(args), 1)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			m, err := reach.MountFor(args[0])
			if err != nil {
				return err
			}
			paths := args[1:]
			if m != nil {
				paths = m.Meant(paths)
			}
			if len(paths) == 0 || slices.ContainsFunc(paths, isWhole) {
				if !all {
					return cli.UsageErrorf("this takes back everything: --all says that you mean that")
				}
				paths = nil
			}
			if m == nil {
				return revertAlone(c.Context(), c.OutOrStdout(), args[0], paths, all, format(asJSON), &f, log)
			}
			a, err := m.Talk(c.OutOrStdout(), daemon.Request{
				Do: daemon.Revert, Source: m.Source, Paths: paths, All: all, Format: string(format(asJSON)),
			})
			if err == nil && a.Edits == 0 && !asJSON {
				_, err = fmt.Fprintln(c.OutOrStdout(), cli.NothingEdited)
			}
			return err
		},
	}
	f.AddEditable(c.Flags())
	cli.AddJSON(c, &asJSON, cli.ObjectALine)
	c.Flags().BoolVar(&all, "all", false, "take back everything, or all that a query finds")
	return c
}

// isWhole reports whether a path is that of everything: the mount point, or an empty word of
// a script.
func isWhole(path string) bool { return path == "" || filepath.Clean(path) == "." }

// revertAlone takes back edits in the journal of a source that is not mounted.
func revertAlone(ctx context.Context, w io.Writer, path string, paths []string, all bool, as kinds.EditsFormat, f *options.SourceFlags, log *slog.Logger) error {
	on, o, err := editedOf(path)
	if err != nil {
		return err
	}
	o.Logger = log
	s, err := reach.OpenSource(ctx, on, f.Reading(), log, cli.Silence{}.Set)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := reach.MakeEditable(ctx, s, o); err != nil {
		return err
	}
	switch {
	case s.Replayed() > 0:
	case len(paths) > 0:
		return &kinds.NoEditError{Path: paths[0]}
	case as == kinds.EditsJSON:
		return nil
	default:
		_, err := fmt.Fprintln(w, cli.NothingEdited)
		return err
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, "/")
	}
	back, err := s.Revert(ctx, "", paths, all)
	if writeErr := back.Write(w, as); err == nil {
		err = writeErr
	}
	return err
}

// editedOf returns the path of what the edits in the journal of a source were made on, which is not the
// source if that was overwritten or is gone.
func editedOf(source string) (on string, o kinds.EditOptions, err error) {
	j, err := kinds.JournalOf(source)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return source, o, nil
	case err != nil:
		return "", o, err
	case j.State != save.StateStale:
		return source, o, nil
	}
	o.Source = j.Source
	on, err = kinds.BaseOf(&j, "")
	return on, o, err
}
