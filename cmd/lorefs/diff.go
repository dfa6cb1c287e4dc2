package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/newfile"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/parts"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/patch"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
	"lorefs/nodes/tabletree"
)

// differing are the flags of diff.
type differing struct {
	form
	source options.SourceFlags
	opts   diff.Options
	// all takes folders for all there is.
	all bool
	// of are the kinds of A and B, as far as they are known; nil for others.
	of      [2]*kinds.Kind
	out     *bufio.Writer
	records *jsonout.Lines
}

func newDiff(log *slog.Logger) *cobra.Command {
	var f differing
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "show what differs between two data centers, or two sources of another kind",
		Long: `diff prints what differs between two data centers, or between a data center and a folder
of sheets. Each line has a path as below tree/. Lines with - are in A, lines with + in B.
If a node was added or removed, its line says how many nodes and attributes it has. diff
does not compare the order of the names, nor the layout.

The exit code is 0 if nothing differs, 1 if something does, and 2 or more if diff could
not compare A and B.

A folder without a single sheet of some kind is a part, such as one that lorefs export
SOURCE DIR sheets/ItemData made. diff does not compare what the folder lacks, and says so.
--all compares that as well: then it counts as removed.

A and B can also be mounts, with what is edited there. If B is the mount of A, or the
sheets/ in it, diff prints your edits at once, as lorefs edits does.

--stat counts what differs by where it is.

--patch prints a patch that makes B of A. lorefs apply applies it to A, or to another
version of A. A patch is text: read it, edit it, and keep it beside your mod.

diff also compares two worlds by squares and areas, two resource containers by files, and two
recorded sessions by how many packets of each name they have. It compares two folders or files of
client tables of World of Warcraft by rows, which it knows by their IDs.

diff also compares two CASC storages, or with --build OLD,NEW two builds in one storage A.
If each has a CDN configuration of its own, --cdn OLD,NEW says which. diff prints which files were added, removed or changed. It compares the content keys in the
roots and reads no file, so you need not install the files. A root without content keys has
encoding keys. If these differ, the file was changed, or only encoded anew. With --definitions
of client tables, it also reads the tables that differ, and prints their rows.`,
		Args: func(c *cobra.Command, args []string) error {
			return cli.ExactArgs("A", "B")(c, append(args, args...)[:max(len(args), 2*min(len(args), 1))])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.patch && f.opts != (diff.Options{}) {
				return cli.UsageErrorf("--patch does not go with --ignore-*")
			}
			return f.print(c, func() error { return f.list(c, args, log) })
		},
	}
	f.source.AddDiffable(c.Flags())
	f.add(c, "print a patch for lorefs apply")
	c.Flags().BoolVar(&f.all, "all", false, "also compare the kinds of sheets that a folder has none of")
	c.Flags().BoolVar(&f.opts.IgnoreOrder, "ignore-order", false, "ignore another order of siblings")
	c.Flags().BoolVar(&f.opts.IgnoreKeys, "ignore-keys", false, "ignore key definitions")
	c.Flags().BoolVar(&f.opts.IgnoreFlags, "ignore-flags", false, "ignore key flags, which novadrop-dc loses")
	return c
}

// list prints what differs.
func (f *differing) list(c *cobra.Command, args []string, log *slog.Logger) error {
	f.out = bufio.NewWriter(c.OutOrStdout())
	f.records = jsonout.NewLines(f.out)
	done, n, err := f.storages(c, args, log)
	if !done {
		done, n, err = f.mount(c, args[0], args[1])
	}
	if !done {
		done, n, err = f.alike(c, args, log)
	}
	if !done {
		n, err = f.run(c, args[0], args[1], log)
	}
	if flushErr := f.out.Flush(); err == nil {
		err = flushErr
	}
	if err == nil && n > 0 {
		return &cli.Error{Code: cli.ExitFailure}
	}
	return asTrouble(err)
}

// asTrouble returns the error of a comparison that failed, whose code is never that of a
// difference.
func asTrouble(err error) error {
	if err == nil || cli.ExitCode(err) != cli.ExitFailure {
		return err
	}
	return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: cli.AsError(err).Hint}
}

// mount is run for a source and its mount, whose edits are listed if nothing is to be ignored.
func (f *differing) mount(c *cobra.Command, a, b string) (done bool, n int64, err error) {
	if f.opts != (diff.Options{}) {
		return false, 0, nil
	}
	return diffMount(c, a, b, &listing{form: f.form})
}

