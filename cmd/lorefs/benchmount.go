package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lorefs/fs"
	"lorefs/internal/kinds"
	"lorefs/nodes"
)

// maxCopied is how many entries the tree in memory may have that a mount is
// compared to; each takes some 100 bytes.
const maxCopied = 4_000_000

// walker is a program that is sent through a mount.
type walker struct {
	name string
	args []string
	// whole lists tree/ itself, not the sheets.
	whole bool
}

var walkers = []walker{
	{"ls tree/", []string{"ls"}, true},
	{"find tree/", []string{"find"}, false},
	{"grep -r tree/", []string{"grep", "-r", "no value has this text"}, false},
}

// mounts measures programs on a mount of the source, beside a mount of a copy in
// memory: what is between them is lorefs' reading of the source.
func (b *benchRun) mounts(ctx context.Context) error {
	if can, err := b.canMount(); !can {
		return err
	}
	table := fmt.Sprintf("%d entries in %d sheets through a mount", b.entries, len(b.sheets))
	var rss []float64
	for _, w := range walkers {
		source, memory := newWalkTimes(), newWalkTimes()
		for range b.flags.repeat {
			r, err := b.through(ctx, w, source, false)
			if err != nil {
				return err
			}
			rss = append(rss, float64(r)/(1<<20))
			if b.entries > maxCopied {
				continue
			}
			if _, err := b.through(ctx, w, memory, true); err != nil {
				return err
			}
		}
		b.addWalk(table, w, source, memory)
	}
	b.add(table, "resident memory behind the mount", unitMemory, rss)
	return nil
}

// canMount tells whether something can be measured on a mount here.
func (b *benchRun) canMount() (bool, error) {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		b.log.Warn("nothing is measured on a mount", "err", err)
		return false, nil
	}
	return true, f.Close()
}

// walkTimes are the seconds that one walker took, on a fresh mount and again.
type walkTimes struct{ cold, warm []float64 }

func newWalkTimes() *walkTimes { return &walkTimes{} }

func (b *benchRun) addWalk(table string, w walker, source, memory *walkTimes) {
	for _, t := range []struct {
		temper         string
		source, memory []float64
	}{{"first", source.cold, memory.cold}, {"again", source.warm, memory.warm}} {
		unit, show := unitSeconds, func(s float64) float64 { return s }
		if !w.whole {
			unit, show = unitRate, func(s float64) float64 { return float64(b.entries) / s }
		}
		copied := w.name + ", " + t.temper + ", from memory"
		b.add(table, copied, unit, apply(t.memory, show))
		b.add(table, w.name+", "+t.temper, unit, apply(t.source, show))
		b.relate(copied)
	}
}

func apply(values []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// through mounts afresh, sends w through twice, and returns the resident memory
// of the serving process.
func (b *benchRun) through(ctx context.Context, w walker, to *walkTimes, fromMemory bool) (rss int64, err error) {
	var args []string
	if fromMemory {
		args = []string{"--copy", strconv.Itoa(len(b.sheets))}
	}
	err = b.mounted(ctx, args, func(dir, pid string) error {
		for _, times := range []*[]float64{&to.cold, &to.warm} {
			start := time.Now()
			if err := b.send(ctx, w, dir); err != nil {
				return err
			}
			*times = append(*times, time.Since(start).Seconds())
		}
		rss, _ = residentMemory(pid)
		return nil
	})
	return rss, err
}

// mounted mounts in a process of its own for as long as use runs, with more flags of
// bench serve.
func (b *benchRun) mounted(ctx context.Context, flags []string, use func(dir, pid string) error) (err error) {
	dir, err := os.MkdirTemp(b.dir, "mnt-")
	if err != nil {
		return err
	}
	// The context must not kill it: it has to unmount.
	server := b.self(context.WithoutCancel(ctx), append([]string{"bench", "serve", b.path, dir}, flags...)...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, server.Process.Signal(syscall.SIGTERM), server.Wait())
	}()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return errors.New("the mount did not come")
	}
	return use(dir, strconv.Itoa(server.Process.Pid))
}

