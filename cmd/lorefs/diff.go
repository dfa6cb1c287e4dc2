package main

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"lorefs/datacenter/diff"
	"lorefs/datacenter/patch"
	"lorefs/internal/jsonout"
)

// differing are the flags of diff.
type differing struct {
	source sourceFlags
	opts   diff.Options
	asJSON bool
	// asPatch prints a patch instead.
	asPatch bool
	// all takes folders for all there is.
	all   bool
	out   *bufio.Writer
	lines *jsonout.Lines
}

func newDiff(log *slog.Logger) *cobra.Command {
	var f differing
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "show what differs between two data centers, or two builds of a CASC storage",
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

--patch prints a patch that makes B of A. lorefs apply applies it to A, or to another
version of A. A patch is text: read it, edit it, and keep it beside your mod.

diff also compares two CASC storages, or with --build OLD,NEW two builds in one storage A.
If each has a CDN configuration of its own, --cdn OLD,NEW says which. diff prints which files were added, removed or changed. It compares the content keys in the
roots and reads no file, so you need not install the files. A root without content keys has
encoding keys. If these differ, the file was changed, or only encoded anew.`,
		Args: func(c *cobra.Command, args []string) error {
			return exactArgs("A", "B")(c, append(args, args...)[:max(len(args), 2*min(len(args), 1))])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.asPatch && (f.asJSON || f.opts != diff.Options{}) {
				return usageErrorf("--patch goes with neither --json nor --ignore-*")
			}
			f.out = bufio.NewWriter(c.OutOrStdout())
			f.lines = jsonout.NewLines(f.out)
			done, n, err := f.storages(c, args, log)
			if !done {
				done, n, err = f.mount(c, args[0], args[1])
			}
			if !done {
				n, err = f.run(c, args[0], args[1], log)
			}
			if flushErr := f.out.Flush(); err == nil {
				err = flushErr
			}
			if err == nil && n > 0 {
				return &commandError{code: exitFailure}
			}
			return asTrouble(err)
		},
	}
	f.source.addDiffable(c.Flags())
	addJSON(c, &f.asJSON, objectALine)
	c.Flags().BoolVar(&f.asPatch, "patch", false, "print a patch for lorefs apply")
	c.Flags().BoolVar(&f.all, "all", false, "also compare the kinds of sheets that a folder has none of")
	c.Flags().BoolVar(&f.opts.IgnoreOrder, "ignore-order", false, "ignore another order of siblings")
	c.Flags().BoolVar(&f.opts.IgnoreKeys, "ignore-keys", false, "ignore key definitions")
	c.Flags().BoolVar(&f.opts.IgnoreFlags, "ignore-flags", false, "ignore key flags, which novadrop-dc loses")
	return c
}

// asTrouble returns the error of a comparison that failed, whose code is never that of a
// difference.
func asTrouble(err error) error {
	if err == nil || exitCode(err) != exitFailure {
		return err
	}
	return &commandError{code: exitUsage, err: err, hint: asCommandError(err).hint}
}

// mount is run for a source and its mount, whose edits are listed if nothing is to be ignored.
func (f *differing) mount(c *cobra.Command, a, b string) (done bool, n int64, err error) {
	if f.opts != (diff.Options{}) {
		return false, 0, nil
	}
	return diffMount(c, a, b, &listing{asJSON: f.asJSON, patch: f.asPatch})
}

// run prints the differences and counts them.
func (f *differing) run(c *cobra.Command, a, b string, log *slog.Logger) (n int64, err error) {
	ctx := c.Context()
	sides := &sides{flags: &f.source, log: log, stderr: c.ErrOrStderr(), paths: [2]string{a, b}, whole: f.asPatch, all: f.all}
	defer func() { err = errors.Join(err, sides.close()) }()
	if err := sides.open(ctx); err != nil {
		return 0, sides.incomparable(ctx, err)
	}
	sides.tell(c.ErrOrStderr())
	left, right := sides.files[0], sides.files[1]
	if f.asPatch {
		p, err := patch.MakePart(ctx, left, right, filepath.Base(a), sides.diffed())
		if err != nil {
			return 0, err
		}
		if err := sides.check(); err != nil {
			return 0, err
		}
		_, err = f.out.Write(p.Append(nil))
		return int64(len(p.Blocks)), err
	}
	if f.asJSON {
		for _, part := range sides.notCompared() {
			if err := f.lines.Write(part); err != nil {
				return 0, err
			}
		}
	}
	n, err = f.compare(ctx, sides)
	if same, ok := errors.AsType[*diff.SameError](err); ok { // nothing was printed yet
		if err := sides.openWith(ctx, same.Names); err != nil {
			return 0, err
		}
		n, err = f.compare(ctx, sides)
	}
	if err != nil {
		return n, err
	}
	return n, sides.check()
}

// compare prints and counts the differences.
func (f *differing) compare(ctx context.Context, s *sides) (n int64, err error) {
	opts := f.opts
	opts.Parts = s.diffed()
	for d, err := range diff.CompareOthers(ctx, s.files[0], s.files[1], s.same.Places(), opts) {
		if err != nil {
			return n, err
		}
		n++
		if err := f.print(&d); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (f *differing) print(d *diff.Difference) error {
	if f.asJSON {
		return f.lines.Write(d)
	}
	_, err := f.out.Write(d.Append(f.out.AvailableBuffer()))
	return err
}
