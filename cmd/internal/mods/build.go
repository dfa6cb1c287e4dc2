package mods

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/newfile"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/reach"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// building are the flags of build.
type building struct {
	source  options.SourceFlags
	write   options.Writing
	rejects string
	// overwrite replaces the file of rejects.
	overwrite bool
	dryRun    bool
	asJSON    bool
	log       *slog.Logger
	// file is what the argument says.
	file *buildFile
}

// NewBuild returns the command.
func NewBuild(log *slog.Logger) *cobra.Command {
	f := building{log: log}
	c := &cobra.Command{
		Use:   "build FILE OUT",
		Short: "build a data center of many patches, as a file says",
		Long: `build applies the patches that FILE names to a data center, and writes OUT. FILE is in TOML:

  base = "DataCenter_Final_EUR.dat"
  patches = ["mods/shop.lorepatch", "mods/bosses.lorepatch"]
  prefer = ["bosses", "last"]

  [values]
  "/NpcData/Npc[@id=7]/@level" = "shop"

Its paths are relative to it, and patches are applied in this order. base-sum and sum are the
SHA-256 of the base and of OUT that you expect. prefer is as --prefer of lorefs apply. values
decides about single values, as the report names them.

The report names every value that two patches or more are about, what each of them wants,
and whose value OUT has. If a part of a patch conflicts, or if nobody decides whose value
counts, build writes nothing and exits with 1. With --rejects it leaves that out, and writes
it to a file, as lorefs apply does. The same files always make the same OUT. An existing file
is kept as OUT.bak.`,
		Args: cli.ExactArgs("FILE", "OUT"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0], args[1]) },
	}
	flags := c.Flags()
	f.source.AddDataCenter(flags)
	flags.StringVar(&f.rejects, "rejects", "", "leave out what conflicts, and write it to a `file`: patches with the reasons")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace the file of --rejects")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing, and print the report")
	flags.BoolVar(&f.write.NoBackup, "no-backup", false, "do not keep a replaced file as NAME.bak")
	cli.AddJSON(c, &f.asJSON, cli.OneObject)
	f.write.Level = options.DefaultLevel
	return c
}

func (f *building) run(c *cobra.Command, name, out string) (err error) {
	if f.dryRun && f.rejects != "" {
		return cli.UsageErrorf("--dry-run writes nothing: --rejects does not go with it")
	}
	if f.file, err = readBuildFile(name); err != nil {
		return err
	}
	if err := f.checkOut(name, out); err != nil {
		return err
	}
	if f.rejects != "" {
		if err := CheckRejects(c, f.rejects, f.overwrite); err != nil {
			return err
		}
	}
	if !f.dryRun {
		claimed, err := output.Claim(out, cli.TellKept(c))
		if err != nil {
			return err
		}
		defer claimed.Close() // nothing was written to it
	}
	s, err := reach.OpenShown(c.Context(), f.file.base, &f.source, f.log)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", name, f.file.lines[keyBase], err)
	}
	defer s.Close()
	return f.build(c, s, out)
}

// checkOut returns an error if what is written is what is read.
func (f *building) checkOut(name, out string) error {
	if f.rejects != "" && filepath.Clean(f.rejects) == filepath.Clean(out) {
		return cli.UsageErrorf("--rejects %s: want a file of its own", f.rejects)
	}
	read := []string{name, f.file.base}
	for _, p := range f.file.patches {
		read = append(read, f.file.Path(p.Name))
	}
	for _, path := range read {
		if newfile.Same(path, out) || f.rejects != "" && newfile.Same(path, f.rejects) {
			return cli.UsageErrorf("%s is read: want another file to write", path)
		}
	}
	return nil
}

// build builds a file of an open base.
func (f *building) build(c *cobra.Command, s *kinds.Source, out string) error {
	ctx := c.Context()
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	r := Report{File: f.file.Name, Base: f.file.base, Patches: []BuiltPatch{}, Shared: []Item{}, Conflicts: []Conflict{}}
	if r.BaseSum, err = sumOf(f.file.base); err != nil {
		return err
	}
	if err := f.expect(keyBaseSum, f.file.baseSum, f.file.base, r.BaseSum); err != nil {
		return err
	}
	draft, done, err := d.Patched(ctx, &dckind.Patching{Patches: f.file.patches, Prefer: f.file.prefer, Open: f.rejects != ""})
	if err = cmp.Or(err, d.Check()); err != nil {
		return err
	}
	if err := f.file.checkValues(done.Settlement); err != nil {
		return err
	}
	r.fill(f.file, done)
	failed := f.failed(done)
	if (failed == nil || f.rejects != "") && !f.dryRun {
		if err := f.writeAll(ctx, s, draft, done, out, &r); err != nil {
			return err
		}
	}
	return errors.Join(f.tell(c, &r, done), failed)
}

// failed returns the error of what conflicts, if anything does.
func (f *building) failed(done *dckind.Patched) error {
	n := 0
	for _, r := range done.Results {
		n += r.Conflicts
	}
	what, hint := "; nothing was written", "mend the patches, or --rejects FILE leaves that out"
	switch {
	case done.Results == nil && done.Contested > 0:
		return &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("%s between the patches%s", shown.Plural(done.Contested, "conflict"), what),
			Hint: "prefer or values in " + f.file.Name + " decides",
		}
	case n == 0:
		return nil
	case f.rejects != "":
		what, hint = "", f.rejects+" has them"
	}
	return &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%s%s", shown.Plural(n, "conflict"), what), Hint: hint}
}