// send runs one walker to its end. grep finds nothing, for which its code is 1.
func (b *benchRun) send(ctx context.Context, w walker, dir string) error {
	args := w.args[1:len(w.args):len(w.args)]
	if !w.whole {
		for _, s := range b.sheets {
			args = append(args, "./"+s)
		}
	}
	c := exec.CommandContext(ctx, w.args[0], args...)
	c.Dir = filepath.Join(dir, "tree")
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && w.args[0] == "grep" && exit.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", w.name, err, strings.TrimSpace(string(out[:min(len(out), 200)])))
	}
	return nil
}

// newBenchServe mounts in front for a bench, says so on stdout, and ends with
// SIGTERM. With --copy it serves a copy in memory of the first sheets.
func newBenchServe(log *slog.Logger) *cobra.Command {
	f := mountFlags{foreground: true}
	sheets := 0
	c := &cobra.Command{
		Use: "serve SOURCE MOUNTPOINT", Hidden: true, Args: exactArgs("SOURCE", "MOUNTPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := f.prepare(args[0], args[1], log)
			if err != nil {
				return err
			}
			m.mounted = func() error {
				_, err := fmt.Fprintln(c.OutOrStdout(), "mounted")
				return err
			}
			if sheets == 0 {
				return m.serve(c.Context())
			}
			return m.serveCopy(c.Context(), sheets)
		},
	}
	f.source.add(c.Flags())
	c.Flags().IntVar(&sheets, "copy", 0, "sheets")
	return annotate(c, endsItself, "true")
}

func (m *mounting) serveCopy(ctx context.Context, sheets int) error {
	ctx, stop := signal.NotifyContext(ctx, stopSignals...)
	defer stop()
	s, err := openSource(ctx, m.source, &m.flags.source, m.log, silence{}.set)
	if err != nil {
		return err
	}
	defer s.Close()
	tree, err := copySheets(ctx, s, sheets)
	if err != nil {
		return err
	}
	server, err := fs.Mount(ctx, m.dir, tree, fs.Options{OwnReads: true, Logger: m.log})
	if err != nil {
		return err
	}
	err = m.mounted()
	<-ctx.Done()
	return errors.Join(err, server.Unmount())
}

// copySheets makes a tree in memory with the names and contents of the first
// sheets of tree/.
func copySheets(ctx context.Context, s *kinds.Source, sheets int) (*nodes.Mem, error) {
	var b nodes.Builder
	from, err := s.Find(ctx, "tree")
	if err != nil {
		return nil, err
	}
	to := b.Dir(nodes.Root, "tree")
	for e, err := range s.Tree.ReadDir(ctx, from.ID, 0) {
		if err != nil {
			return nil, err
		}
		if e.Kind != nodes.Dir {
			continue
		}
		if sheets--; sheets < 0 {
			break
		}
		if err := copyDir(ctx, s, &b, e.ID, b.Dir(to, e.Name)); err != nil {
			return nil, err
		}
	}
	return b.Build(s.ModTime())
}

func copyDir(ctx context.Context, s *kinds.Source, b *nodes.Builder, from, to nodes.ID) error {
	for e, err := range s.Tree.ReadDir(ctx, from, 0) {
		if err != nil {
			return err
		}
		if e.Kind == nodes.Dir {
			if err := copyDir(ctx, s, b, e.ID, b.Dir(to, e.Name)); err != nil {
				return err
			}
			continue
		}
		if e, err = nodes.WithSize(ctx, s.Tree, e); err != nil {
			return err
		}
		content := make([]byte, e.Size)
		if _, err := s.Tree.ReadAt(ctx, e.ID, content, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		b.File(to, e.Name, string(content))
	}
	return nil
}
