package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

func newLs(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	long, asJSON := false, false
	c := &cobra.Command{
		Use:   "ls SOURCE [PATH]",
		Short: "list a directory without mounting",
		Long: `ls prints the entries of a directory of SOURCE, or the entry of a file. It exits with 1
if names are missing because the root of a CASC storage is damaged.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactArgs("SOURCE")(c, args)
			}
			return atMostArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openShown(c.Context(), args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			dir := "/"
			if len(args) > 1 {
				dir = args[1]
			}
			out := bufio.NewWriter(c.OutOrStdout())
			if err := list(c.Context(), s, dir, long || asJSON, lister(out, spelling(c), long, asJSON)); err != nil {
				return err
			}
			return cmp.Or(out.Flush(), complete(s, dir))
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVarP(&long, "long", "l", false, "show kind, size and time as well")
	c.Flags().BoolVar(&asJSON, "json", false, "print an object a line: name, kind, size, mtime, inode")
	return c
}

// list shows the entries of a directory, or the entry of a file. Finding sizes can take
// long, so entries have them only if sizes is true.
func list(ctx context.Context, s *kinds.Source, name string, sizes bool, show func(nodes.Entry) error) error {
	e, err := s.Find(ctx, name)
	if err != nil {
		return err
	}
	for child, err := range entries(ctx, s, e) {
		if err == nil && sizes {
			child, err = nodes.WithSize(ctx, s.Tree, child)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := show(child); err != nil {
			return err
		}
	}
	return nil
}

func entries(ctx context.Context, s *kinds.Source, e nodes.Entry) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		if e.Kind != nodes.Dir {
			yield(e, nil)
			return
		}
		for child, err := range s.Tree.ReadDir(ctx, e.ID, 0) {
			if child.ModTime.IsZero() {
				child.ModTime = e.ModTime
			}
			if !yield(child, err) {
				return
			}
		}
	}
}

// lister returns the function that prints an entry.
func lister(w io.Writer, spell func(string) string, long, asJSON bool) func(nodes.Entry) error {
	if asJSON {
		enc := shown.JSONLines(w)
		return func(e nodes.Entry) error {
			return enc.Encode(jsonEntry{e.Name, kindName(e.Kind), e.Size, e.ModTime.UTC(), uint64(e.ID)})
		}
	}
	return func(e nodes.Entry) (err error) {
		if long {
			//nolint:forbidigo // data goes to a pipe unchanged; spell makes it safe for terminals
			_, err = fmt.Fprintf(w, "%-4s %10d %s %s\n", kindName(e.Kind), e.Size, e.ModTime.Format("2006-01-02 15:04"), spell(e.Name))
		} else {
			_, err = fmt.Fprintln(w, spell(e.Name))
		}
		return err
	}
}

type jsonEntry struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"`
	Size  int64     `json:"size"`
	Mtime time.Time `json:"mtime"`
	Inode uint64    `json:"inode"`
}

func kindName(k nodes.Kind) string {
	if k == nodes.Dir {
		return "dir"
	}
	return k.String()
}