// writeAll writes the file, and what was left out.
func (f *building) writeAll(ctx context.Context, s *kinds.Source, draft *edit.Draft, done *dckind.Patched, out string, r *Report) error {
	if err := WriteRejects(ctx, f.rejects, done.Results); err != nil {
		return err
	}
	sum := sha256.New()
	f.write.Sum = sum
	var another error
	f.write.Check = func() error {
		r.Out, r.Sum = out, hexOf(sum)
		another = f.expect(keySum, f.file.sum, out, r.Sum)
		return another
	}
	if err := newfile.WriteOut(ctx, s, draft, out, &f.write); err != nil {
		return cmp.Or(another, err)
	}
	info, err := os.Stat(out)
	if err == nil {
		r.Bytes = info.Size()
	}
	return err
}

// expect returns an error if a file has another sum than the one that is wanted.
func (f *building) expect(key, want, path, sum string) error {
	if want == "" || want == sum {
		return nil
	}
	return &cli.Error{
		Code: cli.ExitFailure,
		Err:  fmt.Errorf("%s has the SHA-256 %s, and %s:%d wants another one; nothing was written", path, sum, f.file.Name, f.file.lines[key]),
	}
}

// sumOf returns the SHA-256 of a file.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", kinds.Unreadable(path, err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", kinds.Unreadable(path, err)
	}
	return hexOf(sum), nil
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// CheckRejects returns an error if rejects could not be written to a file.
func CheckRejects(c *cobra.Command, path string, overwrite bool) error {
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("%s exists already; nothing was changed", path),
			Hint: "--overwrite replaces it",
		}
	}
	claimed, err := output.Claim(path, cli.TellKept(c))
	if err != nil {
		return err
	}
	return claimed.Close()
}

// WriteRejects writes what conflicts to a file, if there is one and anything does.
func WriteRejects(ctx context.Context, path string, results []*patch.Result) error {
	var rejects []byte
	for _, r := range results {
		if p := patch.Rejects(r); p != nil {
			rejects = p.Append(rejects)
		}
	}
	if path == "" || rejects == nil {
		return nil
	}
	return output.Write(ctx, path, output.Options{NoBackup: true}, func(w io.Writer) error {
		_, err := w.Write(rejects)
		return err
	}, nil)
}

// Report is what --json prints.
type Report struct {
	File    string `json:"file"`
	Base    string `json:"base"`
	BaseSum string `json:"base_sum"`
	// Out, Bytes and Sum are those of what was written. They are left out if nothing was.
	Out       string       `json:"out,omitempty"`
	Bytes     int64        `json:"bytes,omitempty"`
	Sum       string       `json:"sum,omitempty"`
	Patches   []BuiltPatch `json:"patches"`
	Shared    []Item       `json:"shared"`
	Conflicts []Conflict   `json:"conflicts"`
}

// BuiltPatch says what came of a patch.
type BuiltPatch struct {
	Patch     string `json:"patch"`
	Sum       string `json:"sum"`
	Applied   int    `json:"applied"`
	Already   int    `json:"already_there"`
	Conflicts int    `json:"conflicts"`
	Yielded   int    `json:"yielded"`
}

// Conflict is a part of a patch that could not be applied.
type Conflict struct {
	Patch  string `json:"patch"`
	Line   int    `json:"line"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// fill fills in what came of the patches.
func (r *Report) fill(f *buildFile, done *dckind.Patched) {
	for i := range done.Shared {
		r.Shared = append(r.Shared, ItemOf(&done.Shared[i], f.patches))
	}
	for _, x := range done.Results {
		r.Patches = append(r.Patches, BuiltPatch{x.Patch.Name, f.sums[x.Patch.Name], x.Applied, x.Already, x.Conflicts, x.Yielded})
		for _, it := range x.Items {
			if it.Outcome == patch.Conflict {
				r.Conflicts = append(r.Conflicts, Conflict{x.Patch.Name, it.At, x.Patch.Blocks[it.Block].Path.Text, it.Reason})
			}
		}
	}
}

// tell prints the report. Conflicts go to stderr.
func (f *building) tell(c *cobra.Command, r *Report, done *dckind.Patched) error {
	if f.asJSON {
		return jsonout.Object(c.OutOrStdout(), r)
	}
	names, sharing := Names(f.file.patches), [4]int{}
	for i := range done.Shared {
		s := &done.Shared[i]
		sharing[s.Sharing]++
		if s.Sharing == patch.Contested {
			shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", Line(s, names))
		} else if _, err := shown.Fprintf(c.OutOrStdout(), "%s\n", Line(s, names)); err != nil {
			return err
		}
	}
	for _, x := range done.Results {
		for _, it := range x.Items {
			if it.Outcome == patch.Conflict {
				shown.Fprintf(c.ErrOrStderr(), "lorefs: %s\n", x.Describe(it))
			}
		}
		shown.Fprintf(c.OutOrStdout(), "%s: %s\n", x.Patch.Name, Counts(x, r.Out == ""))
	}
	_, err := shown.Fprintf(c.OutOrStdout(), "shared by patches: %s: %d agreed, %d preferred, %d contested, %d unfit\nbase-sum = \"%s\"\n",
		shown.Plural(len(done.Shared), "value"), sharing[patch.Agreed], sharing[patch.Preferred], sharing[patch.Contested], sharing[patch.Unfit], r.BaseSum)
	if err == nil && r.Out != "" {
		_, err = shown.Fprintf(c.OutOrStdout(), "sum = \"%s\"\nwrote %s: %d bytes\n", r.Sum, r.Out, r.Bytes)
	}
	return err
}
