package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/kinds/registry"
	"lorefs/cmd/internal/kinds/worldkind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/parts"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/geometry"
	"lorefs/internal/jsonout"
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
	// all takes the folder for all there is, and lent is how many sheets of --like are packed with it.
	all     bool
	lent    int
	asJSON  bool
	quality int
	write   options.Writing
	// remote is for --like and --template.
	remote options.RemoteFlags
	options.Set
}

// packedWords are the values of --kind.
var packedWords = append([]string{options.KindAuto, kinds.DataCenterName, kinds.WorldName},
	options.KindsThat(func(k *kinds.Kind) bool { return k.Pack != nil })...)

func (f *packing) table() []options.Option {
	f.kind, f.layout = options.KindAuto, datacenter.LayoutAuto.String()
	only := []string{kinds.DataCenterName}
	parts := append(options.KindsThat(func(k *kinds.Kind) bool { return k.Pack != nil }), kinds.DataCenterName)
	return slices.Concat([]options.Option{
		{Name: "kind", Typed: true, Words: packedWords, Value: &f.kind, Help: "what to pack: " + cli.OrList(packedWords)},
		{Name: "layout", Kinds: only, Typed: true, Words: options.LayoutWords, Value: &f.layout, Help: "`layout` to write: v3, v6-x86 or v6-x64 (auto: v6-x64)"},
		{Name: "key", Kinds: only, With: "iv", Value: &f.key, Help: "`key` to encrypt with, 32 hex digits (default: the first published one)"},
		{Name: "iv", Kinds: only, With: "key", Value: &f.iv, Help: "`IV` to encrypt with, 32 hex digits (default: the first published one)"},
		{Name: "like", Kinds: parts, Typed: true, Value: &f.like, Help: "a `file` that has what DIR lacks: of a data center also types and keys, which precede those of the schemas"},
		{Name: "template", Kinds: only, Typed: true, Value: &f.template, Help: "a data center `file` for types and keys of sheets without a schema"},
		{Name: "all", Kinds: parts, Typed: true, Value: &f.all, Help: "pack what is in DIR and nothing else, though it is a part"},
		{Name: "strict", Kinds: only, Typed: true, Value: &f.strict, Help: "refuse sheets that the schemas do not know or fit"},
		{Name: "quality", Kinds: []string{kinds.WorldName}, Value: &f.quality, Help: options.HelpQuality},
	}, f.write.Table(), f.remote.Table())
}

func newPack(log *slog.Logger) *cobra.Command {
	var f packing
	c := &cobra.Command{
		Use:   "pack DIR OUT",
		Short: "make a data center of sheets, world geometry of JSON, or a file that holds files",
		Long: `pack makes the data center OUT from the sheets below DIR. These are XML files as lorefs
export or novadrop-dc unpack writes them, edited or not. The type of an attribute comes from
the schema beside the sheet, Sheet.xsd. If there is none, it comes from the data center
--template, or else from the values in all sheets of that name.

Use the schemas that came with the sheets. Those of another version give values other types
than they had, and elements other keys. pack lists up to ten names that the schemas do not
know or do not fit, with counts, and says how many more there are. lorefs validate shows
each place, and also what does not matter for types, such as the order of elements.

--strict refuses such sheets, and sheets without a schema. --like FILE.dat takes types and
keys from this data center first, and only then from schemas. Give it the file that the
sheets came from.

If DIR holds only some kinds of sheets, as after lorefs export FILE.dat DIR sheets/ItemData,
--like FILE.dat also gives the others. Without --like, pack refuses such a part, and does not
replace an OUT that has kinds of sheets which DIR lacks. --all packs what is in DIR, and
nothing else.

If DIR holds zones or areas, pack writes their .zgd and .apd files to the folder OUT. They
can be JSON, as lorefs export writes it, or files of the original server: .idx with .geo,
and .gdi with .nod. Files whose names begin with a dot stay out. If DIR holds sheets as
well, choose with --kind what to pack.

With any other --kind, pack makes one file OUT that holds the files of DIR, in the order of
their names. lorefs export takes them out again. pack does not replace an OUT that has files
which DIR lacks: --like FILE adds them from there, --all packs without them.

pack keeps an existing file as NAME.bak. If OUT is mounted for editing, pack leaves it
alone and exits with 6.`,
		Args: cli.ExactArgs("DIR", "OUT"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return f.run(ctx, c, args[0], args[1], log)
		},
	}
	f.AddTo(c.Flags(), f.table())
	cli.AddJSON(c, &f.asJSON, cli.OneObject)
	return c
}

func (f *packing) run(ctx context.Context, c *cobra.Command, dir, to string, log *slog.Logger) error {
	if !slices.Contains(packedWords, f.kind) {
		return cli.UsageErrorf("--kind %s: want %s", f.kind, cli.OrList(packedWords))
	}
	if _, err := f.options(); err != nil { // before anything is read
		return err
	}
	if err := isFolder(dir); err != nil {
		return err
	}
	for _, k := range registry.All() {
		if k.Name == f.kind && k.Pack != nil {
			return f.folder(ctx, c, k, dir, to)
		}
	}
	inputs, hidden, err := f.worldInputs(dir)
	if err != nil {
		return err
	}
	kind, what := kinds.DataCenterName, "a folder of sheets"
	if len(inputs) > 0 {
		kind, what = kinds.WorldName, "a folder of zones or areas"
	}
	if err := f.checkPacked(dir, kind, what); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if len(inputs) > 0 {
		for _, name := range hidden {
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: its name begins with a dot, ignored\n", name)
		}
		return f.world(ctx, c, dir, to, inputs)
	}
	return f.sheets(ctx, c, dir, to, opts, log)
}

