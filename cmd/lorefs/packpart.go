package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/shown"
)

// complete looks through the folder. If that is a part, it is completed with the sheets of base, or refused if there
// is none.
func (f *packing) complete(ctx context.Context, c *cobra.Command, dir, to string, base *kinds.DataCenter, opts *pack.Options, log *slog.Logger) (err error) {
	if f.all {
		return nil
	}
	if opts.Looked, err = kinds.LookForSheets(ctx, dir); err != nil {
		return err
	}
	mark, err := kinds.MarkOf(dir)
	if err != nil {
		return err
	}
	if base == nil {
		if err := f.refused(dir, to, kinds.CheckWhole(dir, opts.Looked, mark)); err != nil {
			return err
		}
		return f.checkReplaced(ctx, dir, to, opts.Looked, log)
	}
	b, err := base.Fill(ctx, opts.Looked, mark)
	if err != nil {
		return err
	}
	opts.Looked, f.lent = b.Folder, b.Lent
	if n := len(b.Lacking); n > 0 {
		what := "the others"
		if n <= fewNames {
			what = strings.Join(b.Lacking, ", ")
		}
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s has %d of %d kinds of sheets: %s %s as in %s (--all packs without)\n",
			dir, b.Of-n, b.Of, what, shown.Verb(n, "stays", "stay"), f.like)
	}
	if b.Never > 0 {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s that never %s in %s %s as in %s (--all packs without)\n",
			shown.Plural(b.Never, "sheet"), shown.Was(b.Never), dir, shown.Verb(b.Never, "stays", "stay"), f.like)
	}
	return nil
}

// refused adds to the error for a part what to do with it.
func (f *packing) refused(dir, to string, err error) error {
	part, is := errors.AsType[*kinds.PartError](err)
	if !is {
		return err
	}
	name := shown.Shell(part.Of.Name)
	return &commandError{
		code: exitUsage, err: fmt.Errorf("%w; nothing was written", err),
		hint: fmt.Sprintf("lorefs pack --like %[1]s %[2]s %[3]s takes the others from there, "+
			"lorefs diff --patch %[1]s %[2]s | lorefs apply %[1]s - changes these there, --all packs these alone",
			name, shown.Shell(dir), shown.Shell(to)),
	}
}

// checkReplaced returns an error if what is replaced is a data center that has kinds of sheets which the folder
// lacks. Nothing tells that the folder is a part of it, but it may be.
func (f *packing) checkReplaced(ctx context.Context, dir, to string, folder *pack.Folder, log *slog.Logger) error {
	if info, err := os.Stat(to); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // nothing is replaced, or writing tells why it can't be
	}
	old, err := openSource(ctx, to, f.known(), log, silence{}.set)
	if err != nil {
		return ctx.Err() // it is no data center that anybody could lose
	}
	defer old.Close()
	d, err := dataCenterOf(old)
	if err != nil {
		return err
	}
	lacking, err := d.Lacking(ctx, folder)
	if err != nil || len(lacking) == 0 {
		return err
	}
	return &commandError{
		code: exitUsage, err: fmt.Errorf("%s has %s of sheets that %s lacks, such as %s; nothing was written",
			to, shown.Plural(len(lacking), "kind"), dir, lacking[0]),
		hint: fmt.Sprintf("--like %s takes them from there, --all packs without them", shown.Shell(to)),
	}
}
