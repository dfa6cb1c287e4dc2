package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lorefs/internal/shown"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	source  sourceFlags
	repeat  int
	entries int64
	asJSON  bool
}

func newBench(log *slog.Logger) *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench SOURCE",
		Short: "measure this machine on a source",
		Long: `bench measures how fast SOURCE is opened, walked, and walked through a mount, each
beside what the same costs without lorefs' part in it. Times are the best and the
median of some runs; only ratios say something beyond this machine. It uses a cache
folder of its own.`,
		Args: exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			b, err := newBenchRun(&f, args[0], log)
			if err != nil {
				return err
			}
			defer os.RemoveAll(b.dir)
			if err := b.all(ctx); err != nil {
				return err
			}
			return b.print(c.OutOrStdout(), f.asJSON)
		},
	}
	f.source.add(c.Flags())
	c.Flags().IntVar(&f.repeat, "repeat", 3, "runs of each measurement")
	c.Flags().Int64Var(&f.entries, "entries", 250_000, "files and directories to walk through a mount at most")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.AddCommand(newBenchWalk(log), newBenchServe(log))
	return c
}

// measure is one row of the tables.
type measure struct {
	Table  string  `json:"table"`
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Best   float64 `json:"best"`
	Median float64 `json:"median"`
	// Ratio is Best over that of Of, or 0.
	Ratio float64 `json:"ratio,omitempty"`
	Of    string  `json:"of,omitempty"`
}

const (
	unitSeconds = "s"
	unitRate    = "entries" + perSecond
	unitMemory  = "MiB"

	perSecond = "/s"
)

// add turns the values of some runs into a row. Of rates more is better, of all
// else less.
func (b *benchRun) add(table, what, unit string, values []float64) {
	if len(values) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(values))
	m := measure{Table: table, What: what, Unit: unit, Best: sorted[0], Median: sorted[len(sorted)/2]}
	if strings.HasSuffix(unit, perSecond) {
		m.Best = sorted[len(sorted)-1]
	}
	b.rows = append(b.rows, m)
}

// relate gives the last row of a table a ratio to another.
func (b *benchRun) relate(of string) {
	last := &b.rows[len(b.rows)-1]
	for _, m := range b.rows {
		if m.Table == last.Table && m.What == of && m.Best > 0 {
			last.Of, last.Ratio = of, last.Best/m.Best
		}
	}
}

func (b *benchRun) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return shown.JSONDocument(w).Encode(b.rows)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	table := ""
	for _, m := range b.rows {
		if m.Table != table {
			table = m.Table
			shown.Fprintf(t, "\n%s\t\tbest\tmedian\t\n", table)
		}
		ratio := ""
		if m.Of != "" {
			ratio = figure(m.Ratio) + " x " + m.Of
		}
		shown.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", m.What, m.Unit, figure(m.Best), figure(m.Median), ratio)
	}
	return t.Flush()
}

// figure shows three digits, or all of those before the point.
func figure(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
