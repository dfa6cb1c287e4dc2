package main

import (
	"compress/zlib"
	"context"
	"crypto/aes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/cfb"
	"lorefs/internal/kinds"
	"lorefs/internal/source"
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
	return map[string]func(context.Context, *benchRun) error{
		kinds.DataCenterName: benchDataCenter, kinds.CASCName: benchCASC, kinds.WorldName: benchWorld, kinds.PacketsName: benchPackets,
	}[k.Name](ctx, b)
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
	var floor []float64
	list := func(s *kinds.Source) error {
		return list(ctx, s, "tree", false, func(nodes.Entry) error { return nil })
	}
	first, second, err := b.openings(ctx, list, func(s *kinds.Source) error { // the key is known by then
		start := time.Now()
		d, err := dataCenterOf(s)
		if err == nil {
			err = inflateAll(b.path, d.File().Key())
		}
		floor = append(floor, time.Since(start).Seconds())
		return err
	})
	if err != nil {
		return err
	}
	const table = "opening"
	b.add(table, floorRow, unitSeconds, floor)
	b.add(table, firstRow, unitSeconds, first)
	b.relate(floorRow)
	b.add(table, "second open", unitSeconds, second)
	b.relate(floorRow)
	return nil
}

// openings measures how many seconds it takes to open the source and do something with
// it: first with an empty cache folder, then with what that left there. After the second
// of each run, also is called, whose time is not part of that.
func (b *benchRun) openings(ctx context.Context, do, also func(*kinds.Source) error) (first, second []float64, err error) {
	for range b.flags.repeat {
		if err := os.RemoveAll(filepath.Join(b.dir, "lorefs")); err != nil {
			return nil, nil, err
		}
		seconds, err := b.timeOpening(ctx, do, nothing)
		if err != nil {
			return nil, nil, err
		}
		first = append(first, seconds)
		if seconds, err = b.timeOpening(ctx, do, also); err != nil {
			return nil, nil, err
		}
		second = append(second, seconds)
	}
	return first, second, nil
}

func (b *benchRun) timeOpening(ctx context.Context, do, also func(*kinds.Source) error) (seconds float64, err error) {
	start := time.Now()
	s, err := b.open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := do(s); err != nil {
		return 0, err
	}
	seconds = time.Since(start).Seconds()
	return seconds, also(s)
}

func nothing(*kinds.Source) error { return nil }

func (b *benchRun) open(ctx context.Context) (*kinds.Source, error) {
	return openSource(ctx, b.path, &b.flags.source, b.log, silence{}.set)
}

// inflateAll decrypts and inflates all there is, and does nothing with it.
func inflateAll(path string, key datacenter.Key) error {
	f, err := source.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		return err
	}
	const sizeField = 4 // before the zlib stream
	plain := io.NewSectionReader(cfb.NewReader(f, block, key.IV), sizeField, f.Size()-sizeField)
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
	b.total = s.Views[0].Nodes
	d, err := dataCenterOf(s)
	if err != nil {
		return err
	}
	root, err := d.File().Root()
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
	return list(ctx, s, "tree", false, func(e nodes.Entry) error {
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
