package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/colors"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/following"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/tally"
	"lorefs/datacenter/patch"
)

// form is how a list of edits or differences is printed.
type form struct {
	asJSON, patch bool
	// stat asks for counts instead.
	stat  bool
	color colors.When
}

func (f *form) add(c *cobra.Command, patch string) {
	cli.AddJSON(c, &f.asJSON, cli.ObjectALine)
	c.Flags().BoolVar(&f.patch, "patch", false, patch)
	c.Flags().BoolVar(&f.stat, "stat", false, "count what there is by where it is, as git diff --stat does")
	colors.Add(c, &f.color)
}

// print calls list, which prints what is listed to the output of c, and counts that if it was asked for.
func (f *form) print(c *cobra.Command, list func() error) error {
	if f.patch && (f.asJSON || f.stat) {
		return cli.UsageErrorf("--patch goes with neither --json nor --stat")
	}
	f.color.Use(c)
	if !f.stat {
		return list()
	}
	out := c.OutOrStdout()
	defer c.SetOut(out)
	var counts tally.Tally
	c.SetOut(&counts)
	err := list()
	if err != nil && cli.ErrorText(err) != "" { // else it only says by the exit code that something differs
		return err
	}
	return cmp.Or(counts.Print(out, f.asJSON), err)
}

// lines returns the format of what is listed.
func (f *form) lines() kinds.EditsFormat {
	switch {
	case f.patch:
		return kinds.EditsPatch
	case f.stat:
		return kinds.EditsJSON
	}
	return format(f.asJSON)
}

// listing are the flags of commands that list edits.
type listing struct {
	form
	source options.SourceFlags
	log    *slog.Logger
}

func (l *listing) add(c *cobra.Command) {
	l.source.AddEditable(c.Flags())
	l.form.add(c, "print a patch of a data center, as diff --patch does")
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
	follow := false
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

--follow goes on after the edits that there are. It prints each as you make it, and ends with
the mount. A line "undone" names an edit that you took back, "saved" stands for a commit.

--stat counts the edits by where they are: of a data center by attributes and kinds of nodes,
else by folders.

With a PATH, edits lists only that and what is below. A PATH is a file or directory in a
mount, or a query, as for revert. If a PATH in a mount is the only argument, you need no
MOUNTPOINT before it.`,
		Args: func(c *cobra.Command, args []string) error {
			return cli.ExactArgs("MOUNTPOINT|SOURCE")(c, args[:min(len(args), 1)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if follow {
				l.color.Use(c)
				return l.follow(c, args[0], args[1:])
			}
			return l.print(c, func() error { return l.run(c, args[0], args[1:]) })
		},
	}
	l.add(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on, and print what you edit, take back and save, until the mount ends")
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

// follow prints the edits of a mount as they come and go.
func (l *listing) follow(c *cobra.Command, path string, inside []string) error {
	if l.patch || l.stat {
		return cli.UsageErrorf("--follow goes with neither --patch nor --stat")
	}
	m, err := reach.MountFor(path)
	switch {
	case err != nil:
		return err
	case m == nil:
		return cli.UsageErrorf("%s is not mounted: --follow is for a mount", path)
	}
	paths, begun := m.Meant(inside), false
	s := following.Source{
		JSON: l.asJSON,
		State: func() (state string, saves following.Saves, ok bool, err error) {
			status, err := reach.AskStatus(m)
			if there, stateErr := daemon.StateOf(m.Name); err != nil && begun && stateErr == nil && there == daemon.None {
				return "", saves, false, nil // it was unmounted
			}
			if err != nil {
				return "", saves, false, err
			}
			begun = true
			state, saves = editState(status.Editing)
			return state, saves, true, nil
		},
		List: func(w io.Writer) error { return l.list(c, m, paths, w) },
	}
	return s.Print(c.Context(), c.OutOrStdout())
}

// list writes the edits of a mount, or those at some paths in it.
func (l *listing) list(c *cobra.Command, m *reach.Mount, paths []string, w io.Writer) error {
	out := c.OutOrStdout()
	defer c.SetOut(out)
	c.SetOut(w)
	_, err := l.ask(c, m, paths)
	return err
}

// editState returns a text that changes with each edit and save of a mount: each edit makes a journal
// longer. saves are all that the mount has saved last.
func editState(e *mounted.EditStatus) (state string, saves following.Saves) {
	if e == nil {
		return "", saves
	}
	saves.Running = e.Saving != nil
	journals, reports := []string{e.Journal}, []*save.Report{e.Saved}
	if e.World != nil {
		journals, reports = append(journals, e.World.Journal), append(reports, e.World.Saved)
	}
	for _, path := range journals {
		if info, err := os.Stat(path); err == nil {
			state += fmt.Sprint(info.Size(), info.ModTime().UnixNano(), ";")
		}
	}
	for _, r := range reports {
		if r != nil {
			saves.Edits += r.Edits
			saves.Last += fmt.Sprintf("%+v;", *r)
		}
	}
	return state + saves.Last, saves
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
		Do: daemon.Edits, Source: m.Source, Paths: paths, Format: string(l.lines()),
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
	return s.WriteUnsaved(ctx, w, j, on, l.lines())
}
