//go:build linux

package fs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/datacenter"
	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/packettree"
	"lorefs/protocol"
	"lorefs/protocol/capture"
	"lorefs/protocol/dissect"
	"lorefs/protocol/prototest"
)

// shape is a tree of equal directories below the root, whose files have the same few bytes.
// It measures nothing but the cost of requests.
type shape struct {
	name        string
	dirs, files int
}

// shapes are the shapes to measure: small directories as in a data center, and large ones
// as in other sources.
var shapes = []shape{
	{"node", 30_000, 3},
	{"flat", 300, 300},
}

const shapeContent = "sword_of_truth\n"

func (s shape) entries() int64        { return int64(s.dirs * (s.files + 1)) }
func (s shape) dirName(i int) string  { return fmt.Sprintf("Item.%d", i) }
func (s shape) fileName(j int) string { return fmt.Sprintf("attr%d", j) }

func (s shape) tree(t testing.TB) *nodetest.Mem {
	t.Helper()
	var b nodetest.Builder
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

// walkers are programs that walk a mount. None finds or prints anything of interest.
var walkers = []struct {
	name string
	args []string
}{
	{"find", []string{"find"}},
	{"ls", []string{"ls", "-lR"}},
	{"grep", []string{"grep", "-r", "no such text"}},
}

// mounter mounts what is measured.
type mounter struct {
	name  string
	mount func(b *testing.B) (dir string, unmount func())
}

func adapter(name string, tree nodes.Tree, maxInodes int) mounter {
	return mounter{name, func(b *testing.B) (string, func()) { return mountTree(b, tree, maxInodes) }}
}

func lowest(tree nodes.Tree) mounter {
	return mounter{"floor", func(b *testing.B) (string, func()) { return mountFloor(b, tree) }}
}

// BenchmarkWalk measures the adapter over a tree in memory beside the floor, each cold
// (just mounted) and warm (the second time), in entries a second. It measures the adapter
// without a bound on inodes, like the floor, and with the default bound, which the shapes
// exceed.
func BenchmarkWalk(b *testing.B) {
	for _, s := range shapes {
		tree := s.tree(b)
		for _, w := range walkers {
			for _, m := range []mounter{adapter("adapter", tree, -1), adapter("bounded", tree, 0), lowest(tree)} {
				b.Run(s.name+"/"+w.name+"/"+m.name, func(b *testing.B) { benchWalk(b, s.entries(), w.args, "", m) })
			}
		}
	}
}

// BenchmarkDataCenter measures a real data center beside the same tree in memory by the
// same adapter, and by the floor.
func BenchmarkDataCenter(b *testing.B) {
	data, err := os.ReadFile("../../shared/fixtures/datacenter/p115_small_x64.dat")
	if err != nil {
		b.Skipf("a fixture is missing: %v", err)
	}
	f, err := datacenter.Open(b.Context(), bytes.NewReader(data), int64(len(data)),
		datacenter.Options{Blocks: blockcache.New(256 << 20).View()})
	if err != nil {
		b.Fatal(err)
	}
	tree, err := dctree.New(f, dctree.Options{ModTime: time.Unix(1_500_000_000, 0)})
	if err != nil {
		b.Fatal(err)
	}
	same, err := nodetest.Copy(b.Context(), tree)
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range walkers {
		for _, m := range []mounter{
			adapter("dctree", tree, 0), adapter("memory", same, 0),
			adapter("dctree-unbounded", tree, -1), adapter("memory-unbounded", same, -1), lowest(same),
		} {
			b.Run(w.name+"/"+m.name, func(b *testing.B) { benchWalk(b, 0, w.args, oneSheet, m) })
		}
	}
}

// BenchmarkCASC measures a storage of 300,000 files, opened anew for each mount, beside the same
// names by the floor: their names alone, and what find(1) needs to look at sizes.
func BenchmarkCASC(b *testing.B) {
	l, err := casctest.NewLarge(300_000)
	if err != nil {
		b.Fatal(err)
	}
	game := filepath.Join(b.TempDir(), "game")
	if err := l.Files.Write(game); err != nil {
		b.Fatal(err)
	}
	open := func(b *testing.B) *casctree.Tree {
		st, err := casc.OpenPath(game, casc.Options{Blocks: blockcache.New(256 << 20).View()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { st.Close() })
		list := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(l.List)), nil }
		tree, err := casctree.New(b.Context(), st, casctree.Options{ListFiles: []casctree.ListFile{{Name: "list.csv", Open: list}}})
		if err != nil {
			b.Fatal(err)
		}
		return tree
	}
	same, err := nodetest.Copy(b.Context(), open(b))
	if err != nil {
		b.Fatal(err)
	}
	storage := mounter{"casctree", func(b *testing.B) (string, func()) { return mountTree(b, open(b), 0) }}
	for _, w := range []struct {
		name string
		args []string
	}{{"names", []string{"find"}}, {"sizes", []string{"find", "-size", "+1G"}}} {
		simplest := mounter{"empty", func(b *testing.B) (string, func()) { return mountEmpty(b, same) }}
		for _, m := range []mounter{storage, adapter("memory", same, 0), adapter("unbounded", same, -1), simplest, lowest(same)} {
			b.Run(w.name+"/"+m.name, func(b *testing.B) { benchWalk(b, 0, w.args, "files", m) })
		}
	}
}

