package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/newfile"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/output"
	"lorefs/cmd/internal/reach"
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
	if newfile.Same(from, to) {
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
	if err := newfile.Write(ctx, draft, to, f.write.Options, opts); err != nil {
		return err
	}
	return cli.SayWritten(c, to, f.asJSON)
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
