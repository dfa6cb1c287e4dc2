package main

import (
	"bufio"
	"compress/zlib"
	"context"
	"crypto/aes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lorefs/datacenter"
	"lorefs/internal/app/budget"
	"lorefs/internal/app/kinds"
	"lorefs/internal/cfb"
	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// benchRun is a run of bench. go test -bench measures parts of lorefs, and mounts.
type benchRun struct {
	source  sourceFlags
	repeat  int
	entries int64
	asJSON  bool

	log *slog.Logger
	// path is the source, and below the part of it that is measured.
	path, below string
	// values are the measurements of each row.
	values map[string][]float64
	// failed counts files that could not be read.
	failed int
}

func newBench(log *slog.Logger) *cobra.Command {
	b := benchRun{log: log, values: map[string][]float64{}}
	c := &cobra.Command{
		Use:   "bench SOURCE [PATH]",
		Short: "measure this machine on a source",
		Long: `bench measures how long SOURCE takes to open, and how fast lorefs walks and reads its
directory PATH without a mount. Without PATH it takes tree of a data center, files of a CASC
storage, zones of world geometry, and everything of packets.

For a data center, bench also measures how long Go's standard library takes to decrypt and
inflate it. bench prints the best and the median time of some runs. Compare ratios: the
times themselves hold for this machine only. bench uses a cache folder of its own.`,
		Args: func(c *cobra.Command, args []string) error {
			return exactArgs("SOURCE", "PATH")(c, append(args, "")[:max(len(args), 2)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if b.repeat < 1 || b.entries < 1 {
				return usageErrorf("--repeat and --entries have to be at least 1")
			}
			b.path = args[0]
			if len(args) > 1 {
				b.below = args[1]
			}
			if err := b.run(c.Context()); err != nil {
				return err
			}
			return b.print(c.OutOrStdout())
		},
	}
	b.source.add(c.Flags())
	c.Flags().IntVar(&b.repeat, "repeat", 3, "runs of each measurement")
	c.Flags().Int64Var(&b.entries, "entries", 250_000, "files and directories to walk and read at most")
	addJSON(c, &b.asJSON, oneObject)
	return c
}

func (b *benchRun) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "lorefs-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.source.cacheBase = dir
	if b.path, _, err = b.source.sourceOf(b.path, io.Discard); err != nil {
		return err
	}
	if _, err := b.source.kindOf(ctx, b.path, b.log); err != nil { // takes the settings as well
		return err
	}
	budget.Mount(int64(b.source.cacheSize))
	for range b.repeat {
		if err := os.RemoveAll(filepath.Join(dir, "lorefs")); err != nil {
			return err
		}
		if err := b.open(ctx, rowOpen, func(*kinds.Source) error { return nil }); err != nil {
			return err
		}
		budget.Free() // as a mount does after the first pass
		// The index exists now.
		err := b.open(ctx, rowOpenAgain, func(s *kinds.Source) error { return errors.Join(b.readAll(ctx, s), b.floor(s)) })
		if err != nil {
			return err
		}
	}
	if b.failed > 0 {
		b.log.Warn("files that can't be read are left out", "reads", b.failed)
	}
	return nil
}

// open opens the source, lists the part to measure, and calls do, whose time does not count.
func (b *benchRun) open(ctx context.Context, row string, do func(*kinds.Source) error) (err error) {
	start := time.Now()
	s, err := openSource(ctx, b.path, &b.source, b.log, silence{}.set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if b.below == "" {
		b.below = benchedOf(ctx, s)
	}
	l := lister{out: bufio.NewWriter(io.Discard), source: s, spell: func(name string) string { return name }}
	if err := l.list(ctx, b.below); err != nil {
		return err
	}
	b.add(row, time.Since(start).Seconds())
	return do(s)
}

// benchedOf returns the directory that is measured by default. It has nothing that is
// rendered, such as pictures, since that would dominate the times.
func benchedOf(ctx context.Context, s *kinds.Source) string {
	if _, err := s.Find(ctx, s.Kind.Plain); err != nil || s.Kind.Plain == "" {
		return "/"
	}
	return s.Kind.Plain
}

// floor measures the least that reading a data center can cost.
func (b *benchRun) floor(s *kinds.Source) error {
	d, is := s.DataCenter()
	if !is {
		return nil
	}
	start := time.Now()
	if err := inflateAll(b.path, d.File().Key()); err != nil {
		return err
	}
	b.add(rowFloor, time.Since(start).Seconds())
	return nil
}

// inflateAll decrypts and inflates a data center, and discards the result.
func inflateAll(path string, key datacenter.Key) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		return err
	}
	const sizeField = 4 // before the zlib stream
	z, err := zlib.NewReader(io.NewSectionReader(cfb.NewReader(f, block, key.IV), sizeField, math.MaxInt64-sizeField))
	if err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, z); err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	return nil
}