// run prints the differences and counts them.
func (f *differing) run(c *cobra.Command, a, b string, log *slog.Logger) (n int64, err error) {
	ctx := c.Context()
	sides := &parts.Sides{Flags: &f.source, Log: log, Stderr: c.ErrOrStderr(), Paths: [2]string{a, b}, Whole: f.patch, All: f.all}
	defer func() { err = errors.Join(err, sides.Close()) }()
	if err := sides.Open(ctx); err != nil {
		return 0, sides.Incomparable(ctx, err)
	}
	sides.Tell(c.ErrOrStderr())
	left, right := sides.Files[0], sides.Files[1]
	if f.patch {
		p, err := patch.MakePart(ctx, left, right, filepath.Base(a), sides.Diffed())
		if err != nil {
			return 0, err
		}
		if err := sides.Check(); err != nil {
			return 0, err
		}
		_, err = f.out.Write(p.Append(nil))
		return int64(len(p.Blocks)), err
	}
	if f.asJSON {
		for _, part := range sides.NotCompared() {
			if err := f.records.Write(part); err != nil {
				return 0, err
			}
		}
	}
	n, err = f.compare(ctx, sides)
	if same, ok := errors.AsType[*diff.SameError](err); ok { // nothing was printed yet
		if err := sides.OpenWith(ctx, same.Names); err != nil {
			return 0, err
		}
		n, err = f.compare(ctx, sides)
	}
	if err != nil {
		return n, err
	}
	return n, sides.Check()
}

