package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/save/dcsave"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// repacking are the flags of repack.
type repacking struct {
	source        options.SourceFlags
	write         options.Writing
	newKey, newIV string
	asJSON        bool
}

func newRepack(log *slog.Logger) *cobra.Command {
	var f repacking
	c := &cobra.Command{
		Use:   "repack SOURCE OUT",
		Short: "write a data center anew: smaller, in another layout or with another key",
		Long: `repack writes the tree of SOURCE as a new file. It stores equal parts once, and leaves
unused parts out. --layout, --level, --revision, --new-key and --new-iv change the form of
the file. repack reads the new file back and compares it before it takes its place. An
existing file is kept as OUT.bak. If OUT is mounted for editing, repack leaves it alone and
exits with 6.`,
		Args: cli.ExactArgs("SOURCE", "OUT"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return f.run(ctx, c, args[0], args[1], log)
		},
	}
	f.source.AddDataCenter(c.Flags())
	f.source.AddTo(c.Flags(), f.write.Table())
	cli.AddJSON(c, &f.asJSON, cli.OneObject)
	c.Flags().StringVar(&f.newKey, "new-key", "", "key of the new file, 32 hex digits (default: the source's)")
	c.Flags().StringVar(&f.newIV, "new-iv", "", "IV of the new file, 32 hex digits (default: the source's)")
	return c
}

func (f *repacking) run(ctx context.Context, c *cobra.Command, from, to string, log *slog.Logger) error {
	// This comes first: the file must not be saved while it is repacked onto itself.
	claimed, err := output.Claim(to, cli.TellKept(c))
	if err != nil {
		return err
	}
	defer claimed.Close() // nothing was written to it
	f.source.ReadOnce, f.source.AsFile = true, true
	s, err := reach.OpenToRead(c, from, f.source.Reading(), log)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	if sameFile(from, to) {
		f.write.Check = d.CheckFile
	}
	opts, err := f.options(d.File())
	if err != nil {
		return err
	}
	draft, err := edit.NewDraft(d.File(), nil)
	if err != nil {
		return err
	}
	defer s.SpareForSaving()()
	if err := writeDraft(ctx, draft, to, f.write.Options, opts); err != nil {
		return err
	}
	return cli.SayWritten(c, to, f.asJSON)
}

// writeDraft writes a draft as a new file, reads that back and compares it.
func writeDraft(ctx context.Context, draft *edit.Draft, to string, o output.Options, opts datacenter.WriteOptions) error {
	snapshot := draft.Snapshot()
	defer snapshot.Close()
	p := cli.NewSaving()
	defer p.Finish()
	shows := dcsave.ProgressOf(p.Show)
	opts.Progress = shows.Writing
	var written *edit.Written
	return output.Write(ctx, to, o, func(w io.Writer) (err error) {
		written, err = snapshot.Write(ctx, opts, w)
		return err
	}, func(file *os.File) error {
		g, err := dckind.ReadBack(ctx, file, *opts.Key, true, shows.Reading)
		if err != nil {
			return err
		}
		written.Progress = shows.Comparing
		return written.Compare(ctx, g)
	})
}

// claimOut claims the file of --out, which must not be the source. The caller closes what is returned: nothing is
// written to it.
func claimOut(c *cobra.Command, source, out string) (io.Closer, error) {
	if sameFile(source, out) {
		return nil, cli.UsageErrorf("--out %s is the source: leave --out away to replace it", out)
	}
	return output.Claim(out, cli.TellKept(c))
}

// writeOut writes a draft of a data center to the file of --out, with its layout and key.
func writeOut(ctx context.Context, s *kinds.Source, draft *edit.Draft, out string, w *options.Writing) error {
	d, err := reach.DataCenterOf(s)
	if err != nil {
		return err
	}
	opts, err := w.WriteOptions(datacenter.LayoutAuto.String(), d.File().Layout())
	if err != nil {
		return err
	}
	opts.Key = new(d.File().Key())
	defer s.SpareForSaving()()
	return writeDraft(ctx, draft, out, w.Options, opts)
}

// sameFile reports whether two paths are one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (f *repacking) options(dc *datacenter.File) (datacenter.WriteOptions, error) {
	opts, err := f.write.WriteOptions(f.source.Layout, dc.Layout())
	if err != nil {
		return opts, err
	}
	key := dc.Key()
	if f.newKey != "" || f.newIV != "" {
		if key, err = (options.KeySource{KeyName: "--new-key", IVName: "--new-iv", Key: f.newKey, IV: f.newIV}).Parse(); err != nil {
			return opts, err
		}
	}
	opts.Key = &key
	return opts, nil
}
