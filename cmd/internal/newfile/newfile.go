// Package newfile writes data centers that were edited as new files.
package newfile

import (
	"context"
	"io"
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

// Write writes a draft as a new file, reads that back and compares it.
func Write(ctx context.Context, draft *edit.Draft, to string, o output.Options, opts datacenter.WriteOptions) error {
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

// ClaimOut claims the file of --out, which must not be the source. The caller closes what is returned: nothing is
// written to it.
func ClaimOut(c *cobra.Command, source, out string) (io.Closer, error) {
	if Same(source, out) {
		return nil, cli.UsageErrorf("--out %s is the source: leave --out away to replace it", out)
	}
	return output.Claim(out, cli.TellKept(c))
}

// WriteOut writes a draft of a data center to the file of --out, with its layout and key.
func WriteOut(ctx context.Context, s *kinds.Source, draft *edit.Draft, out string, w *options.Writing) error {
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
	return Write(ctx, draft, out, w.Options, opts)
}

// Same reports whether two paths are one file.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