// checkPacked is checkKind and settle for a folder to pack.
func (f *packing) checkPacked(dir, kind, what string) error {
	if err := f.Misplaced(kind); err != nil {
		return cli.UsageErrorf("%w: %s is %s", err, dir, what)
	}
	return f.Settle(dir, kind)
}

// known returns the flags of a data center that is only asked for types and keys.
func (f *packing) known() *options.SourceFlags {
	k := &options.SourceFlags{}
	k.AddDataCenter(pflag.NewFlagSet("", pflag.ContinueOnError))
	k.TakeGiven(f.Flags)
	k.CacheSize = parts.KnownCache
	k.AsFile = true
	return k.Reading()
}

// sheets packs sheets into a data center.
func (f *packing) sheets(ctx context.Context, c *cobra.Command, dir, to string, opts pack.Options, log *slog.Logger) error {
	if err := notAmong(dir, to); err != nil {
		return err
	}
	claimed, err := output.Claim(to, cli.TellKept(c))
	if err != nil {
		return err
	}
	defer claimed.Close() // nothing was written to it
	var base *dckind.DataCenter
	for _, known := range []struct {
		path string
		to   *func(sheet string) (*xsd.Schema, error)
	}{{f.like, &opts.Like}, {f.template, &opts.Template}} {
		if known.path == "" {
			continue
		}
		t, err := reach.OpenToRead(c, known.path, f.known(), log)
		if err != nil {
			return err
		}
		defer t.Close()
		d, err := reach.DataCenterOf(t)
		if err != nil {
			return err
		}
		*known.to = d.Schemas(ctx)
		if known.path == f.like {
			base = d
		}
	}
	if !f.all {
		part := &parts.Completing{Dir: dir, To: to, Like: f.like, Known: f.known(), Log: log, Stderr: c.ErrOrStderr()}
		if f.lent, err = part.Complete(ctx, base, &opts); err != nil {
			return err
		}
	}
	p := cli.NewSaving()
	r, err := dckind.PackSheets(ctx, dir, to, f.write.Options, opts, p.Show)
	p.Finish()
	if err != nil && !errors.Is(err, pack.ErrMisfits) {
		return err
	}
	f.sayDoubts(c, &r)
	if err != nil {
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "nothing was written; without --strict it is"}
	}
	for _, name := range r.Ignored {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, iofs.ErrNotExist) {
			continue // OUT had this name before it was renamed
		}
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: neither a sheet nor a schema, ignored\n", name)
	}
	if f.asJSON {
		return f.printJSON(c, to, &r)
	}
	shown.Fprintf(c.OutOrStdout(), "%s, %s, %s\n", shown.Plural(r.Sheets, "sheet"), shown.Plural(r.Nodes, "node"), shown.Plural(r.Attributes, "attribute"))
	return cli.SayWritten(c, to, false)
}

// packedSheets is a data center that was made, as --json prints it.
type packedSheets struct {
	cli.WrittenFile
	Sheets     int   `json:"sheets"`
	Nodes      int64 `json:"nodes"`
	Attributes int64 `json:"attributes"`
	// Lent is how many of the sheets are those of --like.
	Lent int `json:"lent"`
	// Inferred are the kinds of sheets without a schema, and Misfits the names that the schemas
	// do not know or do not fit.
	Inferred []string `json:"inferred"`
	Misfits  []string `json:"misfits"`
}

func (f *packing) printJSON(c *cobra.Command, to string, r *pack.Report) error {
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	p := packedSheets{
		WrittenFile: cli.WrittenFile{Path: to, Bytes: info.Size()}, Sheets: r.Sheets, Nodes: r.Nodes, Attributes: r.Attributes,
		Lent: f.lent, Inferred: cli.AsList(r.Inferred), Misfits: []string{},
	}
	for _, m := range r.Misfits {
		p.Misfits = append(p.Misfits, m.String())
	}
	return jsonout.Object(c.OutOrStdout(), p)
}

// packedFolder is a file that was made of the files of a folder, as --json prints it.
type packedFolder struct {
	cli.WrittenFile
	Files int `json:"files"`
	// Lent is how many of the files are those of --like.
	Lent int `json:"lent"`
}

