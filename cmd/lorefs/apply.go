package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

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
	"lorefs/datacenter/patch"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// applying are the flags of apply.
type applying struct {
	source    options.SourceFlags
	write     options.Writing
	how       save.How
	out       string
	rejects   string
	overwrite bool
	dryRun    bool
	reverse   bool
	stat      bool
	remove    bool
	asJSON    bool
	// preferred are those of --prefer, and patches what all of it is about.
	preferred []string
	patches   dckind.Patching
	log       *slog.Logger
	// stdout is where to print, and lines the list that --json prints there.
	stdout *bufio.Writer
	lines  *jsonout.Lines
}

func newApply(log *slog.Logger) *cobra.Command {
	f := applying{log: log}
	c := &cobra.Command{
		Use:   "apply SOURCE|MOUNTPOINT PATCH...|FOLDER",
		Short: "put patches, or an edited export, into a data center or what else can be edited",
		Long: `apply makes the changes of patches in a data center. lorefs diff --patch and lorefs edits
--patch make patches. The PATCH - is standard input.

The data center may be of another version than the one that the patch was made for. apply
finds what to change by keys and attributes, and changes it only if it is as the patch
expects. What is already as the patch wants it is left alone, so you can apply a patch
again. Everything else is a conflict: apply prints its line and reason, applies the rest,
and exits with 1.

apply replaces SOURCE as a save does: the old file stays as SOURCE.bak, and a crash leaves
one file or the other. If SOURCE has edits that were never saved, apply leaves it alone,
because it would save them too. If SOURCE is mounted for editing, name the mount point.
The changes are edits like any others there: both views show them, and commit saves them.

Several patches are applied one after the other; -R takes the last one first. Each one
sees what those before it have left. If two want different values, apply names both and
changes nothing. With --prefer it takes the value of the first, of the last or of a certain
PATCH, and with --rejects that of the first. A file may hold several patches.

A FOLDER is what export has written of a source of any kind that can be edited, the whole or a
part. Only its files are compared, and what you changed in them becomes edits of
SOURCE. What FOLDER lacks stays, unless --delete says that you removed it. If a file has
a mistake, nothing is changed.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) >= 2 { //nolint:mnd // a source and a patch
				return nil
			}
			return cli.ExactArgs("SOURCE", "PATCH")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0], args[1:]) },
	}
	flags := c.Flags()
	f.source.AddEditable(flags)
	flags.StringVar(&f.out, "out", "", "write a new `file`, and leave SOURCE as it is")
	flags.StringVar(&f.rejects, "rejects", "", "write what conflicts to a `file`: a patch with the reasons")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace the file of --rejects")
	flags.BoolVar(&f.dryRun, "dry-run", false, "change nothing, and print what would become of each part")
	flags.BoolVarP(&f.reverse, "reverse", "R", false, "take back what the patches do")
	flags.BoolVar(&f.stat, "stat", false, "print counts for each sheet")
	flags.StringArrayVar(&f.preferred, "prefer", nil, mods.PreferUsage)
	flags.BoolVar(&f.remove, "delete", false, "remove sheets and files that FOLDER had, and has no more")
	cli.AddJSON(c, &f.asJSON, cli.ObjectALine+" for each part of the patches; for a FOLDER "+cli.OneObject)
	flags.BoolVar(&f.write.NoBackup, "no-backup", false, "do not keep a replaced file as NAME.bak")
	options.AddHow(flags, &f.how.Repack, &f.how.VerifyAll)
	f.how.Last, f.write.Level = true, options.DefaultLevel
	return c
}

func (f *applying) run(c *cobra.Command, path string, names []string) error {
	if f.asJSON && f.stat {
		return cli.UsageErrorf("--json and --stat exclude each other")
	}
	if f.dryRun && (f.out != "" || f.rejects != "") {
		return cli.UsageErrorf("--dry-run writes nothing: --out and --rejects do not go with it")
	}
	if len(names) == 1 && names[0] != mods.Stdin {
		if info, err := os.Stat(names[0]); err == nil && info.IsDir() {
			return f.folder(c, path, names[0])
		}
	}
	if f.remove {
		return cli.UsageErrorf("--delete goes with a FOLDER")
	}
	f.stdout = bufio.NewWriter(c.OutOrStdout())
	f.lines = jsonout.NewLines(f.stdout)
	// Nothing is begun before all that can be wrong with the arguments is found.
	patches, err := mods.ReadAll(c.InOrStdin(), names)
	if err != nil {
		return err
	}
	if f.reverse {
		patches = dckind.Reversed(patches)
	}
	f.patches = dckind.Patching{Patches: patches, Open: f.dryRun || f.rejects != "", DryRun: f.dryRun}
	if f.patches.Prefer.Order, err = mods.Prefer(f.preferred, patches); err != nil {
		return err
	}
	if err := f.checkRejects(c, path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return kinds.Unreadable(path, err)
	}
	if err == nil && !info.IsDir() {
		if f.out != "" || f.dryRun {
			return f.onCopy(c, path)
		}
		return f.onFile(c, path)
	}
	if f.out != "" || f.write.NoBackup || f.how.Repack || f.how.VerifyAll {
		return cli.UsageErrorf("--out, --no-backup, --repack and --verify-all go with a file: %s is a folder", path)
	}
	return f.onMount(c, path)
}

// checkRejects returns an error if rejects could not be written.
func (f *applying) checkRejects(c *cobra.Command, path string) error {
	if f.rejects == "" {
		return nil
	}
	if newfile.Same(f.rejects, path) || f.out != "" && filepath.Clean(f.rejects) == filepath.Clean(f.out) {
		return cli.UsageErrorf("--rejects %s: want a file of its own", f.rejects)
	}
	return mods.CheckRejects(c, f.rejects, f.overwrite)
}

// onCopy applies patches to a copy of a file, which --out writes.
func (f *applying) onCopy(c *cobra.Command, path string) error {
	ctx := c.Context()
	if f.out != "" {
		claimed, err := newfile.ClaimOut(c, path, f.out)
		if err != nil {
			return err
		}
		defer claimed.Close()
	}
	s, err := reach.OpenShown(ctx, path, &f.source, f.log)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := reach.DataCenterOf(s)
	if err == nil && f.out == "" {
		err = explainEdited(path, d.CheckUnedited())
	}
	if err != nil {
		return err
	}
	draft, done, err := d.Patched(ctx, &f.patches)
	if err == nil {
		err = d.Check()
	}
	if err == nil {
		err = f.undecided(c, done)
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := newfile.WriteOut(ctx, s, draft, f.out, &f.write); err != nil {
			return err
		}
	}
	rejectsErr := mods.WriteRejects(ctx, f.rejects, done.Results)
	err = f.print(c, done)
	if err == nil && f.out != "" && !f.asJSON {
		err = cli.SayWritten(c, f.out, false)
	}
	return errors.Join(err, rejectsErr, f.outcome(done))
}

// onFile applies patches to a file, which is replaced as by a save.
func (f *applying) onFile(c *cobra.Command, path string) error {
	ctx := c.Context()
	var done *dckind.Patched
	e := fileEdit{source: &f.source, noBackup: f.write.NoBackup, how: f.how, log: f.log}
	reports, err := e.run(ctx, path, func(s *kinds.Source) (err error) {
		if done, err = dckind.ApplyPatches(ctx, s, &f.patches); err != nil {
			return err
		}
		if err := f.undecided(c, done); err != nil {
			return err
		}
		if err := mods.WriteRejects(ctx, f.rejects, done.Results); err != nil {
			return err
		}
		return f.print(c, done)
	})
	if failed, ok := errors.AsType[*mounted.SaveError](err); ok {
		return f.unsaved(failed)
	}
	if err != nil {
		return err
	}
	if !f.asJSON {
		err = cli.NewTelling(c.OutOrStdout(), false).PrintSaved(&mounted.Answer{Saved: reports})
	}
	return errors.Join(err, f.outcome(done))
}

// undecided prints what patches want to be different, if nobody decides that.
func (f *applying) undecided(c *cobra.Command, done *dckind.Patched) error {
	if done.Contested == 0 || f.patches.Open {
		return nil
	}
	if err := f.printShared(c, done); err != nil {
		return err
	}
	hint := "--prefer first, --prefer last or --prefer PATCH decides; --rejects FILE applies the rest"
	return errors.Join(mods.Undecided(done.Settlement, hint), f.stdout.Flush())
}

// printShared prints what patches share: conflicts go to stderr.
func (f *applying) printShared(c *cobra.Command, done *dckind.Patched) error {
	names := mods.Names(f.patches.Patches)
	for i := range done.Shared {
		s := &done.Shared[i]
		switch {
		case f.asJSON:
			if err := f.lines.Write(mods.ItemOf(s, f.patches.Patches)); err != nil {
				return err
			}
		case s.Sharing == patch.Contested:
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", mods.Line(s, names))
		case s.Sharing == patch.Preferred && !f.stat:
			shown.Fprintf(f.stdout, "%s\n", mods.Line(s, names))
		}
	}
	return nil
}

// fileEdit is how a command edits a data center that is not mounted.
type fileEdit struct {
	source *options.SourceFlags
	// any is set if the source need not be a data center.
	any      bool
	noBackup bool
	how      save.How
	log      *slog.Logger
}

// run opens a file for edits, which nobody else can make meanwhile, has change make them, and saves
// them. If change fails, or if somebody interrupts the save, the file and its journal stay as they were. An
// error of the save is a [mounted.SaveError].
func (e *fileEdit) run(ctx context.Context, path string, change func(s *kinds.Source) error) ([]save.Report, error) {
	s, err := reach.OpenShown(ctx, path, e.source, e.log)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if !e.any {
		if _, err := reach.DataCenterOf(s); err != nil {
			return nil, err
		}
	}
	err = kinds.CheckUnedited(path)
	if left, ok := errors.AsType[*kinds.UnsavedEditsError](err); err == nil || ok && left.Problem != "" { // which is told there
		err = reach.MakeEditable(ctx, s, kinds.EditOptions{NoBackup: e.noBackup, Logger: e.log})
	}
	if err != nil {
		return nil, explainEdited(path, err)
	}
	if err := change(s); err != nil {
		return nil, errors.Join(err, s.Discard()) // who called has all of it
	}
	p := cli.NewSaving()
	reports, failed := s.Save(ctx, e.how, p.Show)
	p.Finish()
	switch {
	case failed != nil && ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), s.Discard())
	case failed != nil:
		return nil, &mounted.SaveError{Failed: failed, Ended: true}
	}
	return reports, nil
}

// onMount applies patches to what is mounted.
func (f *applying) onMount(c *cobra.Command, dir string) error {
	m, err := reach.MountAt(dir)
	if err != nil {
		return err
	}
	done, a, err := mounted.Apply(c.Context(), m.Name, &f.patches)
	switch {
	case c.Context().Err() != nil:
		return &cli.Error{Code: cli.ExitInterrupted, Err: cli.ErrInterrupted, Hint: "lorefs edits " + shown.Shell(dir) + " shows what was applied: of each patch all or nothing"}
	case errors.Is(err, daemon.ErrNone):
		return reach.Absent(m)
	case err == nil:
		err = cli.FailureOf(&a)
	}
	if err == nil {
		if err := f.undecided(c, done); err != nil {
			return err
		}
	}
	err = errors.Join(err, f.print(c, done), mods.WriteRejects(c.Context(), f.rejects, done.Results))
	if err == nil && !f.dryRun && !f.asJSON && anyApplied(done.Results) {
		_, err = shown.Fprintf(c.OutOrStdout(), "lorefs commit %s saves them\n", shown.Shell(dir))
	}
	return errors.Join(err, f.outcome(done))
}

// explainEdited adds hints to the error of a source that is being edited, or has edits.
func explainEdited(path string, err error) error {
	if e, ok := errors.AsType[*kinds.UnsavedEditsError](err); ok {
		err = fmt.Errorf("%w; nothing was changed", err)
		if e.Problem != "" {
			return &cli.Error{Code: cli.ExitUnsaved, Err: err, Hint: "lorefs journal list shows what is left"}
		}
		return &cli.Error{
			Code: cli.ExitUnsaved, Err: err,
			Hint: fmt.Sprintf("lorefs edits %[1]s lists them; lorefs journal replay %[1]s saves them, lorefs journal drop %[1]s gives them up", shown.Shell(path)),
		}
	}
	if e := cli.AsError(err); err != nil && e.Code == cli.ExitBusy {
		if m, mountErr := reach.MountFor(path); mountErr == nil && m != nil {
			return &cli.Error{Code: cli.ExitBusy, Err: fmt.Errorf("%s is mounted on %s", path, m.Dir), Hint: "name " + shown.Shell(m.Dir) + " to edit it there"}
		}
	}
	return err
}

// print prints what came of the patches. Conflicts go to stderr.
func (f *applying) print(c *cobra.Command, done *dckind.Patched) error {
	out, results := f.stdout, done.Results
	for _, r := range results {
		for _, it := range r.Items {
			switch {
			case it.Outcome == patch.Yielded && !f.asJSON: // what it yields to is printed
			case f.asJSON:
				if err := f.lines.Write(itemOf(r, &it)); err != nil {
					return err
				}
			case it.Reason != "":
				shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", r.Describe(it))
			case f.dryRun && !f.stat:
				shown.Fprintf(out, "%s\n", r.Describe(it))
			}
		}
	}
	if err := f.printShared(c, done); err != nil {
		return err
	}
	if f.stat {
		if err := printStat(out, results); err != nil {
			return err
		}
	}
	for _, r := range results {
		if !f.asJSON {
			shown.Fprintf(out, "%s: %s\n", r.Patch.Name, mods.Counts(r, f.dryRun))
		}
	}
	return out.Flush()
}

// unsavedPatches is the line of --json that says that what the lines before it name is not saved.
type unsavedPatches struct {
	NotSaved []mounted.NotSaved `json:"not_saved"`
}

// unsaved returns the error of a save, which also ends the list of --json.
func (f *applying) unsaved(err *mounted.SaveError) error {
	if !f.asJSON {
		return err
	}
	return errors.Join(err, f.lines.Write(unsavedPatches{err.NotSaved()}), f.stdout.Flush())
}

func anyApplied(results []*patch.Result) bool {
	return slices.ContainsFunc(results, func(r *patch.Result) bool { return r.Applied > 0 })
}

// appliedItem is a part of a patch as --json prints it.
type appliedItem struct {
	Patch string `json:"patch"`
	Line  int    `json:"line"`
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	// Name of an attribute, or %keys or %flags.
	Name    string `json:"name,omitempty"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

func itemOf(r *patch.Result, it *patch.Item) appliedItem {
	b := &r.Patch.Blocks[it.Block]
	j := appliedItem{
		Patch: r.Patch.Name, Line: it.At, Kind: b.Kind.String(), Path: b.Path.Text,
		Outcome: jsonout.Word(it.Outcome.String()), Reason: it.Reason,
	}
	if b.Kind == patch.Change {
		j.Name = b.Lines[it.Line].Label()
	}
	return j
}

// printStat prints how many parts of the patches are about each sheet, and what came of them.
func printStat(w io.Writer, results []*patch.Result) error {
	type sheet struct{ outcomes [patch.Yielded + 1]int }
	sheets := map[string]*sheet{}
	var names []string
	for _, r := range results {
		for i := range r.Items {
			name := r.Patch.Blocks[r.Items[i].Block].Sheet()
			if sheets[name] == nil {
				sheets[name] = &sheet{}
				names = append(names, name)
			}
			sheets[name].outcomes[r.Items[i].Outcome]++
		}
	}
	slices.Sort(names)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range names {
		n := sheets[name].outcomes
		shown.Fprintf(t, "%s\t%d applied\t%d already there\t%s\n", name, n[patch.Applied], n[patch.Already], shown.Plural(n[patch.Conflict], "conflict"))
	}
	return t.Flush()
}

// outcome returns an error if something conflicts.
func (f *applying) outcome(done *dckind.Patched) error {
	n := 0
	for _, r := range done.Results {
		n += r.Conflicts
	}
	if n == 0 {
		return nil
	}
	hint := "--rejects FILE writes them as a patch"
	switch {
	case f.rejects != "":
		hint = fmt.Sprintf("%s has them: correct the lines with -, and apply it", f.rejects)
	case f.dryRun && done.Contested > 0:
		hint = "without --dry-run nothing is applied, unless --prefer decides, or --rejects FILE writes them as a patch"
	case f.dryRun:
		hint = "without --dry-run, all else is applied, and --rejects FILE writes them as a patch"
	}
	return &cli.Error{Code: cli.ExitFailure, Err: errors.New(shown.Plural(n, "conflict")), Hint: hint}
}
