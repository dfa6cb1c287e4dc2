package main

import (
	"compress/zlib"
	"context"
	"crypto/aes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"lorefs/internal/cfb"
	"lorefs/nodes"
)

// benchRun is one run of bench.
type benchRun struct {
	flags *benchFlags
	path  string
	log   *slog.Logger
	// dir is where the index and the mount points are. It goes at the end.
	dir  string
	rows []measure

	// total is the number of entries in tree/.
	total int64
	// sheets are the first directories of tree/, which hold entries.
	sheets  []string
	entries int64
}

func newBenchRun(f *benchFlags, path string, log *slog.Logger) (*benchRun, error) {
	if f.repeat < 1 || f.entries < 1 {
		return nil, usageErrorf("--repeat and --entries have to be at least 1")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lorefs-bench-")
	if err != nil {
		return nil, err
	}
	f.source.cacheBase = dir
	return &benchRun{flags: f, path: abs, log: log, dir: dir}, nil
}

// all measures what there is to measure of the kind of the source.
func (b *benchRun) all(ctx context.Context) error {
	if err := b.flags.source.check(); err != nil {
		return err
	}
	k, err := b.flags.source.kindOf(b.path)
	if err != nil {
		return err
	}
	if k.bench == nil {
		return usageErrorf("%s: nothing is measured on a source of the kind %s", b.path, k.name)
	}
	return k.bench(ctx, b)
}

func benchDataCenter(ctx context.Context, b *benchRun) error {
	for _, step := range []func(context.Context) error{b.opening, b.choose, b.walking, b.mounts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

const (
	floorRow = "decrypt + inflate, standard library"
	firstRow = "first open, until tree/ is listed"
)

// opening measures what comes before the first answer.
func (b *benchRun) opening(ctx context.Context) error {
	var floor, first, second []float64
	for range b.flags.repeat {
		if err := os.RemoveAll(filepath.Join(b.dir, "lorefs")); err != nil {
			return err
		}
		// The first one also finds the key, so that the floor need not.
		for _, to := range []*[]float64{&first, &second} {
			start := time.Now()
			s, err := b.open(ctx)
			if err != nil {
				return err
			}
			*to = append(*to, time.Since(start).Seconds())
			if to == &second {
				start = time.Now()
				d, err := s.dataCenter()
				if err == nil {
					err = inflateAll(d)
				}
				if err != nil {
					return err
				}
				floor = append(floor, time.Since(start).Seconds())
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
	}
	const table = "opening"
	b.add(table, floorRow, unitSeconds, floor)
	b.add(table, firstRow, unitSeconds, first)
	b.relate(floorRow)
	b.add(table, "second open", unitSeconds, second)
	b.relate(floorRow)
	return nil
}

// open opens the source and lists tree/.
func (b *benchRun) open(ctx context.Context) (*opened, error) {
	s, err := openSource(ctx, b.path, &b.flags.source, b.log, func(int64, int64) {})
	if err != nil {
		return nil, err
	}
	return s, s.list(ctx, "tree", func(nodes.Entry) error { return nil })
}

// inflateAll decrypts and inflates all there is, and does nothing with it.
func inflateAll(s *dataCenter) error {
	key := s.dc.Key()
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		return err
	}
	const sizeField = 4 // before the zlib stream
	plain := io.NewSectionReader(cfb.NewReader(s.reader(), block, key.IV), sizeField, s.file.Size()-sizeField)
	z, err := zlib.NewReader(plain)
	if err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, z); err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	return nil
}

// choose picks the sheets to walk: all, or the first ones up to --entries.
func (b *benchRun) choose(ctx context.Context) error {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	b.total = s.views[0].Nodes
	d, err := s.dataCenter()
	if err != nil {
		return err
	}
	root, err := d.dc.Root()
	if err != nil {
		return err
	}
	var counts []int64
	for sheet, err := range root.Children() {
		if err != nil {
			return err
		}
		counts = append(counts, int64(sheet.Entries()))
	}
	return s.list(ctx, "tree", func(e nodes.Entry) error {
		if e.Kind != nodes.Dir || len(counts) == 0 {
			return nil
		}
		n := counts[0]
		counts = counts[1:]
		if b.entries+n > b.flags.entries && len(b.sheets) > 0 {
			counts = nil
			return nil
		}
		b.sheets = append(b.sheets, e.Name)
		b.entries += n
		return nil
	})
}
