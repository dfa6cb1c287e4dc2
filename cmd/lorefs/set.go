package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/daemon"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/mods"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/newfile"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/amend"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// amending are the flags of set, unset, add and remove.
type amending struct {
	source options.SourceFlags
	write  options.Writing
	how    save.How
	out    string
	dryRun bool
	patch  bool
	asJSON bool
	log    *slog.Logger
	// make makes the patch that does in a file what is wanted, and expr is what it asks for, or nil.
	make func(ctx context.Context, f *datacenter.File) (*patch.Patch, amend.Counts, error)
	expr *query.Query
}

// to has an operation done to all that an expression finds.
func (f *amending) to(expr string, do amend.Operation) (err error) {
	if f.expr, err = query.Compile(expr); err != nil {
		return cli.UsageErrorf("%w", err)
	}
	f.make = func(ctx context.Context, file *datacenter.File) (*patch.Patch, amend.Counts, error) {
		return amend.Make(ctx, file, f.expr, do)
	}
	return nil
}

// howAmended ends the help of all of them.
const howAmended = `

It changes nothing unless it can do all of it. It replaces SOURCE as a save does, and the
old file stays as SOURCE.bak. If SOURCE is mounted for editing, name the mount point. The
changes are edits like any others there, and commit saves them. --dry-run lists what would
change, and --patch prints it as a patch for lorefs apply. The exit code is 1 if EXPR finds
nothing.`

func newSet(log *slog.Logger) *cobra.Command {
	f := amending{log: log}
	var v valueFlags
	c := &cobra.Command{
		Use:   "set SOURCE|MOUNTPOINT EXPR VALUE",
		Short: "give attributes other values",
		Long: `set gives VALUE to all attributes that EXPR finds. EXPR is one of lorefs query that ends
with /@NAME, or with /text(). Each attribute keeps its type: VALUE has to fit in it. In place
of VALUE, --scale multiplies numbers, --add adds to them, and --replace OLD NEW replaces a part
of texts. A number in a string is one, too, and what was whole is rounded to be whole. With --create, nodes that do not
have the attribute get it.` + howAmended,
		Args: v.check,
		RunE: func(c *cobra.Command, args []string) error {
			if err := v.compile(&f, args[1], args[2:]); err != nil {
				return err
			}
			return f.run(c, args[0])
		},
	}
	f.add(c)
	v.addTo(c.Flags())
	return c
}

func newUnset(log *slog.Logger) *cobra.Command {
	return newByExpr(log, "unset", "remove attributes",
		"unset removes all attributes that EXPR finds, which is one of lorefs query.", amend.Unset)
}

func newRemove(log *slog.Logger) *cobra.Command {
	return newByExpr(log, "remove", "remove nodes",
		"remove removes all nodes that EXPR finds, with all below them. EXPR is one of lorefs query.", amend.Remove)
}

// newByExpr returns a command that needs nothing but an expression.
func newByExpr(log *slog.Logger, name, short, long string, do func() amend.Operation) *cobra.Command {
	f := amending{log: log}
	c := &cobra.Command{
		Use: name + " SOURCE|MOUNTPOINT EXPR", Short: short, Long: long + howAmended,
		Args: cli.ExactArgs("SOURCE", "EXPR"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.to(args[1], do()); err != nil {
				return err
			}
			return f.run(c, args[0])
		},
	}
	f.add(c)
	return c
}

func newAdd(log *slog.Logger) *cobra.Command {
	f := amending{log: log}
	c := &cobra.Command{
		Use:   "add SOURCE|MOUNTPOINT EXPR XML",
		Short: "add a node to nodes",
		Long: `add puts a node below each node that EXPR finds, which is one of lorefs query. / is the
root: what is added there is a sheet. XML is an element as sheets have them, and - reads it
from standard input. Types and keys are those of other nodes at such a place, unless dc:types
and dc:keys say others. The node goes where its keys belong, else behind its siblings.` + howAmended,
		Args: cli.ExactArgs("SOURCE", "EXPR", "XML"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.adding(c.InOrStdin(), args[1], args[2]); err != nil {
				return err
			}
			return f.run(c, args[0])
		},
	}
	f.add(c)
	return c
}

// add adds the flags that all have.
func (f *amending) add(c *cobra.Command) {
	flags := c.Flags()
	f.source.AddDataCenter(flags)
	flags.StringVar(&f.out, "out", "", "write a new `file`, and leave SOURCE as it is")
	flags.BoolVar(&f.dryRun, "dry-run", false, "change nothing, and list what would change as lorefs edits does")
	flags.BoolVar(&f.patch, "patch", false, "change nothing, and print a patch")
	cli.AddJSON(c, &f.asJSON, "with --dry-run "+cli.ObjectALine+", else "+cli.OneObject)
	flags.BoolVar(&f.write.NoBackup, "no-backup", false, "do not keep a replaced file as NAME.bak")
	options.AddHow(flags, &f.how.Repack, &f.how.VerifyAll)
	f.how.Last, f.write.Level = true, options.DefaultLevel
}

