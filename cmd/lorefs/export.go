package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"lorefs/casc/cascdiff"
	"lorefs/cmd/internal/budget"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/filing"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/casckind"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/parts"
	"lorefs/cmd/internal/pattern"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/table"
	"lorefs/internal/cores"
	"lorefs/internal/shown"
	"lorefs/internal/tabular"
	"lorefs/nodes"
)

// exporting are the flags of export.
type exporting struct {
	source options.SourceFlags
	files  filing.Flags
	chosen filing.Selecting
	ignore string
	format string
	since  string
	links  bool
	dryRun bool
	// hides says that what is not installed is no failure.
	hides bool
	// name is how the user spells the source.
	name string
	// changed are the files that differ from another build, or nil.
	changed changedFiles
	// broken counts texts that tables could not hold as they are.
	broken atomic.Int64
}

func newExport(log *slog.Logger) *cobra.Command {
	var f exporting
	c := &cobra.Command{
		Use:   "export SOURCE DIR [PATH]",
		Short: "copy what a mount would show to a folder, without mounting",
		Long: `export copies the directory PATH of SOURCE, as a mount would show it, into the folder
DIR. Without PATH it copies the sheets of a data center, and all of any other source.
If export can't read a file, it says so and goes on. The exit code is 1 then, unless
--ignore names the reason: no-key or missing. It leaves existing files alone; --overwrite
replaces them, and --update those that differ. At the end it says how many files it has written and, by reason, how many
not. It only counts the files of a CASC storage that are not installed. With --missing show
it names each, and so it does with files that no host of a CDN has.

--update brings DIR up to date: it writes what is not there or differs. It compares contents,
and of files of a CASC storage their keys, so that it need not fetch what is the same. It
notes what it writes in DIR/.lorefs-files.jsonl. With --delete it removes from DIR what SOURCE
does not have any more, but only files that are still as such an export wrote them. It names
those that are not, and leaves all others alone.

--since writes only what differs from another build of a CASC storage, or from a folder, such
as one that was exported, or another storage.

The sheets of a data center are written by their paths below sheets/: PATH sheets/ItemData
makes the folder ItemData in DIR. The hidden file .lorefs.json beside it says which sheets
of which data center they are. diff, pack and validate read it: see lorefs help datacenter.

A PATH that does not exist may be a pattern. What it matches is copied, by the paths below
the part of PATH that is no pattern:

  lorefs export SOURCE DIR 'files/**/*.txt'

` + patternHelp + `

--include and --exclude select files as rclone does, by paths below PATH. The first that
matches a file, in the order of the command line, decides. If none does, the file is
written, unless there is an --include. A pattern that begins with / is for the whole path,
any other for its end, from a name on; dir/ stands for dir/**. --files-from reads paths
from a file, with comments behind # or ;. With any of these no empty directory is made.
--dry-run writes nothing and prints the paths that it would write.

  lorefs export SOURCE DIR files --exclude 'secret/' --include '*.{txt,csv}' --dry-run

--format csv writes a table for each path of a data center instead, such as
ItemData/Item.csv, with a row for each node. The columns _row, _parent and _sheet are numbers
of rows: of the node, of its parent, and of its sheet. Nothing between commas is an absent
value, and "" an empty text. tsv and jsonl have the same tables.

  lorefs export SOURCE DIR --format csv --include 'ItemData/**'

The links in by-key/ of a data center are written only with --links. They lead to
tree/ beside by-key/, so export all of it, PATH "/", or put both side by side.

For data centers and CASC storages it says first how much it will write, and writes
nothing if the disk has no room for it. Of a large data center it says the number of files
only, unless the disk may be too small. It stops when only a hundredth of the disk, or 1 GiB
if that is less, is free.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.ExactArgs("SOURCE", "DIR")(c, args)
			}
			return cli.AtMostArgs(3)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := cmp.Or(f.parseIgnored(), f.checkSince(), f.files.CheckUpdate()); err != nil {
				return err
			}
			f.name = args[0]
			f.source.CASC.WholeFiles, f.source.CASC.Unhidden = true, true
			f.source.SizesLater = !f.dryRun
			f.source.ReadWhole = f.source.SizesLater && len(args) == 2
			s, err := reach.OpenToRead(c, args[0], &f.source, log)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := f.parseIgnored(); err != nil { // settings count now
				return err
			}
			from := s.Kind.Exports
			if len(args) > 2 {
				from = args[2]
			}
			reach.TellNames(c.ErrOrStderr(), log, s, from)
			if f.since != "" {
				if err := f.readSince(c, s, log); err != nil {
					return err
				}
			}
			if err := f.checkFormat(c, s, len(args) > 2); err != nil {
				return err
			}
			if f.format != "" && f.format != formatXML {
				return f.formatted(ctx, c, s, args[1])
			}
			return f.run(ctx, c, s, from, args[1])
		},
	}
	only := []string{kinds.DataCenterName}
	f.source.AddTo(c.Flags(), append(f.source.Table(),
		options.Option{
			Name: "ignore", Kinds: []string{kinds.CASCName}, Value: &f.ignore,
			Help: "`reasons` that are no failure if a file of a CASC storage can't be read for them: no-key, missing, or both with a comma",
		},
		options.Option{
			Name: "format", Typed: true, Kinds: only, Words: formatWords, Value: &f.format,
			Help: "`format` of the sheets of a data center: xml (default); json: a document a sheet, a node a line; csv, tsv or jsonl: a table for each path",
		},
		options.Option{
			Name: "since", Typed: true, Kinds: []string{kinds.CASCName}, Value: &f.since,
			Help: "write only what differs from another `build` of a CASC storage, which this names as --build does, or from a folder",
		},
		options.Option{Name: "links", Typed: true, Kinds: only, Value: &f.links, Help: "write links, too"},
	))
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "write nothing, and print the paths of the files that would be written")
	f.chosen.Add(c.Flags())
	f.files.Add(c)
	f.files.AddUpdate(c)
	return c
}

// filing.ParseIgnored reads --ignore. What is not installed is counted in any case, but is no failure if
// it is hidden.
func (f *exporting) parseIgnored() (err error) {
	if f.files.Ignored, err = filing.ParseIgnored(f.ignore); err != nil {
		return err
	}
	f.hides = f.source.CASC.Missing == options.MissingHide
	return nil
}

func (f *exporting) run(ctx context.Context, c *cobra.Command, s *kinds.Source, from, to string) error {
	err := f.copy(ctx, c, s, from, to)
	if errors.Is(err, context.Canceled) { // it was before the first file
		return &cli.Error{Code: cli.ExitInterrupted, Err: errors.New("interrupted after 0 files")}
	}
	return err
}

func (f *exporting) copy(ctx context.Context, c *cobra.Command, s *kinds.Source, from, to string) error {
	e, glob, err := f.find(ctx, s, from)
	if err != nil {
		return err
	}
	f.files.Readable = s.Readable
	if f.hides && s.Remote() == nil {
		f.files.Ignored[treecopy.Missing] = true
	}
	if s.Remote() != nil {
		f.files.Workers, f.files.Rows = remoteWorkers, s.Rows()
		budget.Remote()
	}
	if s.Kind.Sheets {
		budget.ExportSheets(int64(f.source.CacheSize))
	}
	if f.files.Selection, err = f.chosen.Of(s, c.InOrStdin(), glob); err != nil {
		return err
	}
	if at, is := strings.CutPrefix(e.Path, s.Kind.Exports+"/"); is && s.Kind.Exports != "" {
		f.files.Filter = filing.Below(at, f.files.Filter)
		if e, err = s.Find(ctx, s.Kind.Exports); err != nil {
			return err
		}
	}
	if f.changed != nil {
		f.files.Filter = f.changed.below(e, f.files.Filter)
	}
	if f.files.From = e.Path; e.Kind != nodes.Dir {
		f.files.From = path.Dir(e.Path)
	}
	if !f.links {
		if err := f.withoutLinks(s, e.Path); err != nil {
			return err
		}
	}
	if s.Kind.Chunks {
		s.Blocks.SetBudget(min(int64(f.source.CacheSize), exportCache()))
	}
	if f.dryRun {
		err = f.files.Foretell(c, s, to, f.all(ctx, s, e))
	} else {
		err = f.write(ctx, c, s, e, to)
		if partErr := filing.TellPartial(c, s, f.files.Ignored[treecopy.NoKey]); err == nil {
			err = partErr
		}
	}
	if err == nil && glob != nil && !glob.Matched.Load() {
		err = fmt.Errorf("%s: %w", from, kinds.ErrNoMatch)
	}
	if err != nil {
		return err
	}
	return reach.Complete(s, from)
}

// exportedChunk is more than most chunks of files of a CASC storage have, decoded.
const exportedChunk = 16 << 20

// remoteWorkers is how many files are copied at once from other machines, most of which wait for
// an answer.
const remoteWorkers = 16

// exportCache returns the memory for chunks that an export of a CASC storage needs: each file is
// read once, from its beginning, so a core needs the chunk that it is reading.
func exportCache() int64 { return exportedChunk * int64(max(cores.Count(), 2)) }

// The values of --format. All others are formats of tables.
const (
	formatXML  = "xml"
	formatJSON = "json"
)

var formatWords = []string{formatXML, formatJSON, tabular.CSV.String(), tabular.TSV.String(), tabular.JSONL.String()}

// checkFormat returns an error for a --format that does not go with what is exported. It tells
// those of it who want JSON documents by --json, as they were had once.
func (f *exporting) checkFormat(c *cobra.Command, s *kinds.Source, path bool) error {
	switch {
	case f.format == "" && s.Kind.Sheets && !path && f.files.AsJSON:
		shown.Fprintf(c.ErrOrStderr(), "lorefs: --json prints what was written; --format json writes the sheets as JSON, and --format xml as XML\n")
		return nil
	case f.format == "":
		return nil
	case !slices.Contains(formatWords, f.format):
		return cli.UsageErrorf("--format %q is unknown: want %s", f.format, cli.OrList(formatWords))
	case path:
		return cli.UsageErrorf("--format is for all sheets: it goes with no PATH; --include 'ItemData/**' selects some")
	}
	return nil
}

func (f *exporting) write(ctx context.Context, c *cobra.Command, s *kinds.Source, from kinds.Found, to string) error {
	m, err := parts.NewMarking(s, from.Path, to, f.name, version(), f.files.File)
	if err != nil {
		return err
	}
	if err := f.files.Foresee(ctx, c, s, from.Entry, to); err != nil {
		return err
	}
	return f.files.Run(c, s, to, func(o treecopy.Options) (treecopy.Report, error) {
		return m.Around(ctx, o, func(o treecopy.Options) (treecopy.Report, error) {
			return treecopy.Copy(ctx, s.Tree, from.Entry, to, o)
		})
	})
}

// find returns what is at a path or, for a pattern, the directory that it is about.
func (f *exporting) find(ctx context.Context, s *kinds.Source, name string) (kinds.Found, *filing.Globbing, error) {
	e, err := s.Find(ctx, name)
	if !errors.Is(err, nodes.ErrNotExist) || !pattern.Is(name) {
		return e, nil, err
	}
	p, err := s.Pattern(name)
	if err != nil {
		return e, nil, err
	}
	if e, err = s.Find(ctx, p.Base()); err != nil {
		return e, nil, fmt.Errorf("%s: %w", name, kinds.ErrNoMatch)
	}
	return e, &filing.Globbing{Pattern: p}, nil
}

// all yields the files and links of a directory, or a file, that are looked at.
func (f *exporting) all(ctx context.Context, s *kinds.Source, from kinds.Found) iter.Seq2[treecopy.Planned, error] {
	return func(yield func(treecopy.Planned, error) bool) {
		if from.Kind != nodes.Dir {
			yield(planned(ctx, s, from.Name, from.Entry), nil)
			return
		}
		from.Path = ""
		enter := func(d *kinds.Found) bool {
			return d.Kind == nodes.Dir && (f.files.Dir == nil || f.files.Dir(d.Path))
		}
		for e, err := range s.Walk(ctx, from, enter) {
			if err == nil && e.Kind == nodes.Dir {
				continue
			}
			if err == nil && s.QuickSizes() > 0 && (f.files.File == nil || f.files.File(e.Path)) {
				e.Entry, err = nodes.WithSize(ctx, s.Tree, e.Entry)
			}
			if !yield(planned(ctx, s, e.Path, e.Entry), err) {
				return
			}
		}
	}
}

// planned returns a file or a link as it would be written.
func planned(ctx context.Context, s *kinds.Source, name string, e nodes.Entry) treecopy.Planned {
	return treecopy.Planned{Path: name, Entry: e, Content: func(w io.Writer) error {
		if e.Kind == nodes.Link {
			target, err := nodes.Readlink(ctx, s.Tree, e.ID)
			return cmp.Or(err, writeAll(w, target))
		}
		_, err := io.Copy(w, kinds.ContentOf(ctx, s.Tree, e))
		return err
	}}
}

func writeAll(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// withoutLinks leaves out links. It returns an error if there is nothing else at a path.
func (f *exporting) withoutLinks(s *kinds.Source, from string) error {
	top, _, _ := strings.Cut(from, "/")
	switch {
	case s.Kind.Links == "":
	case top == "":
		enter := f.files.Dir
		f.files.Dir = func(dir string) bool { return dir != s.Kind.Links && (enter == nil || enter(dir)) }
	case top == s.Kind.Links:
		return cli.UsageErrorf("%s: there are only links: --links writes them", from)
	}
	return nil
}

// formatted writes the sheets of a data center as JSON documents or as tables.
func (f *exporting) formatted(ctx context.Context, c *cobra.Command, s *kinds.Source, dir string) error {
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	if f.files.Selection, err = f.chosen.Of(s, c.InOrStdin(), nil); err != nil {
		return err
	}
	budget.ExportSheets(int64(f.source.CacheSize))
	if f.dryRun {
		files, err := f.made(ctx, d)
		if err != nil {
			return err
		}
		return f.files.Foretell(c, s, dir, func(yield func(treecopy.Planned, error) bool) {
			for file := range files {
				e := nodes.Entry{Kind: nodes.File, Size: nodes.UnknownSize}
				p := treecopy.Planned{Path: file.Path, Entry: e, Content: func(w io.Writer) error { return file.Write(ctx, w) }}
				if !yield(p, ctx.Err()) {
					return
				}
			}
		})
	}
	err = f.files.Run(c, s, dir, func(o treecopy.Options) (treecopy.Report, error) {
		files, err := f.made(ctx, d)
		if err != nil {
			return treecopy.Report{}, err
		}
		return treecopy.Write(ctx, files, dir, o)
	})
	cli.TellBroken(c, f.broken.Load())
	return err
}

// made returns the files of --format.
func (f *exporting) made(ctx context.Context, d *dckind.DataCenter) (iter.Seq[treecopy.File], error) {
	if format, ok := tabular.ParseFormat(f.format); ok && f.format != formatJSON {
		return d.TableFiles(ctx, format, func(w table.Written) { f.broken.Add(w.Broken) })
	}
	return d.JSONFiles(), nil
}

// changedFiles are paths of files of a CASC storage that differ from another build, and of the
// directories that they are in. All are in lower case: a directory has the case that its first file gives it.
type changedFiles map[string]bool

// add adds a file.
func (f changedFiles) add(name string) {
	for name = strings.ToLower(name); name != "." && !f[name]; name = path.Dir(name) {
		f[name] = true
	}
}

// below returns a filter for what is exported, which takes what another one takes of these files. Several
// files of one name have a suffix each, which the list does not say.
func (f changedFiles) below(from kinds.Found, inner treecopy.Filter) treecopy.Filter {
	at := func(name string) string {
		if from.Kind != nodes.Dir {
			return strings.ToLower(from.Path)
		}
		return strings.ToLower(path.Join(from.Path, name))
	}
	return treecopy.Filter{
		Dir: func(name string) bool { return f[at(name)] && (inner.Dir == nil || inner.Dir(name)) },
		File: func(name string) bool {
			full := at(name)
			known := f[full]
			if i := strings.LastIndexByte(full, ':'); i > 0 && !known {
				known = f[full[:i]]
			}
			return known && (inner.File == nil || inner.File(name))
		},
	}
}

// checkSince returns an error for a --since that does not go with other flags.
func (f *exporting) checkSince() error {
	if f.since == "" {
		return nil
	}
	f.source.CASC.Side = 2 // --cdn may name that of the other build, too
	if f.files.Updates() {
		return cli.UsageErrorf("--since goes without --update: what is the same is not in DIR")
	}
	return nil
}

// readSince finds out what --since names: a folder of files or another storage, or a build.
func (f *exporting) readSince(c *cobra.Command, s *kinds.Source, log *slog.Logger) error {
	if !s.Kind.Builds {
		return cli.UsageErrorf("--since is for CASC storages")
	}
	ctx, set := c.Context(), &f.source
	place, _, err := reach.SourceOf(&set.Set, f.name, io.Discard)
	if err != nil {
		return err
	}
	reachable := func(at string, side int) (*kinds.Kind, casckind.Build, error) {
		set.CASC.Side = side
		k, o, err := set.Reach(ctx, at, log, cli.Silence{}.Set)
		return k, casckind.Build{Path: at, Options: o}, err
	}
	var old casckind.Build
	if info, statErr := os.Stat(f.since); statErr == nil && info.IsDir() {
		k, other, err := reachable(f.since, 1)
		if k == nil || !k.Builds {
			f.files.Since = f.since
			return nil //nolint:nilerr // it is a folder of files
		}
		if err != nil {
			return err
		}
		old = other
	} else {
		if _, old, err = reachable(place, 1); err != nil {
			return err
		}
		options.SetBuild(&old.Options.CASC, f.since)
	}
	_, now, err := reachable(place, 2)
	if err != nil {
		return err
	}
	f.changed = changedFiles{}
	for d, err := range casckind.DiffBuilds(ctx, old, now) {
		if err != nil {
			return err
		}
		if d, is := d.(*casckind.BuildDifference); is && d.Kind != string(cascdiff.Removed) {
			f.changed.add(d.Path)
		}
	}
	return nil
}
