//go:build linux

package fs_test

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
)

// The shapes to measure: small directories, as a data center has, and large
// ones, as other sources have.
var shapes = []shape{
	{"node", 30_000, 3},
	{"flat", 300, 300},
}

// The programs that walk a mount; none finds or prints anything of interest.
var walkers = []struct {
	name string
	args []string
}{
	{"find", []string{"find"}},
	{"ls", []string{"ls", "-lR"}},
	{"grep", []string{"grep", "-r", "no such text"}},
}

// The adapter is measured without a bound on inodes, as the floor is, and with
// the default one, which is below what the shapes need.
var adapters = []struct {
	name      string
	maxInodes int
}{
	{"adapter", -1},
	{"bounded", 0},
}

func (s shape) tree(t testing.TB) *nodes.Mem {
	t.Helper()
	var b nodes.Builder
	for i := range s.dirs {
		dir := b.Dir(nodes.Root, s.dirName(i))
		for j := range s.files {
			b.File(dir, s.fileName(j), shapeContent)
		}
	}
	m, err := b.Build(time.Unix(1_500_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// BenchmarkWalk measures the adapter over a tree in memory beside the floor, each
// cold (just mounted) and warm (the second time), in entries a second.
func BenchmarkWalk(b *testing.B) {
	for _, s := range shapes {
		tree := s.tree(b)
		for _, w := range walkers {
			for _, a := range adapters {
				b.Run(s.name+"/"+w.name+"/"+a.name, func(b *testing.B) {
					benchWalk(b, s.entries(), w.args, func() (string, func()) { return mountTree(b, tree, a.maxInodes) })
				})
			}
			b.Run(s.name+"/"+w.name+"/floor", func(b *testing.B) {
				benchWalk(b, s.entries(), w.args, func() (string, func()) { return mountFloor(b, s) })
			})
		}
	}
}

func mountTree(b *testing.B, tree nodes.Tree, maxInodes int) (string, func()) {
	fusetest.Require(b)
	dir := b.TempDir()
	s, err := fs.Mount(b.Context(), dir, tree, fs.Options{MaxInodes: maxInodes, NoXattr: true})
	if err != nil {
		b.Skipf("cannot mount here: %v", err)
	}
	return dir, func() {
		if err := s.Unmount(); err != nil {
			b.Errorf("%v", err)
			_ = fs.Detach(dir)
		}
	}
}

func benchWalk(b *testing.B, entries int, args []string, mount func() (string, func())) {
	var cold, warm time.Duration
	for b.Loop() {
		dir, unmount := mount()
		cold += walk(b, args, dir)
		warm += walk(b, args, dir)
		unmount()
	}
	total := float64(entries) * float64(b.N)
	b.ReportMetric(total/cold.Seconds(), "cold-entries/s")
	b.ReportMetric(total/warm.Seconds(), "warm-entries/s")
	b.ReportMetric(0, "ns/op") // the two runs and the mounting together say nothing
}

// walk runs a program over dir and takes its time. grep exits with 1, as it finds nothing.
func walk(t testing.TB, args []string, dir string) time.Duration {
	t.Helper()
	cmd := exec.Command(args[0], append(args[1:len(args):len(args)], dir)...)
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return took
}