// folder packs the files of a folder into a source of a kind that holds any.
func (f *packing) folder(ctx context.Context, c *cobra.Command, k *kinds.Kind, dir, to string) error {
	if err := f.checkPacked(dir, k.Name, "to be packed as "+k.Noun); err != nil {
		return err
	}
	claimed, err := output.Claim(to, cli.TellKept(c))
	if err != nil {
		return err
	}
	defer claimed.Close() // nothing was written to it
	p := cli.NewProgress("packing")
	defer p.Finish()
	packed, err := k.Pack(ctx, dir, to, kinds.FolderPacking{Options: f.write.Options, Like: f.like, All: f.all, Progress: p.Set})
	if _, lacks := errors.AsType[*kinds.LackingError](err); lacks {
		return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: fmt.Sprintf("--like %s takes them from there, --all packs without them", shown.Shell(to))}
	}
	if err != nil {
		return err
	}
	p.Finish()
	if packed.Lent > 0 {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s that %s lacks %s as in %s (--all packs without)\n",
			shown.Plural(packed.Lent, "file"), dir, shown.Verb(packed.Lent, "stays", "stay"), f.like)
	}
	for _, name := range packed.LeftOut {
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: editors name their own files so, ignored\n", name)
	}
	if !f.asJSON {
		shown.Fprintf(c.OutOrStdout(), "%s\n", shown.Plural(packed.Files, "file"))
		return cli.SayWritten(c, to, false)
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	return jsonout.Object(c.OutOrStdout(), packedFolder{cli.WrittenFile{Path: to, Bytes: info.Size()}, packed.Files, packed.Lent})
}

// packedWorld is a folder of zones and areas that was written, as --json prints it.
type packedWorld struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
}

// world packs zones and areas into a folder.
func (f *packing) world(ctx context.Context, c *cobra.Command, dir, to string, inputs []geometry.Input) error {
	if err := options.CheckQuality(f.quality); err != nil {
		return err
	}
	p := cli.NewCounter("files")
	defer p.Finish()
	err := worldkind.PackWorld(ctx, dir, to, inputs, worldkind.WorldPacking{
		Options: f.write.Options, Quality: f.quality, Progress: p.Set, Tell: cli.TellKept(c),
	})
	if err != nil {
		return err
	}
	p.Finish()
	if f.asJSON {
		return jsonout.Object(c.OutOrStdout(), packedWorld{to, len(inputs)})
	}
	_, err = shown.Fprintf(c.OutOrStdout(), "wrote %s to %s\n", shown.Plural(len(inputs), "file"), to)
	return err
}

// worldInputs returns the zones and areas in a folder, as JSON or as files of the original
// server. A folder of sheets has none. A folder with both needs --kind.
func (f *packing) worldInputs(dir string) (inputs []geometry.Input, hidden []string, err error) {
	if f.kind == kinds.DataCenterName {
		return nil, nil, nil
	}
	fsys := os.DirFS(dir)
	inputs, hidden, err = geometry.Inputs(fsys)
	switch {
	case f.kind == kinds.WorldName:
		if err == nil && len(inputs) == 0 {
			err = fmt.Errorf("%s: there are neither zones nor areas in it", dir)
		}
	case err != nil || len(inputs) > 0:
		if sheet := aSheet(fsys); sheet != "" {
			err = cli.UsageErrorf("%s holds sheets, such as %s, and zones or areas: --kind %s or %s says which to pack",
				dir, sheet, kinds.DataCenterName, kinds.WorldName)
		}
	}
	return inputs, hidden, err
}

// aSheet returns a file of a folder with the name of a sheet, or "".
func aSheet(fsys iofs.FS) string {
	for _, pattern := range []string{"[^.]*-?*.xml", "[^.]*/[^.]*-?*.xml"} {
		if found, err := iofs.Glob(fsys, pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// sayDoubts prints sheets that are probably copies, and values whose types are uncertain.
func (f *packing) sayDoubts(c *cobra.Command, r *pack.Report) {
	w := c.ErrOrStderr()
	const mostStrays = 10
	for i, p := range r.Strays {
		if i == mostStrays {
			shown.Fprintf(w, "lorefs: and %d more such sheets\n", len(r.Strays)-i)
			break
		}
		shown.Fprintf(w, "lorefs: %v\n", p)
	}
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

// notAmong returns an error if to is a sheet or a schema of the folder that is packed.
func notAmong(dir, to string) error {
	out, err := os.Stat(to)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to overwrite; other errors are reported later
	}
	fsys := pack.Dir(dir)
	return iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !pack.IsInput(name) {
			return err
		}
		if info, err := iofs.Stat(fsys, name); err == nil && os.SameFile(info, out) {
			return cli.UsageErrorf("%s is one of the files to be packed: want another OUT", to)
		}
		return nil
	})
}

func (f *packing) options() (pack.Options, error) {
	write, err := f.write.WriteOptions(f.layout, datacenter.LayoutV6X64)
	if err != nil {
		return pack.Options{}, err
	}
	keys, err := options.DataCenterKeys(&f.Set, f.key, f.iv)
	if err != nil {
		return pack.Options{}, err
	}
	write.Key = &keys[0]
	return pack.Options{Write: write, Strict: f.strict}, nil
}

// isFolder returns an error unless a path is a folder.
func isFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return kinds.Unreadable(path, err)
	}
	if !info.IsDir() {
		return &cli.Error{Code: cli.ExitSource, Err: fmt.Errorf("%s: want a folder of sheets", path)}
	}
	return nil
}
