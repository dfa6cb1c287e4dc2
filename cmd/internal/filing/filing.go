// Package filing writes many files to a folder, as export and schema do: which ones (selecting.go),
// whether there is room for them, what is told of those that can't be written, and of those that were
// written in part (partial.go).
package filing

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/treecopy"
	"lorefs/internal/diskspace"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// Flags are the flags of commands that write many files to a folder.
type Flags struct {
	overwrite bool
	updating
	AsJSON bool
	Selection
	// Ignored are reasons for leaving out files that are no failure.
	Ignored Ignoring
	// Readable decodes for the source, or is nil.
	Readable func(context.Context, nodes.ID) error
	// Rows decodes for the source, or is nil.
	Rows func(context.Context, []nodes.ID) ([][]int, error)
	// From is the directory of the source that the paths of what is written are below.
	From string
	// Workers is how many files are written at once; 0 for as many as there are cores.
	Workers int
	// files is the number of files, or -1 if it is unknown.
	files int64
}

// mostPresent is how many existing files are named in a message.
const mostPresent = 5

// Add adds the flags to a command.
func (f *Flags) Add(c *cobra.Command) {
	f.files = -1
	cli.AddJSON(c, &f.AsJSON, cli.OneObject+" with what was written")
	c.Flags().BoolVar(&f.overwrite, "overwrite", false, "replace existing files")
}

// Foresee prints how much will be written, unless quiet, and returns an error if the disk has too
// little space. It does neither for sources that must render files to know their sizes.
func (f *Flags) Foresee(ctx context.Context, c *cobra.Command, s *kinds.Source, from nodes.Entry, to string) error {
	most := s.QuickSizes()
	if most == 0 || f.update || f.Since != "" { // what is the same already takes no room
		return nil
	}
	space, spaceErr := diskspace.For(to)
	o := f.options(s)
	if ample := s.AmpleRoom(); spaceErr == nil && ample > 0 {
		o.SizesLater = space.Room() >= ample
	}
	a, err := treecopy.Measure(ctx, s.Tree, from, to, most, o)
	if errors.Is(err, treecopy.ErrTooMany) {
		return nil
	}
	if err != nil {
		return err
	}
	f.files = a.Files
	if a.Files == 0 {
		return nil
	}
	if !cli.Quiet.Load() {
		line := shown.Plural(a.Files, "file")
		if a.Bytes != nodes.UnknownSize {
			line += ", " + cli.Amount(a.Bytes)
		}
		shown.Fprintf(c.ErrOrStderr(), "writing %s\n", line)
	}
	// If the free space is unknown, writing ends when the disk is full.
	if room := space.Room(); spaceErr == nil && a.Bytes > room {
		return fmt.Errorf("%s: there is no room for %s: the disk has %s free, of which %s are left for others; nothing was written",
			to, cli.Amount(a.Bytes), cli.Amount(space.Free), cli.Amount(space.Reserve()))
	}
	return nil
}

func (f *Flags) options(s *kinds.Source) treecopy.Options {
	o := treecopy.Options{Overwrite: f.overwrite, Filter: f.Filter, Readable: f.Readable, Rows: f.Rows, Workers: f.Workers}
	f.set(&o, s)
	return o
}

// Foretell prints what would be written.
func (f *Flags) Foretell(c *cobra.Command, s *kinds.Source, to string, files iter.Seq2[treecopy.Planned, error]) error {
	out, spell := bufio.NewWriter(c.OutOrStdout()), cli.Spelling(c)
	lines := jsonout.NewLines(out)
	if err := f.begin(to, f.From); err != nil {
		return err
	}
	r, err := treecopy.Foretell(c.Context(), f.options(s), to, files, func(p treecopy.Planned) error {
		if f.AsJSON {
			return lines.Write(PlannedFile{Path: p.Path})
		}
		_, err := out.WriteString(spell(p.Path) + "\n")
		return err
	})
	if err == nil {
		err = f.end(c, s, to, &r, true)
	}
	for _, name := range f.done.removed {
		if !f.AsJSON {
			break // their number is told
		}
		err = cmp.Or(err, lines.Write(PlannedFile{Path: name, Remove: true}))
	}
	if err = cmp.Or(err, out.Flush(), s.Check()); err != nil {
		return err
	}
	f.tell(c, s, &r, " would be written")
	return f.outcome(c, &r)
}

