package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/mounted"
	"lorefs/cmd/internal/newfile"
	"lorefs/cmd/internal/parts"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/treeput"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
)

// folder puts an export that was edited into its source.
func (f *applying) folder(c *cobra.Command, path, dir string) error {
	if f.reverse || f.stat || f.rejects != "" {
		return cli.UsageErrorf("-R, --stat and --rejects go with a PATCH: %s is a folder", dir)
	}
	if f.dryRun && f.out != "" {
		return cli.UsageErrorf("--dry-run writes nothing: --out does not go with it")
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return kinds.Unreadable(path, err)
	}
	if m, err := reach.MountIn(path); err == nil && m != nil {
		return &cli.Error{
			Code: cli.ExitUsage, Err: fmt.Errorf("%s is a mount", path),
			Hint: fmt.Sprintf("cp -r %s/. %s puts the folder there; or name the source", shown.Shell(dir), shown.Shell(path)),
		}
	}
	if f.out != "" {
		return f.folderOnto(c, path, dir)
	}
	e := fileEdit{source: &f.source, any: true, noBackup: f.write.NoBackup, how: f.how, log: f.log}
	var report *treeput.Report
	reports, err := e.run(c.Context(), path, func(s *kinds.Source) (err error) {
		if report, err = f.put(c.Context(), s, dir); err != nil || !f.dryRun {
			return err
		}
		format := kinds.EditsText
		if f.asJSON {
			format = kinds.EditsJSON
		}
		return cmp.Or(s.WriteEdits(c.Context(), c.OutOrStdout(), format, ""), errDryRun)
	})
	if f.dryRun && errors.Is(err, errDryRun) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.tellFolder(c, report, reports)
}

// errDryRun ends an edit that is only tried.
var errDryRun = errors.New("it is only tried")

// put puts a folder into a source that can be changed, or nothing if there is a mistake in it.
func (f *applying) put(ctx context.Context, s *kinds.Source, dir string) (*treeput.Report, error) {
	p := cli.NewCounter("files")
	r, err := parts.Put(ctx, s, dir, f.remove, func(files int64) { p.Set(files, 0) })
	p.Finish()
	if err != nil {
		return nil, err
	}
	if err := parts.Refused(s, r); err != nil {
		return nil, &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%w; nothing was changed", err)}
	}
	if n := len(r.Fixed); n > 0 {
		f.log.Warn("files that differ are made of others, and were left alone", "count", n, "such as", r.Fixed[0])
	}
	if s.Kind.Sheets && len(r.Removed) > 0 {
		f.log.Warn("sheets behind those that were removed have other numbers now: export them again before they are applied again")
	}
	return r, nil
}

// folderOnto writes a new data center: the source with what a folder has.
func (f *applying) folderOnto(c *cobra.Command, path, dir string) error {
	ctx := c.Context()
	claimed, err := newfile.ClaimOut(c, path, f.out)
	if err != nil {
		return err
	}
	defer claimed.Close()
	s, err := reach.OpenShown(ctx, path, &f.source, f.log)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	draft, err := d.Try(s)
	if err != nil {
		return err
	}
	r, err := f.put(ctx, s, dir)
	if err = cmp.Or(err, d.Check()); err != nil {
		return err
	}
	if err := newfile.WriteOut(ctx, s, draft, f.out, &f.write); err != nil {
		return err
	}
	if err := f.tellFolder(c, r, nil); err != nil || f.asJSON {
		return err
	}
	return cli.SayWritten(c, f.out, false)
}

// tellFolder says what was put.
func (f *applying) tellFolder(c *cobra.Command, r *treeput.Report, reports []save.Report) error {
	if f.asJSON {
		return jsonout.Object(c.OutOrStdout(), appliedFolder{
			cli.AsList(r.Changed), cli.AsList(r.Made), cli.AsList(r.Removed), r.Same, cli.AsList(reports),
		})
	}
	_, err := shown.Fprintf(c.OutOrStdout(), "%s changed, %d new, %d removed, %d as they were\n",
		shown.Plural(len(r.Changed), "file"), len(r.Made), len(r.Removed), r.Same)
	if err != nil {
		return err
	}
	return cli.NewTelling(c.OutOrStdout(), false).PrintSaved(&mounted.Answer{Saved: reports})
}

// appliedFolder is printed by --json for a folder.
type appliedFolder struct {
	Changed []string `json:"changed"`
	New     []string `json:"new"`
	Removed []string `json:"removed"`
	Same    int64    `json:"same"`
	// Saved has a report of each source that was saved: none if --out wrote it.
	Saved []save.Report `json:"saved"`
}
