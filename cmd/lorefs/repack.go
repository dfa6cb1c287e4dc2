package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"lorefs/datacenter"
	"lorefs/internal/shown"
	"lorefs/nodes/blockcache"
)

// repacking are the flags of repack.
type repacking struct {
	source        sourceFlags
	write         writing
	newKey, newIV string
}

func newRepack(log *slog.Logger) *cobra.Command {
	var f repacking
	c := &cobra.Command{
		Use:   "repack SOURCE OUT",
		Short: "write a data center anew: smaller, in another layout or with another key",
		Long: `repack writes the tree of SOURCE as a new file: what is equal is stored once, and what
nothing uses is left out. --layout, --level, --revision, --new-key and --new-iv say
what is to be different. What was written is read back and compared before it takes
its place; a file that was there becomes OUT.bak. If somebody edits OUT, it is left
alone; the exit code is 6 then.`,
		Args: exactArgs("SOURCE", "OUT"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return f.run(ctx, c, args[0], args[1], log)
		},
	}
	f.source.addDataCenter(c.Flags())
	f.write.add(c.Flags())
	c.Flags().StringVar(&f.newKey, "new-key", "", "key of the new file, 32 hex digits (default: the source's)")
	c.Flags().StringVar(&f.newIV, "new-iv", "", "IV of the new file, 32 hex digits (default: the source's)")
	return c
}

func (f *repacking) run(ctx context.Context, c *cobra.Command, from, to string, log *slog.Logger) error {
	// First of all: what is read must not be saved anew while it is repacked onto itself.
	claimed, err := claim(c, to)
	if err != nil {
		return err
	}
	defer claimed.Close() // It was only held.
	s, err := openShown(ctx, from, f.source.reading(), log)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := s.dataCenter()
	if err != nil {
		return err
	}
	if sameFile(from, to) {
		f.write.check = d.unchangedNow
	}
	opts, err := f.options(d.dc)
	if err != nil {
		return err
	}
	draft, err := datacenter.NewDraft(d.dc, nil)
	if err != nil {
		return err
	}
	snapshot := draft.Snapshot()
	defer snapshot.Close()
	var written *datacenter.Written
	err = f.write.writeFile(ctx, to, func(w io.Writer) (err error) {
		written, err = snapshot.Write(ctx, opts, w)
		return err
	}, func(file *os.File) error { return readBack(ctx, written, file, *opts.Key) })
	if err != nil {
		return err
	}
	return sayWritten(c, to)
}

// sameFile tells whether two paths lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func (f *repacking) options(dc *datacenter.File) (datacenter.WriteOptions, error) {
	opts, err := f.write.options(f.source.layout, dc.Layout())
	if err != nil {
		return opts, err
	}
	key := dc.Key()
	if f.newKey != "" || f.newIV != "" {
		if key, err = (keySource{"--new-key", "--new-iv", f.newKey, f.newIV}).parse(); err != nil {
			return opts, err
		}
	}
	opts.Key = &key
	return opts, nil
}

// readBack compares what was written with what should have been.
func readBack(ctx context.Context, written *datacenter.Written, file *os.File, key datacenter.Key) error {
	g, err := reopen(ctx, file, key)
	if err != nil {
		return err
	}
	return written.Compare(ctx, g)
}

// reopen opens what was just written.
func reopen(ctx context.Context, file *os.File, key datacenter.Key) (*datacenter.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	g, err := datacenter.Open(ctx, file, info.Size(), datacenter.Options{
		Keys: []datacenter.Key{key}, Blocks: blockcache.New(reopenCache).View(),
	})
	if err != nil {
		return nil, fmt.Errorf("reading back what was written: %w", err)
	}
	return g, nil
}

// sayWritten says what was written.
func sayWritten(c *cobra.Command, path string) error {
	info, err := os.Stat(path)
	if err == nil {
		_, err = shown.Fprintf(c.OutOrStdout(), "wrote %s: %d bytes\n", path, info.Size())
	}
	return err
}