// BenchmarkPackets lists packets/ of a session of 200,000 packets, with a tree made anew for each
// mount, beside the same names by the floor: names alone, as ls does, and with all sizes, for
// which each packet is decoded.
func BenchmarkPackets(b *testing.B) {
	const packets = 200_000
	data, err := prototest.Log(1, packets)
	if err != nil {
		b.Fatal(err)
	}
	lib, err := protocol.OpenLibrary(prototest.Files(), protocol.LibraryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := dissect.Open(b.Context(), bytes.NewReader(data), int64(len(data)), capture.Options{}, lib, dissect.Options{})
	if err != nil {
		b.Fatal(err)
	}
	open := func() nodes.Tree {
		tree := packettree.New(r, lib, packettree.Options{ModTime: time.Unix(1_500_000_000, 0)})
		b.Cleanup(tree.Close)
		return tree
	}
	session := mounter{"packettree", func(b *testing.B) (string, func()) { return mountTree(b, open(), 0) }}
	same := open()
	simplest := mounter{"empty", func(b *testing.B) (string, func()) { return mountEmpty(b, same) }}
	for _, w := range []struct {
		name string
		args []string
	}{{"names", []string{"ls"}}, {"sizes", []string{"ls", "-l"}}} {
		for _, m := range []mounter{session, simplest} {
			b.Run(w.name+"/"+m.name, func(b *testing.B) { benchWalk(b, packets, w.args, "packets", m) })
		}
	}
}

// oneSheet has some 100,000 entries; the whole file would take minutes.
const oneSheet = "SkillData"

func mountTree(b *testing.B, tree nodes.Tree, maxInodes int) (string, func()) {
	dir, s := fusetest.Serve(b, tree, fs.Options{MaxInodes: maxInodes, NoXattr: true})
	return dir, func() {
		if err := s.Unmount(); err != nil {
			b.Error(err) // fusetest detaches it in the end
		}
	}
}

// benchWalk walks what is below. entries is their number, or 0 to count them with find(1).
func benchWalk(b *testing.B, entries int64, args []string, below string, m mounter) {
	var cold, warm time.Duration
	for b.Loop() {
		dir, unmount := m.mount(b)
		dir = filepath.Join(dir, below)
		cold += walk(b, args, dir)
		warm += walk(b, args, dir)
		if entries == 0 {
			out, err := exec.Command("find", dir).Output()
			if err != nil {
				b.Error(err)
			}
			entries = int64(bytes.Count(out, []byte("\n")))
		}
		unmount()
	}
	total := float64(entries) * float64(b.N)
	b.ReportMetric(total/cold.Seconds(), "cold-entries/s")
	b.ReportMetric(total/warm.Seconds(), "warm-entries/s")
	b.ReportMetric(0, "ns/op") // the two runs and the mounting together say nothing
}

// walk runs a program over dir and returns how long it took.
func walk(t testing.TB, args []string, dir string) time.Duration {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil && !foundNothing(args[0], err) {
		t.Fatalf("%s: %v", args[0], err)
	}
	return took
}

// foundNothing reports whether a program ended like grep without a match.
func foundNothing(program string, err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && program == "grep" && exit.ExitCode() == 1
}
