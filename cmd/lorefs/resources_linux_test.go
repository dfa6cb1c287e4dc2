package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/nodes/resourcetree/resource"
)

// TestResources compares a mount of a container that novadrop packed with the sums of its files,
// and packs the mount and an export anew.
func TestResources(t *testing.T) {
	fixture, sums := testneeds.Fixture(t, "resources/novadrop_rc.dat"), testneeds.Fixture(t, "resources/novadrop_rc.sha256")
	mnt := mountFile(t, fixture)
	if out := runTool(t, mnt, "sha256sum", "-c", sums); strings.Count(out, ": OK\n") != 9 {
		t.Errorf("%s", out)
	}
	want, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if p := launch(t, "lorefs", "export", fixture, out); p.wait() != nil {
		t.Fatal(p.output.String())
	}
	runTool(t, dir, "diff", "-r", out, mnt)
	for i, from := range []string{out, mnt} {
		to := filepath.Join(dir, fmt.Sprintf("%d.dat", i))
		if p := launch(t, "lorefs", "pack", "--kind", "resources", from, to); p.wait() != nil {
			t.Error(p.output.String())
		}
		if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is packed as other bytes: %v", from, err)
		}
	}
}

// crashedResources is a crashed container.
type crashedResources struct{ *crash }

// crashedFiles are the files that are edited, and crashedLarge is one that is not.
var crashedFiles = []string{"a.txt", "b.txt", "c.txt", "moved.txt", "made.txt"}

const crashedLarge = "large.bin"

// newCrashedResources makes the container. It is large enough that a save takes some time.
func newCrashedResources(t *testing.T) *crashedResources {
	t.Helper()
	w := &crashedResources{newCrash(t, "resources.dat")}
	var b bytes.Buffer
	err := resource.Write(&b, func(yield func(resource.File) bool) {
		for _, name := range append(crashedFiles[:3:3], crashedLarge) {
			text := w.text(name)
			if !yield(resource.File{Name: name, Size: int64(len(text)), Content: bytes.NewReader(text)}) {
				return
			}
		}
	})
	if err == nil {
		err = os.WriteFile(w.path, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// text returns the original content of a file.
func (w *crashedResources) text(name string) []byte {
	if name == crashedLarge {
		return bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	}
	return []byte("original\n")
}

func (w *crashedResources) anyTexts()       {}
func (w *crashedResources) flags() []string { return nil }
func (w *crashedResources) names() []string { return crashedFiles }

func (w *crashedResources) value(text string) string { return plainValue(text) }

func (w *crashedResources) values() map[string]string {
	all := w.contents()
	delete(all, crashedLarge)
	return all
}

// contents returns what the container holds.
func (w *crashedResources) contents() map[string]string {
	w.t.Helper()
	data, err := os.ReadFile(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := resource.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		w.t.Fatalf("after kill %d: %v", w.killed, err)
	}
	all := map[string]string{}
	for i := range c.Len() {
		b := make([]byte, c.Size(i))
		if n, err := c.ReadAt(i, b, 0); n != len(b) {
			w.t.Fatal(err)
		}
		all[c.Name(i)] = w.value(string(b))
	}
	return all
}

func (w *crashedResources) unchanged() {
	w.t.Helper()
	all := w.contents()
	if all[crashedLarge] != string(w.text(crashedLarge)) {
		w.t.Errorf("after kill %d, %s has changed", w.killed, crashedLarge)
	}
	for _, name := range append([]string{crashedLarge}, crashedFiles...) {
		delete(all, name)
	}
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, sedTemp) })
	if len(all) > 0 {
		w.t.Errorf("after kill %d there are other files, too: %v", w.killed, slices.Sorted(maps.Keys(all)))
	}
}

// TestCrashResources is TestCrash for a container.
func TestCrashResources(t *testing.T) {
	w := newCrashedResources(t)
	w.run(w, testneeds.Cases(10, 50, 300))
}

// TestCrashCommitResources is TestCrashCommit for a container.
func TestCrashCommitResources(t *testing.T) {
	w := newCrashedResources(t)
	w.runCommits(w, testneeds.Cases(3, 12, 300))
}
