package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xmltext"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/kinds"
	"lorefs/internal/shown"
)

// packing are the flags of pack.
type packing struct {
	kind     string
	layout   string
	key, iv  string
	like     string
	template string
	strict   bool
	quality  int
	write    writing
}

func newPack(log *slog.Logger) *cobra.Command {
	var f packing
	c := &cobra.Command{
		Use:   "pack DIR OUT",
		Short: "make a data center of sheets, or world geometry of JSON",
		Long: `pack makes the data center OUT of the sheets below DIR: XML files as lorefs export or
novadrop-dc unpack write them, or as people edit those. What type an attribute has
is said by the schema beside the sheet (Sheet.xsd); where there is none by --template,
a data center; else by the values of all sheets of the name.

Schemas of another version than the sheets give values other types than they had, and
elements other keys. pack tells of names that the schemas do not know or do not fit, with
their counts: ten of them, and how many more there are. validate shows each place, and
what has no influence on types, such as the order of elements. With --strict, pack
refuses such sheets, and sheets without a schema. With --like FILE.dat, types and keys
of all paths that this data center knows are its own, whatever the schemas say: give
it the file that the sheets were taken from.

If DIR holds zones or areas as JSON, as lorefs export writes them, or as .idx with
.geo and .gdi with .nod files of the original server, their .zgd and .apd files are
written to the folder OUT. Files whose names begin with a dot are left out. If there
are sheets as well, --kind has to say which to pack.

A file that was there becomes NAME.bak. If somebody edits it, or the folder, it is left
alone; the exit code is 6 then.`,
		Args: exactArgs("DIR", "OUT"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return f.run(ctx, c, args[0], args[1], log)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.kind, "kind", kindAuto, "what to pack: "+kinds.DataCenterName+", "+kinds.WorldName+" or "+kindAuto)
	flags.StringVar(&f.layout, "layout", datacenter.LayoutAuto.String(), "layout to write: v3, v6-x86 or v6-x64 (auto: v6-x64)")
	flags.StringVar(&f.key, "key", "", "key to encrypt with, 32 hex digits (default: $LOREFS_KEY, or the first published one)")
	flags.StringVar(&f.iv, "iv", "", "IV to encrypt with, 32 hex digits (default: $LOREFS_IV, or the first published one)")
	flags.StringVar(&f.like, "like", "", "a data center whose types and keys count before those of the schemas")
	flags.StringVar(&f.template, "template", "", "a data center that knows types and keys where there is no schema")
	flags.BoolVar(&f.strict, "strict", false, "refuse sheets that the schemas do not know or fit")
	flags.IntVar(&f.quality, "quality", 0, helpQuality)
	f.write.add(flags)
	return c
}

func (f *packing) run(ctx context.Context, c *cobra.Command, dir, to string, log *slog.Logger) error {
	if !slices.Contains([]string{kindAuto, kinds.DataCenterName, kinds.WorldName}, f.kind) {
		return usageErrorf("--kind %s: want %s, %s or %s", f.kind, kinds.DataCenterName, kinds.WorldName, kindAuto)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if err := isFolder(dir); err != nil {
		return err
	}
	inputs, hidden, err := f.worldInputs(dir)
	if err != nil {
		return err
	}
	if len(inputs) > 0 {
		if f.like != "" || f.template != "" || f.strict {
			return usageErrorf("--like, --template and --strict go with sheets: %s holds zones or areas", dir)
		}
		for _, name := range hidden {
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: its name begins with a dot, ignored\n", name)
		}
		return f.world(ctx, c, dir, to, inputs)
	}
	return f.sheets(ctx, c, dir, to, opts, log)
}

// knownCache is for a data center that only tells types and keys, each of which is asked
// for once: the usual cache would nearly double the memory that packing takes.
const knownCache = 64 << 20

// sheets packs sheets into a data center.
func (f *packing) sheets(ctx context.Context, c *cobra.Command, dir, to string, opts pack.Options, log *slog.Logger) error {
	if err := notAmong(dir, to); err != nil {
		return err
	}
	claimed, err := claim(c, to)
	if err != nil {
		return err
	}
	defer claimed.Close() // It was only held.
	for _, known := range []struct {
		path string
		to   *func(sheet string) (*xsd.Schema, error)
	}{{f.like, &opts.Like}, {f.template, &opts.Template}} {
		if known.path == "" {
			continue
		}
		t, err := openSource(ctx, known.path, &sourceFlags{kind: kinds.DataCenterName, layout: "auto", cacheSize: knownCache, key: f.key, iv: f.iv}, log, silence{}.set)
		if err != nil {
			return err
		}
		defer t.Close()
		if *known.to, err = templateOf(ctx, t); err != nil {
			return err
		}
	}
	p := newProgress("packing")
	opts.Progress = p.set
	r, err := f.write.packTo(ctx, dir, to, opts)
	p.finish()
	if err != nil && !errors.Is(err, pack.ErrMisfits) {
		return err
	}
	f.sayDoubts(c, &r)
	if err != nil {
		return &commandError{code: exitFailure, err: err, hint: "nothing was written; without --strict it is"}
	}
	for _, name := range r.Ignored {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, iofs.ErrNotExist) {
			continue // it was OUT, before that got its name
		}
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: neither a sheet nor a schema, ignored\n", name)
	}
	shown.Fprintf(c.OutOrStdout(), "%s, %s, %s\n", shown.Plural(r.Sheets, "sheet"), shown.Plural(r.Nodes, "node"), shown.Plural(r.Attributes, "attribute"))
	return sayWritten(c, to)
}

// sayDoubts tells of what the types of are not certain.
func (f *packing) sayDoubts(c *cobra.Command, r *pack.Report) {
	w := c.ErrOrStderr()
	if n := len(r.Inferred); n > 0 {
		shown.Fprintf(w, "lorefs: no schema for %d kinds of sheets, such as %s: their types are those that the values suit, and nodes have no keys\n", n, r.Inferred[0])
	}
	if len(r.Misfits) == 0 {
		return
	}
	hint := "lorefs validate shows each place"
	if f.like == "" {
		hint += ", --like FILE.dat takes types and keys from a data center"
	}
	shown.Fprintf(w, "lorefs: the schemas do not fit the sheets, so types and keys may be wrong (%s):\n", hint)
	const most = 10
	for _, m := range r.Misfits[:min(most, len(r.Misfits))] {
		shown.Fprintf(w, "  %v\n", m)
	}
	if n := len(r.Misfits) - most; n > 0 {
		shown.Fprintf(w, "  and %d more names\n", n)
	}
}

// notAmong refuses to write over a sheet or a schema of the folder that is packed.
func notAmong(dir, to string) error {
	out, err := os.Stat(to)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to write over; what else is wrong is told later
	}
	fsys := pack.Dir(dir)
	return iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !pack.IsInput(name) {
			return err
		}
		if info, err := iofs.Stat(fsys, name); err == nil && os.SameFile(info, out) {
			return usageErrorf("%s is one of the files to be packed: want another OUT", to)
		}
		return nil
	})
}