// Run writes files of a source by write. It reports those that are not written, and how many
// were.
func (f *Flags) Run(c *cobra.Command, s *kinds.Source, to string, write func(treecopy.Options) (treecopy.Report, error)) error {
	p := cli.NewCounter("files")
	present := 0
	if err := f.begin(to, f.From); err != nil {
		return err
	}
	o := f.options(s)
	o.Replacing = output.MayReplace
	o.Progress = func(files, _ int64) { p.Set(files, f.files) }
	o.Failed = func(name string, why treecopy.Reason, err error) error {
		if f.Ignored[why] {
			return nil
		}
		if why == treecopy.Present { // of which the path in the folder matters
			if present++; present > mostPresent {
				return nil
			}
			err = errors.New("exists already")
		} else {
			name = path.Join(f.From, name)
		}
		p.Finish()
		text := cli.ErrorText(err)
		if !strings.HasPrefix(text, name+": ") {
			text = name + ": " + text
		}
		shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", text)
		return nil
	}
	r, err := write(o)
	p.Finish()
	if err == nil {
		err = s.Check()
	}
	if err == nil {
		err = f.end(c, s, to, &r, false)
	}
	if f.record != nil {
		err = cmp.Or(err, f.record.write(to))
	}
	if errors.Is(err, context.Canceled) {
		err = &cli.Error{Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted after %s", shown.Plural(r.Files, "file"))}
	}
	if diskspace.IsFull(err) {
		err = fmt.Errorf("%s: %w; %s of %s were written, and no others", to, err, shown.Plural(r.Files, "file"), shown.Plural(r.Bytes, "byte"))
	}
	if err != nil {
		return err
	}
	if f.AsJSON {
		err = jsonout.Object(c.OutOrStdout(), Filed{
			to, r.Files, r.Bytes, len(s.Partial(c.Context())), r.Present, r.Missing, r.NoKey, r.Damaged, r.Failed,
			r.Same, len(f.done.removed), len(f.done.kept),
		})
	} else {
		f.tell(c, s, &r, "")
	}
	return errors.Join(err, f.outcome(c, &r))
}

// PlannedFile is a file that would be written, as --json prints it.
type PlannedFile struct {
	// Path is the path in the folder.
	Path string `json:"path"`
	// Remove says that it would be removed.
	Remove bool `json:"remove,omitempty"`
}

// Filed tells what was written to a folder, as --json prints it.
type Filed struct {
	Path  string `json:"path"`
	Files int64  `json:"files"`
	Bytes int64  `json:"bytes"`
	// Partial is how many of them have zeros for blocks of unknown keys.
	Partial int `json:"partial"`
	// The other files, by the reason why they were not written.
	Present int64 `json:"present"`
	Missing int64 `json:"missing"`
	NoKey   int64 `json:"no_key"`
	Damaged int64 `json:"damaged"`
	Failed  int64 `json:"failed"`
	// Same are the files that need not be written. Removed and Kept are those that the source does not have any
	// more: Kept are not what was written there.
	Same    int64 `json:"same"`
	Removed int   `json:"removed"`
	Kept    int   `json:"kept"`
}

// tell prints how many files were written and, by reason, how many not.
func (f *Flags) tell(c *cobra.Command, s *kinds.Source, r *treecopy.Report, written string) {
	line := shown.Plural(r.Files, "file")
	if r.Bytes != nodes.UnknownSize {
		line += ", " + shown.Plural(r.Bytes, "byte")
	}
	line += written
	line += f.told(r, written)
	missing := "not installed"
	if s.Remote() != nil {
		missing = "on no host"
	}
	var left []string
	for _, reason := range []struct {
		files int64
		why   string
	}{
		{r.Present, "there already"},
		{r.Missing, missing},
		{r.NoKey, "without a key"},
		{r.Damaged, "damaged"},
		{r.Failed, "failed"},
	} {
		if reason.files > 0 {
			left = append(left, fmt.Sprintf("%d %s", reason.files, reason.why))
		}
	}
	if len(left) > 0 {
		line += "; left out: " + strings.Join(left, ", ")
	}
	shown.Fprintf(c.ErrOrStderr(), "%s\n", line)
}

// outcome returns an error for files that were not written, or nil.
func (f *Flags) outcome(c *cobra.Command, r *treecopy.Report) error {
	if f.list != nil {
		if absent := f.list.absent(); len(absent) > 0 {
			for _, name := range absent {
				shown.Fprintf(c.ErrOrStderr(), "lorefs: %s: there is no such file\n", name)
			}
			return fmt.Errorf("--files-from names %s that %s not there", shown.Plural(int64(len(absent)), "file"), shown.Is(int64(len(absent))))
		}
	}
	left := r.Left()
	for why, files := range map[treecopy.Reason]int64{treecopy.Missing: r.Missing, treecopy.NoKey: r.NoKey} {
		if f.Ignored[why] {
			left -= files
		}
	}
	if left == 0 {
		return nil
	}
	err := fmt.Errorf("%s %s not written", shown.Plural(left, "file"), shown.Was(left))
	switch r.Present {
	case 0:
		return err
	case left:
		err = fmt.Errorf("%s %s there already and %s left alone", shown.Plural(left, "file"), shown.Was(left), shown.Is(left))
	}
	return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "--overwrite replaces them"}
}
