package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lorefs/internal/kinds"
	"lorefs/nodes"
)

// walkResult is what the child process tells that walks.
type walkResult struct {
	Entries int64   `json:"entries"`
	Seconds float64 `json:"seconds"`
	// RSS and PeakRSS are resident memory in bytes, 0 where it is not known.
	RSS     int64 `json:"rss"`
	PeakRSS int64 `json:"peak_rss"`
}

// walking measures a tenth of the tree, names, sizes and contents, in a process
// of its own, so that its memory is that of the walk.
func (b *benchRun) walking(ctx context.Context) error {
	limit := (b.total + 9) / 10
	var rate, rss, peak []float64
	for range b.flags.repeat {
		out, err := b.self(ctx, "bench", "walk", "--limit", strconv.FormatInt(limit, 10), b.path).Output()
		if err != nil {
			return childError("walk", err)
		}
		var r walkResult
		if err := json.Unmarshal(out, &r); err != nil {
			return err
		}
		rate = append(rate, float64(r.Entries)/r.Seconds)
		if r.RSS > 0 {
			rss = append(rss, float64(r.RSS)/(1<<20))
			peak = append(peak, float64(r.PeakRSS)/(1<<20))
		}
	}
	table := fmt.Sprintf("walking %d of %d entries without a mount", limit, b.total)
	b.add(table, "list and read", unitRate, rate)
	b.add(table, fmt.Sprintf("resident memory, of it cache at most %s", b.flags.source.cacheSize.String()), unitMemory, rss)
	b.add(table, "resident memory, peak", unitMemory, peak)
	return nil
}

// self is this program with the flags of the source and the cache of the bench.
func (b *benchRun) self(ctx context.Context, args ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	more, env := b.flags.source.passOn()
	c := exec.CommandContext(ctx, exe, append(args, more...)...)
	c.Args[0] = os.Args[0]
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+b.dir, "XDG_STATE_HOME="+b.dir)
	c.Env = append(c.Env, env...)
	return c
}

// childError adds what a child wrote on stderr.
func childError(what string, err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		return fmt.Errorf("%s: %s", what, strings.TrimSpace(string(exit.Stderr)))
	}
	return fmt.Errorf("%s: %w", what, err)
}

func newBenchWalk(log *slog.Logger) *cobra.Command {
	var f sourceFlags
	limit := int64(0)
	c := &cobra.Command{
		Use: "walk SOURCE", Hidden: true, Args: exactArgs("SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			debug.SetMemoryLimit(int64(f.cacheSize) + baseMemory)
			s, err := openSource(c.Context(), args[0], &f, log, silence{}.set)
			if err != nil {
				return err
			}
			defer s.Close()
			r, err := walk(c.Context(), s, limit)
			if err != nil {
				return err
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(r)
		},
	}
	f.add(c.Flags())
	c.Flags().Int64Var(&limit, "limit", 0, "entries")
	return c
}

// walk reads the first entries of tree/.
func walk(ctx context.Context, s *kinds.Source, limit int64) (walkResult, error) {
	var r walkResult
	tree, err := s.Find(ctx, "tree")
	if err != nil {
		return r, err
	}
	buf := make([]byte, 64<<10)
	start := time.Now()
	for e, err := range nodes.Walk(ctx, s.Tree, tree.ID) {
		if err != nil {
			return r, err
		}
		if e.Kind == nodes.File {
			if _, err := s.Tree.ReadAt(ctx, e.ID, buf, 0); err != nil && !errors.Is(err, io.EOF) {
				return r, err
			}
		}
		if r.Entries++; r.Entries == limit {
			break
		}
	}
	r.Seconds = time.Since(start).Seconds()
	r.RSS, r.PeakRSS = residentMemory("self")
	return r, nil
}

// residentMemory asks the system for that of a process, now and at its peak. It
// is 0 where there is no /proc.
func residentMemory(pid string) (now, peak int64) {
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(fields[1], 10, 64) // fields without a number are not ours
		switch fields[0] {
		case "VmRSS:":
			now = n << 10
		case "VmHWM:":
			peak = n << 10
		}
	}
	return now, peak
}