// packTo packs a folder, and looks at what was written.
func (w *writing) packTo(ctx context.Context, dir, to string, opts pack.Options) (r pack.Report, err error) {
	err = w.writeFile(ctx, to,
		func(out io.Writer) (err error) {
			r, err = pack.Pack(ctx, pack.Dir(dir), out, opts)
			return inFolder(dir, err)
		},
		func(file *os.File) error { return counted(ctx, file, *opts.Write.Key, &r) })
	return r, err
}

// inFolder makes an error that names a file below a folder one that says where it is.
func inFolder(dir string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		at := *e
		at.File = filepath.Join(dir, e.File)
		return &at
	}
	if e, ok := errors.AsType[*xmltext.ValueError](err); ok {
		at := *e
		at.File = filepath.Join(dir, e.File)
		return &at
	}
	return fmt.Errorf("%s: %w", dir, err)
}

func (f *packing) options() (pack.Options, error) {
	write, err := f.write.options(f.layout, datacenter.LayoutV6X64)
	if err != nil {
		return pack.Options{}, err
	}
	keys, err := (&sourceFlags{key: f.key, iv: f.iv}).dataCenterKeys()
	if err != nil {
		return pack.Options{}, err
	}
	write.Key = &keys[0]
	return pack.Options{Write: write, Strict: f.strict}, nil
}

// counted opens what was written and holds its size against the report's.
func counted(ctx context.Context, file *os.File, key datacenter.Key, r *pack.Report) error {
	g, err := reopen(ctx, file, key)
	if err != nil {
		return err
	}
	if n := g.Counts(); n.Nodes != r.Nodes || n.Attributes != r.Attributes || n.Sheets != int64(r.Sheets) {
		return fmt.Errorf("what was written has %d sheets, %d nodes and %d attributes, where %d, %d and %d were packed",
			n.Sheets, n.Nodes, n.Attributes, r.Sheets, r.Nodes, r.Attributes)
	}
	return nil
}

// templateOf gives the schemas of the sheets of a data center.
func templateOf(ctx context.Context, s *kinds.Source) (func(sheet string) (*xsd.Schema, error), error) {
	d, err := dataCenterOf(s)
	if err != nil {
		return nil, err
	}
	src, err := sheets.New(d.File(), nil, sheets.Options{})
	if err != nil {
		return nil, err
	}
	families := map[string]*sheets.Family{}
	for _, f := range src.Families() {
		families[f.Name] = f
	}
	return func(sheet string) (*xsd.Schema, error) {
		if f := families[sheet]; f != nil {
			return f.Schema(ctx)
		}
		return nil, nil //nolint:nilnil // nil says that there is none
	}, nil
}

// isFolder tells whether a path leads to a folder.
func isFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return kinds.Unreadable(path, err)
	}
	if !info.IsDir() {
		return &commandError{code: exitSource, err: fmt.Errorf("%s: want a folder of sheets", path)}
	}
	return nil
}
