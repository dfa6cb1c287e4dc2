package casctree_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
)

// benchFiles is the number of files of a large game.
const benchFiles = 1_500_000

// benchDir names the folder of the storage for the process that opens it.
const benchDir = "LOREFS_CASC_BENCH"

// dirStore is an IndexStore of files.
type dirStore string

func (d dirStore) Load(key string) ([]byte, error) { return os.ReadFile(filepath.Join(string(d), key)) }

func (d dirStore) Save(key string, data []byte) error {
	return os.WriteFile(filepath.Join(string(d), key), data, 0o600)
}

// BenchmarkOpen opens a storage of 1.5 million files in processes of their own: first with
// an empty store, then with the filled one.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	l, err := casctest.NewLarge(benchFiles)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Files.Write(filepath.Join(dir, "game")); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "list.csv"), []byte(l.List), 0o600); err != nil {
		b.Fatal(err)
	}
	l = nil
	for b.Loop() {
		store := filepath.Join(dir, "store")
		if err := os.RemoveAll(store); err != nil {
			b.Fatal(err)
		}
		if err := os.Mkdir(store, 0o700); err != nil {
			b.Fatal(err)
		}
		for _, which := range []string{"first", "second"} {
			for m := range strings.FieldsSeq(openElsewhere(b, dir)) {
				name, value, _ := strings.Cut(m, "=")
				v, err := strconv.ParseFloat(value, 64)
				if err != nil {
					b.Fatalf("%s: %v", m, err)
				}
				b.ReportMetric(v, which+"-"+name)
			}
		}
	}
}

func openElsewhere(b *testing.B, dir string) string {
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestOpenProcess$", "-test.v")
	cmd.Env = append(os.Environ(), benchDir+"="+dir)
	out, err := cmd.Output()
	_, found, ok := strings.Cut(string(out), "measured: ")
	if err != nil || !ok {
		b.Fatalf("%v: %s", err, out)
	}
	line, _, _ := strings.Cut(found, "\n")
	return line
}

// TestOpenProcess is the process of BenchmarkOpen.
func TestOpenProcess(t *testing.T) {
	dir := os.Getenv(benchDir)
	if dir == "" {
		t.Skip("it is the other process of BenchmarkOpen")
	}
	start := time.Now()
	st, err := casc.OpenPath(filepath.Join(dir, "game"), casc.Options{Blocks: blockcache.New(64 << 20).View()})
	if err != nil {
		t.Fatal(err)
	}
	storage := time.Since(start)
	tree, err := casctree.New(context.Background(), st, casctree.Options{
		Index:     dirStore(filepath.Join(dir, "store")),
		ListFiles: []casctree.ListFile{{Name: "list.csv", Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, "list.csv")) }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	opened, peak := time.Since(start), memory(t)
	files := 0
	for w, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(w.Path, "manifests") {
			break // rendered for their sizes
		}
		files++
	}
	walked := time.Since(start) - opened
	fmt.Printf("measured: storage-ms=%d open-ms=%d open-MB=%d walk-ms=%d walk-MB=%d entries=%d\n",
		storage.Milliseconds(), opened.Milliseconds(), peak, walked.Milliseconds(), memory(t), files)
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// memory returns the peak memory of the process, in MB.
func memory(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return kb >> 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// BenchmarkNames opens a storage of 300,000 files for the second time and lists its names, as find
// does without a mount.
func BenchmarkNames(b *testing.B) {
	l, err := casctest.NewLarge(300_000)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "game")
	if err := l.Files.Write(dir); err != nil {
		b.Fatal(err)
	}
	opts := casctree.Options{ListFiles: []casctree.ListFile{listFile(l.List)}, Index: newStore()}
	names := listNames(b, dir, opts)
	for b.Loop() {
		listNames(b, dir, opts)
	}
	b.ReportMetric(float64(b.N*names)/b.Elapsed().Seconds(), "names/s")
}

func listNames(b *testing.B, dir string, opts casctree.Options) (names int) {
	st, err := casc.OpenPath(dir, casc.Options{Blocks: blockcache.New(64 << 20).View()})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	tree, err := casctree.New(b.Context(), st, opts)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"files", "unnamed"} {
		dir, err := tree.Lookup(b.Context(), nodes.Root, name)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range nodes.Walk(b.Context(), tree, dir.ID) {
			if err != nil {
				b.Fatal(err)
			}
			names++
		}
	}
	return names
}