// rootExpr is the EXPR of the root, which no query finds.
const rootExpr = "/"

// adding has an element added to all that an expression finds.
func (f *amending) adding(stdin io.Reader, expr, xml string) error {
	name := "XML"
	if xml == mods.Stdin {
		text, err := mods.Read(stdin, mods.Stdin)
		if err != nil {
			return err
		}
		name, xml = "stdin", string(text)
	}
	xml = strings.TrimSpace(xml)
	do, err := amend.Add(name, xml)
	if err != nil {
		return cli.UsageErrorf("%w", err)
	}
	if expr != rootExpr {
		return f.to(expr, do)
	}
	f.make = func(ctx context.Context, file *datacenter.File) (*patch.Patch, amend.Counts, error) {
		return amend.AddSheet(ctx, file, name, xml)
	}
	return nil
}

// valueFlags are the flags of set that say what the new values are.
type valueFlags struct {
	scale, add string
	replace    bool
	create     bool
}

func (v *valueFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&v.scale, "scale", "", "multiply numbers by a `number`, in place of VALUE")
	flags.StringVar(&v.add, "add", "", "add a `number` to numbers, in place of VALUE")
	flags.BoolVar(&v.replace, "replace", false, "replace a part of texts: want OLD NEW in place of VALUE")
	flags.BoolVar(&v.create, "create", false, "also give the attribute to nodes that do not have it")
}

// check checks how many arguments there are.
func (v *valueFlags) check(c *cobra.Command, args []string) error {
	switch {
	case v.scale != "" || v.add != "":
		return cli.ExactArgs("SOURCE", "EXPR")(c, args)
	case v.replace:
		return cli.ExactArgs("SOURCE", "EXPR", "OLD", "NEW")(c, args)
	}
	return cli.ExactArgs("SOURCE", "EXPR", "VALUE")(c, args)
}

// compile says what becomes of what an expression finds.
func (v *valueFlags) compile(f *amending, expr string, values []string) error {
	if count(v.scale != "", v.add != "", v.replace, v.create) > 1 {
		return cli.UsageErrorf("--scale, --add, --replace and --create exclude each other")
	}
	switch {
	case v.scale != "":
		by, err := numberOf("--scale", v.scale)
		return cmp.Or(err, f.to(expr, amend.Scale(by)))
	case v.add != "":
		by, err := numberOf("--add", v.add)
		return cmp.Or(err, f.to(expr, amend.Increase(by)))
	case v.replace && values[0] == "":
		return cli.UsageErrorf("OLD is empty")
	case v.replace:
		return f.to(expr, amend.Replace(values[0], values[1]))
	}
	if err := f.to(expr, amend.Set(values[0])); err != nil || !v.create {
		return err
	}
	holders, name, ok := f.expr.Holders()
	if !ok {
		return cli.UsageErrorf("--create wants one path that ends with /@NAME: %s", expr)
	}
	f.make = func(ctx context.Context, file *datacenter.File) (*patch.Patch, amend.Counts, error) {
		return amend.Make(ctx, file, holders, amend.Give(name, values[0]))
	}
	return nil
}

// numberOf reads the number of a flag.
func numberOf(flag, text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, cli.UsageErrorf("%s %s: want a number", flag, text)
	}
	return x, nil
}

// count returns how many of some things are so.
func count(are ...bool) (n int) {
	for _, is := range are {
		if is {
			n++
		}
	}
	return n
}

// run changes a source, or what is mounted.
func (f *amending) run(c *cobra.Command, path string) error {
	if count(f.dryRun, f.patch, f.out != "") > 1 {
		return cli.UsageErrorf("--dry-run, --patch and --out exclude each other")
	}
	if f.asJSON && f.patch {
		return cli.UsageErrorf("--json and --patch exclude each other")
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return kinds.Unreadable(path, err)
	}
	isFile := err == nil && !info.IsDir()
	if !isFile && (f.out != "" || f.write.NoBackup || f.how.Repack || f.how.VerifyAll) {
		return cli.UsageErrorf("--out, --no-backup, --repack and --verify-all go with a file: %s is a folder", path)
	}
	if isFile && f.out == "" && !f.dryRun && !f.patch {
		return f.inFile(c, path)
	}
	return f.inDraft(c, path)
}

// inFile changes a file, which is replaced as by a save.
func (f *amending) inFile(c *cobra.Command, path string) error {
	ctx := c.Context()
	var n amend.Counts
	e := fileEdit{source: &f.source, noBackup: f.write.NoBackup, how: f.how, log: f.log}
	reports, err := e.run(ctx, path, func(s *kinds.Source) error {
		d, err := reach.DataCenterOf(s)
		if err != nil {
			return err
		}
		p, counts, err := f.plan(ctx, d.File())
		if err != nil {
			return err
		}
		n = counts
		done, err := dckind.ApplyPatches(ctx, s, &dckind.Patching{Patches: []*patch.Patch{p}})
		return cmp.Or(err, refused(done))
	})
	if err != nil {
		return err
	}
	return f.tell(c, n, reports)
}

