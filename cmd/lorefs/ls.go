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

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/internal/jsonout"
	"lorefs/nodes"
)

func newLs(log *slog.Logger) *cobra.Command {
	var f options.SourceFlags
	var l lister
	c := &cobra.Command{
		Use:   "ls SOURCE [PATH]",
		Short: "list a directory without mounting",
		Long: `ls prints the entries of a directory of SOURCE, or the entry of a file. It exits with 1
if names are missing because the root of a CASC storage is damaged.

A PATH that does not exist may be a pattern; ls then lists all that it matches, each with
its path if there are several:

  lorefs ls SOURCE 'sheets/*/NpcData-0000[1-3].xml'

` + patternHelp + `

In a data center a PATH that begins with / and does not exist is an expression of lorefs
query instead:

  lorefs ls SOURCE '/ItemData/Item[@id=5001]'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.ExactArgs("SOURCE")(c, args)
			}
			return cli.AtMostArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			s, err := reach.OpenToRead(c, args[0], &f, log)
			if err != nil {
				return err
			}
			defer s.Close()
			dir := "/"
			if len(args) > 1 {
				dir = args[1]
			}
			reach.TellNames(c.ErrOrStderr(), log, s, dir)
			l.out, l.source, l.spell, l.talk = bufio.NewWriter(c.OutOrStdout()), s, cli.Spelling(c), c.ErrOrStderr()
			l.lines = jsonout.NewLines(l.out)
			if err := l.list(c.Context(), dir); err != nil {
				return cmp.Or(l.out.Flush(), explainPath(err))
			}
			return cmp.Or(l.finish(nil), reach.Complete(s, dir))
		},
	}
	f.Add(c.Flags())
	c.Flags().BoolVarP(&l.long, "long", "l", false, "show kind, size and time as well")
	c.Flags().BoolVarP(&l.recursive, "recursive", "R", false, "list what is in directories, too, but not what links lead to")
	cli.AddJSON(c, &l.asJSON, cli.ObjectALine)
	return c
}

// patternHelp explains patterns.
const patternHelp = `In a pattern, * stands for any text without a slash, ** for any text, ? for a character,
[a-z] and [!a-z] for one of a class, {a,b} for one of several. [*] stands for * itself.
Patterns for a CASC storage ignore case.`

// lister prints entries.
type lister struct {
	out *bufio.Writer
	// lines is where JSON goes.
	lines                   *jsonout.Lines
	source                  *kinds.Source
	long, recursive, asJSON bool
	spell                   func(string) string
	// headed is whether a directory was told of.
	headed bool
	// talk gets what could not be found out. failed is whether there was something.
	talk   io.Writer
	failed bool
}

// fail reports what could not be found out of one entry, which keeps none of the others from being
// printed.
func (l *lister) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.failed = true
	_ = cli.PrintError(l.talk, err) // the list can still be read
	return nil
}

// finish prints the rest. It returns err or, if something could not be found out, an error that
// says nothing.
func (l *lister) finish(err error) error {
	if err = cmp.Or(err, l.out.Flush()); err == nil && l.failed {
		err = &cli.Error{Code: cli.ExitFailure}
	}
	return err
}

// list prints what is at a path, or all that a query or a pattern finds.
func (l *lister) list(ctx context.Context, name string) error {
	next, stop := iter.Pull2(l.source.FindAll(ctx, name))
	defer stop()
	e, err, more := next()
	after, afterErr, again := next()
	several := again || l.recursive
	for more {
		if err != nil {
			return err
		}
		if err := l.found(ctx, &e, several); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e, err, more = after, afterErr, again
		after, afterErr, again = next()
	}
	return nil
}

// found prints the entries of a directory, or a file, which it tells by its path if the user did
// not.
func (l *lister) found(ctx context.Context, f *kinds.Found, several bool) error {
	if f.Kind == nodes.Dir {
		return l.dir(ctx, f, several)
	}
	name := f.Name
	if several || f.By != kinds.ByPath {
		name = f.Path
	}
	return l.show(ctx, f.Entry, name, f.Path)
}

// dir prints the entries of a directory and, if wanted, then those of the directories in it. It
// lists the directory twice for that, and keeps none of its names.
func (l *lister) dir(ctx context.Context, f *kinds.Found, several bool) error {
	if several && !l.asJSON {
		line := l.spell(cmp.Or(f.Path, "/")) + ":\n"
		if l.headed {
			line = "\n" + line
		}
		l.headed = true
		if _, err := l.out.WriteString(line); err != nil {
			return err
		}
	}
	whole, err := l.children(ctx, f, func(child *kinds.Found) error { return l.show(ctx, child.Entry, child.Name, child.Path) })
	if err != nil || !whole || !l.recursive {
		return err
	}
	_, err = l.children(ctx, f, func(child *kinds.Found) error {
		if child.Kind != nodes.Dir {
			return nil
		}
		return l.dir(ctx, child, several)
	})
	return err
}

// children calls do for the entries of a directory. With recursive, one that can't be listed is
// reported, and whole is false.
func (l *lister) children(ctx context.Context, f *kinds.Found, do func(child *kinds.Found) error) (whole bool, err error) {
	for child, err := range l.source.Tree.ReadDir(ctx, f.ID, 0) {
		if err != nil && l.recursive {
			return false, l.fail(ctx, fmt.Errorf("list %q: %w", "/"+f.Path, err))
		}
		if err != nil {
			return false, err
		}
		if child.ModTime.IsZero() {
			child.ModTime = f.ModTime
		}
		if err := do(&kinds.Found{Entry: child, Path: path.Join(f.Path, child.Name)}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// show prints an entry. Finding its size can take long, so it is shown only if asked for.
func (l *lister) show(ctx context.Context, e nodes.Entry, name, at string) error {
	if !l.long && !l.asJSON {
		_, err := l.out.WriteString(l.spell(name) + "\n")
		return err
	}
	j, err := l.describe(ctx, e, at)
	if err != nil {
		return l.fail(ctx, err)
	}
	if l.asJSON {
		return l.lines.Write(j)
	}
	arrow := ""
	if j.Target != "" {
		arrow = " -> " + l.spell(j.Target)
	}
	//nolint:forbidigo // data goes to a pipe unchanged; spell makes it safe for terminals
	_, err = fmt.Fprintf(l.out, "%-4s %10d %s %s%s\n", j.Kind, j.Size, e.ModTime.Format("2006-01-02 15:04"), l.spell(name), arrow)
	return err
}

// describe returns all about an entry, of which the size may take long to find out.
func (l *lister) describe(ctx context.Context, e nodes.Entry, at string) (j jsonEntry, err error) {
	if e, err = nodes.WithSize(ctx, l.source.Tree, e); err != nil {
		return j, fmt.Errorf("%s: %w", at, err)
	}
	if e.Kind == nodes.Link {
		if j.Target, err = nodes.Readlink(ctx, l.source.Tree, e.ID); err != nil {
			return j, fmt.Errorf("%s: %w", at, err)
		}
	}
	if id, ok := l.source.FileID(e.ID); ok {
		j.ID = &id
	}
	j.Name, j.Kind, j.Size, j.Mtime, j.Inode, j.Path = e.Name, kindName(e.Kind), e.Size, e.ModTime.UTC(), uint64(e.ID), at
	return j, nil
}

// jsonEntry is an entry as --json prints it.
type jsonEntry struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"`
	Size  int64     `json:"size"`
	Mtime time.Time `json:"mtime"`
	Inode uint64    `json:"inode"`
	// ID is the number that the root of a CASC storage has for a file.
	ID *uint32 `json:"id,omitempty"`
	// Path is the path in the mount, and Target where a link leads.
	Path   string `json:"path"`
	Target string `json:"target,omitempty"`
	// Unreadable is why a file can't be read, as far as find looks: a reason as export counts
	// them.
	Unreadable string `json:"unreadable,omitempty"`
}

func kindName(k nodes.Kind) string {
	if k == nodes.Dir {
		return "dir"
	}
	return k.String()
}
