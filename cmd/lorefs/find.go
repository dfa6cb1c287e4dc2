package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/pattern"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/treecopy"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// finding are the flags of find.
type finding struct {
	source        options.SourceFlags
	names, paths  []string
	regex, types  string
	sizes         []string
	ids           []string
	idFile        string
	missing       bool
	zeros, asJSON bool
}

// missingFlag is --missing of find. Without a value it finds only what can't be read.
type missingFlag struct {
	only *bool
	how  *string
}

// missingOnly is the value of a --missing without one.
const missingOnly = "only"

// Set implements [pflag.Value].
func (f missingFlag) Set(text string) error {
	if *f.only = text == missingOnly; *f.only {
		text = options.MissingShow
	}
	*f.how = text // which is checked with the others
	return nil
}

func (f missingFlag) String() string {
	switch {
	case f.how == nil:
		return ""
	case *f.only:
		return missingOnly
	}
	return *f.how
}

// Type returns the word for the value in help texts.
func (f missingFlag) Type() string { return "what" }

func newFind(log *slog.Logger) *cobra.Command {
	var f finding
	c := &cobra.Command{
		Use:   "find SOURCE [PATH]",
		Short: "find files and directories by name, kind and size",
		Long: `find prints the paths of what lies below the directory PATH of SOURCE, or in all of it, in
the order of the source. It prints a path as soon as it has found it, follows no links, and
exits with 0 also if it finds nothing.

All conditions have to hold. --name, --path and --size may be given again: of several names
or paths one has to match, while all sizes have to hold.

` + patternHelp + ` --name is for the last name of a path, and --path for
all of it, from the root of SOURCE.

--id finds the files that the root of a CASC storage has under these numbers. --ids reads the
numbers from a file, in which # begins a comment. If a number is of no file, find says so and
exits with 1.

--missing finds the files of a CASC storage that lorefs can't read. With it, find also lists
those that are not installed. --json says of each why: missing, no_key or damaged, or
partial with --fill-missing-keys. find does not read the files, so it misses some damage.
lorefs verify finds that.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.ExactArgs("SOURCE")(c, args)
			}
			return cli.AtMostArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.zeros && f.asJSON {
				return cli.UsageErrorf("--print0 goes without --json")
			}
			s, err := reach.OpenToRead(c, args[0], &f.source, log)
			if err != nil {
				return err
			}
			defer s.Close()
			dir := "/"
			if len(args) > 1 {
				dir = args[1]
			}
			if f.ids == nil && f.idFile == "" {
				reach.TellNames(c.ErrOrStderr(), log, s, dir)
			}
			r, err := f.search(c, s)
			if err != nil {
				return err
			}
			return cmp.Or(r.run(c.Context(), dir), s.Check(), reach.Complete(s, dir))
		},
	}
	f.addSource(c.Flags())
	c.Flags().StringArrayVar(&f.names, "name", nil, "`pattern` of the name")
	c.Flags().StringArrayVar(&f.paths, "path", nil, "`pattern` of the path")
	c.Flags().StringVar(&f.regex, "regex", "", "regular `expression` (RE2) that is somewhere in the path; ^ and $ are its ends")
	c.Flags().StringVar(&f.types, "type", "", "`kinds`: f for files, d for directories, l for links, or several such as f,l")
	c.Flags().StringArrayVar(&f.sizes, "size", nil, "`size` of files: +1M for more than that, -1M for less, 1M for just that")
	c.Flags().BoolVarP(&f.zeros, "print0", "0", false, "end each path with a zero byte, for xargs -0")
	cli.AddJSON(c, &f.asJSON, cli.ObjectALine)
	return c
}

// addSource adds the flags of sources. --missing has another meaning here.
func (f *finding) addSource(flags *pflag.FlagSet) {
	table := f.source.Table()
	i := slices.IndexFunc(table, func(o options.Option) bool { return o.Name == "missing" })
	table[i].Value = missingFlag{&f.missing, &f.source.CASC.Missing}
	table[i].Words = []string{options.MissingHide, options.MissingShow, missingOnly}
	table[i].Help = "find only what can't be read in a CASC storage; with =show also that, with =hide (default) only what can"
	only := []string{kinds.CASCName}
	f.source.AddTo(flags, append(table,
		options.Option{Name: "id", Typed: true, Kinds: only, Value: &f.ids, Help: "`numbers` of files in the root of a CASC storage, with commas between"},
		options.Option{Name: "ids", Typed: true, Kinds: only, Value: &f.idFile, Help: "`file` of such numbers; - is stdin"},
	))
	flags.Lookup("missing").NoOptDefVal = missingOnly
}

// search is a find as it runs.
type search struct {
	lister
	end   byte
	names []*pattern.Pattern
	paths []*pattern.Pattern
	regex *regexp.Regexp
	kinds []nodes.Kind
	sizes []sizeTest
	// ids are the numbers of files, and whether there are such; nil for all files.
	ids map[uint32]bool
	// sought are files that by-id/ has for them.
	sought map[nodes.ID][]uint32
	// missing is whether to find only what can't be read.
	missing bool
	walked  int
	flushed time.Time
}

// search returns a search by the flags.
func (f *finding) search(c *cobra.Command, s *kinds.Source) (*search, error) {
	r := &search{
		lister: lister{out: bufio.NewWriter(c.OutOrStdout()), source: s, spell: cli.Spelling(c), talk: c.ErrOrStderr()},
		end:    '\n', missing: f.missing, flushed: time.Now(),
	}
	if f.zeros {
		r.end, r.spell = 0, func(path string) string { return path }
	}
	if f.asJSON {
		r.lines = jsonout.NewLines(r.out)
	}
	var err error
	if r.names, err = patterns(s, "--name", f.names); err != nil {
		return nil, err
	}
	for _, name := range f.names {
		if strings.Contains(name, "/") {
			return nil, cli.UsageErrorf("--name %s: a name has no slash; --path is for paths", name)
		}
	}
	if r.paths, err = patterns(s, "--path", f.paths); err != nil {
		return nil, err
	}
	if f.regex != "" {
		if r.regex, err = compileRegex(s, f.regex); err != nil {
			return nil, err
		}
	}
	if r.kinds, err = parseKinds(f.types); err != nil {
		return nil, err
	}
	if r.ids, err = f.numbers(c.InOrStdin()); err != nil {
		return nil, err
	}
	for _, text := range f.sizes {
		t, err := parseSizeTest(text)
		if err != nil {
			return nil, err
		}
		r.sizes = append(r.sizes, t)
	}
	return r, nil
}

// numbers returns the numbers of --id and --ids, or nil if there are none.
func (f *finding) numbers(stdin io.Reader) (map[uint32]bool, error) {
	if f.ids == nil && f.idFile == "" {
		return nil, nil
	}
	all := map[uint32]bool{}
	add := func(text, from string) error {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			id, err := strconv.ParseUint(word, 10, 32)
			if err != nil {
				return cli.UsageErrorf("%s: %q is no number of a file", from, word)
			}
			all[uint32(id)] = false
		}
		return nil
	}
	for _, text := range f.ids {
		if err := add(text, "--id"); err != nil {
			return nil, err
		}
	}
	if f.idFile == "" {
		return all, nil
	}
	r := stdin
	if f.idFile != "-" {
		file, err := os.Open(f.idFile)
		if err != nil {
			return nil, kinds.Unreadable(f.idFile, err)
		}
		defer file.Close()
		r = file
	}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		if err := add(text, fmt.Sprintf("%s: line %d", f.idFile, n)); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, kinds.Unreadable(f.idFile, err)
	}
	return all, nil
}

// patterns compiles the patterns of a flag.
func patterns(s *kinds.Source, flag string, texts []string) (all []*pattern.Pattern, err error) {
	for _, text := range texts {
		p, err := s.Pattern(text)
		if err != nil {
			return nil, cli.UsageErrorf("%s %w", flag, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func compileRegex(s *kinds.Source, text string) (*regexp.Regexp, error) {
	spelled := text
	if s.Kind.IgnoresCase {
		spelled = "(?i)" + text
	}
	re, err := regexp.Compile(spelled)
	if err != nil {
		return nil, cli.UsageErrorf("--regex %s: %w", text, err)
	}
	return re, nil
}

func parseKinds(text string) (all []nodes.Kind, err error) {
	if text == "" {
		return nil, nil
	}
	letters := map[string]nodes.Kind{"f": nodes.File, "d": nodes.Dir, "l": nodes.Link}
	for letter := range strings.SplitSeq(text, ",") {
		k, ok := letters[letter]
		if !ok {
			return nil, cli.UsageErrorf("--type %q: want f, d, l, or several of them with commas", text)
		}
		all = append(all, k)
	}
	return all, nil
}

// sizeTest is a value of --size: the sign of a size compared with bytes.
type sizeTest struct {
	bytes int64
	sign  int
}

func parseSizeTest(text string) (t sizeTest, err error) {
	number := text
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		number, t.sign = rest, 1
	} else if rest, ok := strings.CutPrefix(text, "-"); ok {
		number, t.sign = rest, -1
	}
	var size options.ByteSize
	if err := size.Set(number); err != nil {
		return t, cli.UsageErrorf("--size %q: want a number of bytes, or one with K, M or G, and + before it for more or - for less", text)
	}
	t.bytes = int64(size)
	return t, nil
}

// run prints what is found at a path and below it.
func (r *search) run(ctx context.Context, name string) error {
	f, err := r.source.Find(ctx, name)
	if err != nil {
		return err
	}
	if f.Kind != nodes.Dir {
		err = r.look(ctx, &f)
	} else {
		err = r.below(ctx, &f)
	}
	return r.finish(cmp.Or(err, r.absent()))
}

// numbered reports whether a file has one of the numbers. It may have several, of which the source tells the first.
func (r *search) numbered(file nodes.ID) bool {
	if r.sought == nil {
		r.sought = map[nodes.ID][]uint32{}
		for id := range r.ids {
			if e, err := r.source.Find(context.Background(), path.Join("by-id", strconv.FormatUint(uint64(id), 10))); err == nil {
				r.sought[e.ID] = append(r.sought[e.ID], id)
			}
		}
	}
	all := r.sought[file]
	if id, ok := r.source.FileID(file); ok {
		if _, wanted := r.ids[id]; wanted {
			all = append(all, id)
		}
	}
	for _, id := range all {
		r.ids[id] = true
	}
	return len(all) > 0
}

// absent says which numbers are of no file.
func (r *search) absent() error {
	n := int64(0)
	for _, id := range slices.Sorted(maps.Keys(r.ids)) {
		if r.ids[id] {
			continue
		}
		if n++; n <= mostAbsent {
			shown.Fprintf(r.talk, "lorefs: %d: no file has this number there\n", id)
		}
	}
	switch {
	case n == 0:
		return nil
	case n > mostAbsent:
		shown.Fprintf(r.talk, "lorefs: nor %d others\n", n-mostAbsent)
	}
	return fmt.Errorf("%s of no file", shown.Plural(n, "number")+" "+shown.Is(n))
}

// mostAbsent is how many numbers of no file are named.
const mostAbsent = 10

func (r *search) below(ctx context.Context, dir *kinds.Found) error {
	for f, err := range r.source.Walk(ctx, *dir, r.enter) {
		if err == nil {
			err = r.look(ctx, &f)
		} else {
			err = r.fail(ctx, err)
		}
		if err == nil {
			err = r.pass()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter tells whether something in a directory may be found.
func (r *search) enter(f *kinds.Found) bool {
	return f.Kind == nodes.Dir &&
		(r.paths == nil || slices.ContainsFunc(r.paths, func(p *pattern.Pattern) bool { return p.Below(f.Path) }))
}

// pass prints now and then what was found, as it may take long to find more.
func (r *search) pass() error {
	const often, after = 1 << 8, 200 * time.Millisecond
	if r.walked++; r.walked%often != 0 || r.out.Buffered() == 0 || time.Since(r.flushed) < after {
		return nil
	}
	r.flushed = time.Now()
	return r.out.Flush()
}

// look prints an entry if it is what is sought. Finding a size may take long, so that comes last.
func (r *search) look(ctx context.Context, f *kinds.Found) error {
	if !r.fits(f) {
		return nil
	}
	var why treecopy.Reason
	if f.Kind == nodes.File && (r.missing || r.lines != nil) {
		if err := r.source.Readable(ctx, f.ID); err != nil {
			why = treecopy.ReasonOf(err)
		} else if r.source.HasZeros(ctx, f.ID) {
			why = treecopy.Partial
		}
	}
	if r.missing && why == "" {
		return nil
	}
	if len(r.sizes) > 0 {
		ok, err := r.fitsSize(ctx, f)
		if err != nil {
			return r.fail(ctx, fmt.Errorf("%s: %w", f.Path, err))
		}
		if !ok {
			return nil
		}
	}
	if r.lines != nil {
		j, err := r.describe(ctx, f.Entry, f.Path)
		if err != nil {
			return r.fail(ctx, err)
		}
		j.Unreadable = string(why)
		return r.lines.Write(j)
	}
	_, err := r.out.WriteString(r.spell(f.Path))
	return cmp.Or(err, r.out.WriteByte(r.end))
}

func (r *search) fits(f *kinds.Found) bool {
	if r.ids != nil {
		if f.Kind != nodes.File || !r.numbered(f.ID) {
			return false
		}
	}
	matches := func(all []*pattern.Pattern, text string) bool {
		return all == nil || slices.ContainsFunc(all, func(p *pattern.Pattern) bool { return p.Match(text) })
	}
	return (r.kinds == nil || slices.Contains(r.kinds, f.Kind)) && matches(r.names, f.Name) && matches(r.paths, f.Path) &&
		(r.regex == nil || r.regex.MatchString(f.Path))
}

// fitsSize tells whether something is a file of a size that was asked for. It finds the size out.
func (r *search) fitsSize(ctx context.Context, f *kinds.Found) (ok bool, err error) {
	if f.Kind != nodes.File {
		return false, nil
	}
	if f.Entry, err = nodes.WithSize(ctx, r.source.Tree, f.Entry); err != nil {
		return false, err
	}
	for _, t := range r.sizes {
		if cmp.Compare(f.Size, t.bytes) != t.sign {
			return false, nil
		}
	}
	return true, nil
}