// plan makes the patch for a file. It fails if nothing is found.
func (f *amending) plan(ctx context.Context, file *datacenter.File) (*patch.Patch, amend.Counts, error) {
	p, n, err := f.make(ctx, file)
	if e, ok := errors.AsType[*amend.RefusedError](err); ok {
		return nil, n, &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%w; nothing was changed", e)}
	}
	if err != nil || n.Changed+n.Same > 0 {
		return p, n, err
	}
	e := &cli.Error{Code: cli.ExitFailure, Err: errors.New("nothing is found")}
	if f.expr != nil {
		if unknown := cli.UnknownNames(f.expr.Unknown(file.Names()), file.Names()); unknown != "" {
			e.Err = errors.New(unknown)
		}
	}
	return nil, n, e
}

// refused returns an error if a part of a patch can't be applied.
func refused(done *dckind.Patched) error {
	if done == nil {
		return nil
	}
	for _, r := range done.Results {
		for _, it := range r.Items {
			if it.Outcome == patch.Conflict {
				return &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%s: %s; nothing was changed", r.Patch.Blocks[it.Block].Path.Text, it.Reason)}
			}
		}
	}
	return nil
}

// tell says what was changed, and what was saved.
func (f *amending) tell(c *cobra.Command, n amend.Counts, reports []save.Report) error {
	if f.asJSON {
		return jsonout.Object(c.OutOrStdout(), amended{n, cli.AsList(reports)})
	}
	if _, err := shown.Fprintf(c.OutOrStdout(), "%s, %d already there\n", shown.Plural(n.Changed, "change"), n.Same); err != nil {
		return err
	}
	return cli.NewTelling(c.OutOrStdout(), false).PrintSaved(&mounted.Answer{Saved: reports})
}

// amended is printed by --json.
type amended struct {
	amend.Counts
	// Saved has a report of each source that was saved: none if it is mounted, or if --out wrote it.
	Saved []save.Report `json:"saved"`
}

// inDraft changes a draft of a file or of what is mounted, and does with it what the flags say. A mount
// gets the changes as a patch that tells the nodes from others, since it may have been edited meanwhile.
func (f *amending) inDraft(c *cobra.Command, path string) error {
	ctx := c.Context()
	if f.out != "" {
		claimed, err := newfile.ClaimOut(c, path, f.out)
		if err != nil {
			return err
		}
		defer claimed.Close()
	}
	f.source.AsFile = true
	s, err := reach.OpenToRead(c, path, &f.source, f.log)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	p, n, err := f.plan(ctx, d.File())
	if err != nil {
		return err
	}
	draft, done, err := d.Patched(ctx, &dckind.Patching{Patches: []*patch.Patch{p}})
	if err = cmp.Or(err, refused(done), d.Check()); err != nil {
		return err
	}
	switch {
	case f.dryRun && f.asJSON:
		return dckind.WriteDraft(ctx, c.OutOrStdout(), draft, path, kinds.EditsJSON)
	case f.dryRun:
		return dckind.WriteDraft(ctx, c.OutOrStdout(), draft, path, kinds.EditsText)
	case f.patch:
		return dckind.WriteDraft(ctx, c.OutOrStdout(), draft, path, kinds.EditsPatch)
	case f.out != "":
		return f.toFile(c, s, draft, n)
	}
	return f.inMount(c, path, draft, n)
}

// toFile writes a draft as a new file.
func (f *amending) toFile(c *cobra.Command, s *kinds.Source, draft *edit.Draft, n amend.Counts) error {
	if err := newfile.WriteOut(c.Context(), s, draft, f.out, &f.write); err != nil {
		return err
	}
	if err := f.tell(c, n, nil); err != nil || f.asJSON {
		return err
	}
	return cli.SayWritten(c, f.out, false)
}

// inMount makes the edits of a draft in what is mounted.
func (f *amending) inMount(c *cobra.Command, dir string, draft *edit.Draft, n amend.Counts) error {
	m, err := reach.MountAt(dir)
	if err != nil {
		return err
	}
	s := draft.Snapshot()
	defer s.Close()
	p, err := patch.MakeDraft(c.Context(), s, "")
	if err != nil {
		return err
	}
	done, a, err := mounted.Apply(c.Context(), m.Name, &dckind.Patching{Patches: []*patch.Patch{p}})
	switch {
	case errors.Is(err, daemon.ErrNone):
		return reach.Absent(m)
	case err == nil:
		err = cli.FailureOf(&a)
	}
	if err = cmp.Or(err, refused(done)); err != nil {
		return err
	}
	if err := f.tell(c, n, nil); err != nil || f.asJSON || n.Changed == 0 {
		return err
	}
	_, err = shown.Fprintf(c.OutOrStdout(), "lorefs commit %s saves them\n", shown.Shell(dir))
	return err
}