// readAll reads the first file below PATH, then walks all files, and then reads them.
func (b *benchRun) readAll(ctx context.Context, s *kinds.Source) error {
	top, err := s.Find(ctx, b.below)
	if err != nil {
		return err
	}
	for _, row := range []string{rowFirstRead, rowWalk, rowRead} {
		start := time.Now()
		p, err := b.pass(ctx, s, top.ID, row)
		if err != nil {
			return err
		}
		seconds := max(time.Since(start).Seconds(), 1e-6) // a clock of Windows may not have ticked
		switch {
		case row == rowWalk:
			b.add(row, float64(p.entries)/seconds)
		case p.files == 0:
		case row == rowFirstRead:
			b.add(row, seconds)
		default:
			b.add(row, float64(p.files)/seconds)
			b.add(rowBytes, float64(p.bytes)/1e6/seconds)
		}
	}
	if peak := ownPeak(); peak > 0 {
		b.add(rowMemory, float64(peak)/(1<<20))
	}
	return nil
}

// maxBenchBytes is the largest number of bytes that are read of a source.
const maxBenchBytes = 4 << 30

// passed counts entries and files, and the bytes that were read.
type passed struct{ entries, files, bytes int64 }

// pass walks a directory, and reads its files unless row is the walk's.
func (b *benchRun) pass(ctx context.Context, s *kinds.Source, dir nodes.ID, row string) (p passed, err error) {
	buf := make([]byte, 128<<10) // the size of reads through a mount
	for e, err := range nodes.Walk(ctx, s.Tree, dir) {
		if err == nil {
			e.Entry, err = nodes.WithSize(ctx, s.Tree, e.Entry)
		}
		if err != nil {
			return p, err
		}
		p.entries++
		if e.Kind == nodes.File && row != rowWalk && p.bytes+e.Size <= maxBenchBytes {
			r := s.Content(ctx, e.Entry)
			// Hide other methods: io.CopyBuffer would use them, with another buffer.
			n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buf)
			if err != nil {
				b.failed++
			}
			p.files, p.bytes = p.files+1, p.bytes+n
		}
		if p.entries == b.entries || row == rowFirstRead && p.files > 0 {
			break
		}
	}
	return p, nil
}

// ownPeak returns the peak memory of this process, or 0 without /proc.
func ownPeak() (bytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(peak, &bytes); err != nil {
		return 0
	}
	return bytes << 10
}

// The names of the rows.
const (
	rowFloor     = "inflate"
	rowOpen      = "open"
	rowOpenAgain = "open_again"
	rowFirstRead = "read_first"
	rowWalk      = "walk"
	rowRead      = "read"
	rowBytes     = "read_bytes"
	rowMemory    = "memory"

	perSecond = "/s"
)

// measured is a row of the table. Ratio is Best divided by that of the row with the name Of; both
// may be empty.
type measured struct {
	Name   string  `json:"name"`
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Best   float64 `json:"best"`
	Median float64 `json:"median"`
	Ratio  float64 `json:"ratio,omitempty"`
	Of     string  `json:"of,omitempty"`
}

// benched are the measurements as --json prints them.
type benched struct {
	Source string `json:"source"`
	// Path is the directory that was measured, and Entries how many entries of it at most.
	Path         string     `json:"path"`
	Entries      int64      `json:"entries"`
	Measurements []measured `json:"measurements"`
}

// benchRows are all rows in their order.
var benchRows = []measured{
	{Name: rowFloor, What: "decrypt and inflate alone", Unit: "s"},
	{Name: rowOpen, What: "first open, until PATH is listed", Unit: "s", Of: rowFloor},
	{Name: rowOpenAgain, What: "open again", Unit: "s", Of: rowFloor},
	{Name: rowFirstRead, What: "read the first file", Unit: "s"},
	{Name: rowWalk, What: "walk, names and sizes", Unit: "entries" + perSecond},
	{Name: rowRead, What: "walk and read all files", Unit: "files" + perSecond},
	{Name: rowBytes, What: "the same in bytes", Unit: "MB" + perSecond},
	{Name: rowMemory, What: "memory at its peak", Unit: "MiB"},
}

func (b *benchRun) add(row string, value float64) { b.values[row] = append(b.values[row], value) }

// results returns the rows that were measured.
func (b *benchRun) results() (rows []measured) {
	best := map[string]float64{}
	for _, m := range benchRows {
		values := slices.Sorted(slices.Values(b.values[m.Name]))
		if len(values) == 0 {
			continue
		}
		m.Best, m.Median = values[0], values[len(values)/2]
		if strings.HasSuffix(m.Unit, perSecond) {
			m.Best = values[len(values)-1]
		}
		if best[m.Name] = m.Best; best[m.Of] > 0 {
			m.Ratio = m.Best / best[m.Of]
		} else {
			m.Of = ""
		}
		rows = append(rows, m)
	}
	return rows
}

func (b *benchRun) print(w io.Writer) error {
	if b.asJSON {
		return jsonout.Object(w, benched{b.path, b.below, b.entries, b.results()})
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown.Fprintf(t, "at most %d entries of %s\t\tbest\tmedian\t\n", b.entries, b.below)
	for _, m := range b.results() {
		ratio := ""
		if m.Of != "" {
			ratio = figure(m.Ratio) + " x " + whatOf(m.Of)
		}
		shown.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.What, m.Unit, figure(m.Best), figure(m.Median), ratio)
	}
	return t.Flush()
}

// whatOf returns what a row measures.
func whatOf(name string) string {
	i := slices.IndexFunc(benchRows, func(m measured) bool { return m.Name == name })
	return benchRows[i].What
}

// figure returns three digits, or all before the point.
func figure(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
