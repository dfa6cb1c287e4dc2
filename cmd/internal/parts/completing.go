package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/shown"
)

// Completing says what pack does with a folder of sheets that may be a part.
type Completing struct {
	// Dir is the folder, To what is made of it, and Like the file that has what it lacks.
	Dir, To, Like string
	// Known are the flags for opening what is replaced, see [KnownCache].
	Known  *options.SourceFlags
	Log    *slog.Logger
	Stderr io.Writer
}

// Complete looks through the folder. If that is a part, it is completed with the sheets of base, or refused if there
// is none. lent is how many sheets it has from there.
func (f *Completing) Complete(ctx context.Context, base *dckind.DataCenter, opts *pack.Options) (lent int, err error) {
	dir := f.Dir
	if opts.Looked, err = dckind.LookForSheets(ctx, dir); err != nil {
		return 0, err
	}
	mark, err := dckind.MarkOf(dir)
	if err != nil {
		return 0, err
	}
	if base == nil {
		if err := f.refused(dckind.CheckWhole(dir, opts.Looked, mark)); err != nil {
			return 0, err
		}
		return 0, f.checkReplaced(ctx, opts.Looked)
	}
	b, err := base.Fill(ctx, opts.Looked, mark)
	if err != nil {
		return 0, err
	}
	opts.Looked = b.Folder
	if n := len(b.Lacking); n > 0 {
		what := "the others"
		if n <= fewNames {
			what = strings.Join(b.Lacking, ", ")
		}
		shown.Fprintf(f.Stderr, "lorefs: %s has %d of %d kinds of sheets: %s %s as in %s (--all packs without)\n",
			dir, b.Of-n, b.Of, what, shown.Verb(n, "stays", "stay"), f.Like)
	}
	if b.Never > 0 {
		shown.Fprintf(f.Stderr, "lorefs: %s that never %s in %s %s as in %s (--all packs without)\n",
			shown.Plural(b.Never, "sheet"), shown.Was(b.Never), dir, shown.Verb(b.Never, "stays", "stay"), f.Like)
	}
	return b.Lent, nil
}

// refused adds to the error for a part what to do with it.
func (f *Completing) refused(err error) error {
	part, is := errors.AsType[*dckind.PartError](err)
	if !is {
		return err
	}
	name := shown.Shell(part.Of.Name)
	return &cli.Error{
		Code: cli.ExitUsage, Err: fmt.Errorf("%w; nothing was written", err),
		Hint: fmt.Sprintf("lorefs pack --like %[1]s %[2]s %[3]s takes the others from there, "+
			"lorefs diff --patch %[1]s %[2]s | lorefs apply %[1]s - changes these there, --all packs these alone",
			name, shown.Shell(f.Dir), shown.Shell(f.To)),
	}
}

// checkReplaced returns an error if what is replaced is a data center that has kinds of sheets which the folder
// lacks. Nothing tells that the folder is a part of it, but it may be.
func (f *Completing) checkReplaced(ctx context.Context, folder *pack.Folder) error {
	if info, err := os.Stat(f.To); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // nothing is replaced, or writing tells why it can't be
	}
	old, err := reach.OpenSource(ctx, f.To, f.Known, f.Log, cli.Silence{}.Set)
	if err != nil {
		return ctx.Err() // it is no data center that anybody could lose
	}
	defer old.Close()
	d, err := reach.DataCenterOf(old)
	if err != nil {
		return err
	}
	lacking, err := d.Lacking(ctx, folder)
	if err != nil || len(lacking) == 0 {
		return err
	}
	return &cli.Error{
		Code: cli.ExitUsage, Err: fmt.Errorf("%s has %s of sheets that %s lacks, such as %s; nothing was written",
			f.To, shown.Plural(len(lacking), "kind"), f.Dir, lacking[0]),
		Hint: fmt.Sprintf("--like %s takes them from there, --all packs without them", shown.Shell(f.To)),
	}
}

// KnownCache is the cache size for a data center that is only asked for types and keys, each
// once. The default size would nearly double the memory for packing.
const KnownCache = 64 << 20