// compare prints and counts the differences.
func (f *differing) compare(ctx context.Context, s *parts.Sides) (n int64, err error) {
	opts := f.opts
	opts.Parts = s.Diffed()
	for d, err := range diff.CompareOthers(ctx, s.Files[0], s.Files[1], s.Same.Places(), opts) {
		if err != nil {
			return n, err
		}
		n++
		if err := f.printOne(&d); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (f *differing) printOne(d *diff.Difference) error {
	if f.lines() == kinds.EditsJSON {
		return f.records.Write(d)
	}
	_, err := f.out.Write(d.Append(f.out.AvailableBuffer()))
	return err
}

// storages is run for CASC storages. done is false if there are none. A storage that is named alone
// is both sides.
func (f *differing) storages(c *cobra.Command, args []string, log *slog.Logger) (done bool, n int64, err error) {
	paths := []string{args[0], args[len(args)-1]}
	var sides [2]casckind.Build
	var others []string
	var wrong error
	for i, path := range paths {
		f.source.CASC.Side = i + 1
		if err := f.source.Check(); err != nil {
			return true, 0, err
		}
		source, _, err := reach.SourceOf(&f.source.Set, path, io.Discard)
		if err != nil {
			return true, 0, err
		}
		k, o, err := f.source.Reach(c.Context(), source, log, cli.Silence{}.Set)
		switch {
		case k == nil || !k.Builds:
			others = append(others, path)
			wrong = cmp.Or(wrong, err)
		case err != nil:
			return true, 0, err
		}
		f.of[i] = k
		sides[i] = casckind.Build{Path: source, Options: o}
	}
	two := strings.Contains(f.source.CASC.Build+f.source.CASC.CDN, ",")
	switch {
	case len(args) == 1 && !two:
		return true, 0, cli.ExactArgs("A", "B")(c, args)
	case len(others) == 2 && len(args) == 2:
		return false, 0, nil
	case wrong != nil:
		return true, 0, wrong
	case len(others) > 0:
		return true, 0, cli.UsageErrorf("a CASC storage can be compared with another one only: %s is none", others[0])
	case f.patch || f.opts != diff.Options{}:
		return true, 0, cli.UsageErrorf("--patch and --ignore-* go with data centers: %s is a CASC storage", paths[0])
	}
	n, err = f.compareBuilds(c, sides[0], sides[1])
	return true, n, err
}

// alike is run for two sources of a kind that can be compared as it is. done is false for others.
func (f *differing) alike(c *cobra.Command, args []string, log *slog.Logger) (done bool, n int64, err error) {
	k := f.of[0]
	if k == nil || f.of[1] == nil || k.Name != f.of[1].Name || k.Diff == nil {
		return false, 0, nil
	}
	if f.patch || f.all || f.opts != (diff.Options{}) {
		return true, 0, cli.UsageErrorf("--patch, --all and --ignore-* go with data centers: %s is a source of the kind %s", args[0], k.Name)
	}
	var sides [2]*kinds.Source
	for i := range sides {
		f.source.CASC.Side = i + 1
		if sides[i], err = reach.OpenToRead(c, args[i], &f.source, log); err != nil {
			return true, 0, err
		}
		defer func() { err = errors.Join(err, sides[i].Close()) }()
	}
	counted := func(yield func(kinds.Edit, error) bool) {
		for d, err := range k.Diff(c.Context(), sides[0].Archive, sides[1].Archive) {
			n++
			if !yield(d, err) {
				return
			}
		}
	}
	if err := kinds.WriteEdits(f.out, f.lines(), counted); err != nil {
		return true, n, err
	}
	return true, n, errors.Join(sides[0].Check(), sides[1].Check())
}

// compareBuilds prints what differs between two builds, and counts it.
func (f *differing) compareBuilds(c *cobra.Command, old, now casckind.Build) (n int64, err error) {
	counts := map[string]int64{}
	counted := func(yield func(kinds.Edit, error) bool) {
		for d, err := range casckind.DiffBuilds(c.Context(), old, now) {
			n++
			switch d := d.(type) {
			case *casckind.BuildDifference:
				counts[d.Kind]++
			case *tabletree.RowDifference:
				counts[d.Kind]++
			}
			if !yield(d, err) {
				return
			}
		}
	}
	if err := kinds.WriteEdits(f.out, f.lines(), counted); err != nil {
		return n, err
	}
	var parts []string
	for _, k := range []struct{ kind, one, text string }{
		{"added", "file", "added"},
		{"removed", "file", "removed"},
		{"changed", "file", "changed"},
		{"changed_or_encoded_anew", "file", "changed, or only encoded anew"},
		{"row_added", "row", "added"},
		{"row_removed", "row", "removed"},
		{"row_changed", "row", "changed"},
	} {
		if counts[k.kind] > 0 {
			parts = append(parts, shown.Plural(counts[k.kind], k.one)+" "+k.text)
		}
	}
	if len(parts) > 0 {
		shown.Fprintf(c.ErrOrStderr(), "%s\n", strings.Join(parts, "; "))
	}
	return n, nil
}

// diffMount compares a source with a mount of it: what differs are its edits, which nobody
// has to look for in millions of files. done is false if that is not what a and b are. It
// refuses parts of a mount, and folders that hold a whole one.
func diffMount(c *cobra.Command, a, b string, l *listing) (done bool, n int64, err error) {
	var of *reach.Mount
	for _, path := range []string{a, b} {
		if of, err = reach.MountIn(path); err != nil {
			return true, 0, err
		}
		if of == nil {
			if err := refuseTree(path); err != nil {
				return true, 0, err
			}
			continue
		}
		if of.Inside != "." && of.Inside != "sheets" {
			return true, 0, wrongDiff(fmt.Errorf("%s is in the mount on %s, which can only be compared as a whole", path, of.Name),
				"lorefs edits %s lists what is edited there", of.Name)
		}
	}
	if of == nil {
		return false, 0, nil
	}
	s, err := reach.AskStatus(reach.FoundMount(of.Name, of.Name, "."))
	if err != nil {
		return true, 0, err
	}
	if !newfile.Same(a, s.Source) {
		return false, 0, nil
	}
	if s.Problem != "" {
		return true, 0, errors.New(s.Problem)
	}
	n, err = l.ask(c, of, nil)
	return true, n, err
}

// wrongDiff returns the error for something that diff can't compare. The hint is the right
// command, of which args are words.
func wrongDiff(err error, hint string, args ...string) error {
	words := make([]any, len(args))
	for i, arg := range args {
		words[i] = shown.Shell(arg)
	}
	return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: fmt.Sprintf(hint, words...)}
}

// refuseTree returns an error for a folder with a tree/ in it: a mount that is not this
// user's, or an export of one. It has no sheets, and may have millions of other files.
func refuseTree(path string) error {
	if info, err := os.Stat(filepath.Join(path, "tree")); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is no such folder
	}
	return wrongDiff(fmt.Errorf("%s has tree/ in it: diff compares data centers and folders of sheets", path),
		"lorefs diff A %s compares its sheets", filepath.Join(path, "sheets"))
}
