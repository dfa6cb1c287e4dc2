package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"path"
	"time"

	"github.com/spf13/cobra"

	"lorefs/internal/app/kinds"
	"lorefs/internal/jsonout"
	"lorefs/nodes"
)

func newLs(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	long, asJSON := false, false
	c := &cobra.Command{
		Use:   "ls SOURCE [PATH]",
		Short: "list a directory without mounting",
		Long: `ls prints the entries of a directory of SOURCE, or the entry of a file. It exits with 1
if names are missing because the root of a CASC storage is damaged.

In a data center a PATH that begins with / and does not exist is an expression of lorefs
query, and ls prints the nodes and attributes that it finds, each with its path if there
are several:

  lorefs ls SOURCE '/ItemData/Item[@id=5001]'`,
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
			l := newLister(c.OutOrStdout(), s, long, asJSON)
			l.spell = spelling(c)
			if err := l.list(c.Context(), dir); err != nil {
				return explainPath(err)
			}
			return cmp.Or(l.out.Flush(), complete(s, dir))
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVarP(&long, "long", "l", false, "show kind, size and time as well")
	addJSON(c, &asJSON, objectALine)
	return c
}

// lister prints entries.
type lister struct {
	out          *bufio.Writer
	lines        *jsonout.Lines
	source       *kinds.Source
	long, asJSON bool
	spell        func(string) string
}

func newLister(w io.Writer, s *kinds.Source, long, asJSON bool) *lister {
	out := bufio.NewWriter(w)
	return &lister{
		out: out, lines: jsonout.NewLines(out), source: s, long: long, asJSON: asJSON,
		spell: func(name string) string { return name },
	}
}

// list prints what is at a path, or all that a query finds.
func (l *lister) list(ctx context.Context, name string) error {
	next, stop := iter.Pull2(l.source.FindAll(ctx, name))
	defer stop()
	e, err, more := next()
	after, afterErr, several := next()
	for first := true; more; first = false {
		if err != nil {
			return err
		}
		if err := l.found(ctx, &e, several || !first, first); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e, err, more = after, afterErr, several
		after, afterErr, several = next()
	}
	return nil
}

// found prints the entries of a directory, or a file. If it is one of several it is told by its
// path.
func (l *lister) found(ctx context.Context, f *kinds.Found, several, first bool) error {
	if f.Kind != nodes.Dir {
		name := f.Name
		if several {
			name = f.Path
		}
		return l.show(ctx, f.Entry, name, f.Path)
	}
	if several && !l.asJSON {
		line := l.spell(f.Path) + ":\n"
		if !first {
			line = "\n" + line
		}
		if _, err := l.out.WriteString(line); err != nil {
			return err
		}
	}
	for child, err := range l.source.Tree.ReadDir(ctx, f.ID, 0) {
		if err != nil {
			return err
		}
		if child.ModTime.IsZero() {
			child.ModTime = f.ModTime
		}
		if err := l.show(ctx, child, child.Name, path.Join(f.Path, child.Name)); err != nil {
			return err
		}
	}
	return nil
}

// show prints an entry. Finding its size can take long, so it is shown only if asked for.
func (l *lister) show(ctx context.Context, e nodes.Entry, name, at string) error {
	if !l.long && !l.asJSON {
		_, err := l.out.WriteString(l.spell(name) + "\n")
		return err
	}
	e, err := nodes.WithSize(ctx, l.source.Tree, e)
	if err != nil {
		return err
	}
	var target string
	if e.Kind == nodes.Link {
		if target, err = nodes.Readlink(ctx, l.source.Tree, e.ID); err != nil {
			return err
		}
	}
	if l.asJSON {
		return l.lines.Write(jsonEntry{
			e.Name, kindName(e.Kind), e.Size, e.ModTime.UTC(), uint64(e.ID), at, target,
		})
	}
	arrow := ""
	if target != "" {
		arrow = " -> " + l.spell(target)
	}
	//nolint:forbidigo // data goes to a pipe unchanged; spell makes it safe for terminals
	_, err = fmt.Fprintf(l.out, "%-4s %10d %s %s%s\n", kindName(e.Kind), e.Size, e.ModTime.Format("2006-01-02 15:04"), l.spell(name), arrow)
	return err
}

// jsonEntry is an entry as --json prints it.
type jsonEntry struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"`
	Size  int64     `json:"size"`
	Mtime time.Time `json:"mtime"`
	Inode uint64    `json:"inode"`
	// Path is the path in the mount, and Target where a link leads.
	Path   string `json:"path"`
	Target string `json:"target,omitempty"`
}

func kindName(k nodes.Kind) string {
	if k == nodes.Dir {
		return "dir"
	}
	return k.String()
}
