package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/cmd/internal/cli"
	"lorefs/internal/testneeds"
)

// moving is a mount in which a writer counts up two values, always the first one first, while its
// source is saved again and again. Commands read it meanwhile.
type moving struct {
	t         *testing.T
	path, mnt string
	// base is the source without edits.
	base string
	// write writes one of the values.
	write func(value int, n int64) error
	// reads are commands, and what they print or write has both values, or none.
	reads []movingRead

	begun, done, commits atomic.Int64
}

// movingRead is a command that reads a mount.
type movingRead struct {
	args []string
	// exit is the exit code.
	exit int
	// files are what an export writes with the values; if there are none, they are printed.
	files []string
	// find finds the values, in their order, as submatches: in a file the first one counts.
	find *regexp.Regexp
	// only is set if the first value is the only one.
	only bool
}

// movingFirst is the first value. All have the same length, so that a single write changes a value.
const movingFirst = 10_000

// overwrite writes to the beginning of a file.
func overwrite(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	return err
}

func (m *moving) run() {
	m.t.Helper()
	end := time.Now().Add(time.Duration(testneeds.Cases(1, 4, 20)) * time.Second)
	over := func() bool { return time.Now().After(end) || m.t.Failed() }
	edit := func(n int64) {
		m.begun.Store(n)
		for value := range 2 {
			if err := m.write(value, n); err != nil {
				m.t.Errorf("write %d: %v", n, err)
			}
		}
		m.done.Store(n)
	}
	edit(movingFirst)
	var all sync.WaitGroup
	all.Go(func() {
		for n := int64(movingFirst + 1); !over(); n++ {
			edit(n)
			time.Sleep(time.Duration(n%7) * 5 * time.Millisecond)
		}
	})
	all.Go(func() {
		for ; !over(); m.commits.Add(1) {
			if out, err := execLorefs("commit", m.mnt); err != nil {
				m.t.Errorf("commit: %v: %s", err, out)
			}
			time.Sleep(time.Duration(m.commits.Load()%3) * 10 * time.Millisecond)
		}
	})
	reads, wrong := 0, 0
	for ; !over(); reads++ {
		if err := m.read(&m.reads[reads%len(m.reads)]); err != nil {
			wrong++
			m.t.Logf("%v", err)
		}
	}
	all.Wait()
	m.t.Logf("%d reads, %d wrong, beside %d commits and %d edits", reads, wrong, m.commits.Load(), 2*(m.done.Load()-movingFirst+1))
	if wrong > 0 {
		m.t.Errorf("%d of %d reads were wrong", wrong, reads)
	}
}

// read runs a command, and returns what is wrong with what it says.
func (m *moving) read(r *movingRead) error {
	args := append([]string{}, r.args...)
	out := filepath.Join(m.t.TempDir(), "out")
	for i, arg := range args {
		args[i] = strings.NewReplacer("MNT", m.mnt, "BASE", m.base, "OUT", out).Replace(arg)
	}
	least := m.done.Load()
	c := exec.CommandContext(context.Background(), "lorefs", args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	text, err := c.Output()
	most := m.begun.Load()
	if c.ProcessState.ExitCode() != r.exit {
		return fmt.Errorf("%s: %w: %s", strings.Join(r.args, " "), err, stderr.String())
	}
	if r.find == nil {
		return nil
	}
	found := r.find.FindAllSubmatch(text, -1)
	for _, file := range r.files {
		text, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			return err
		}
		found = append(found, r.find.FindSubmatch(text))
	}
	var values []int64
	for _, found := range found {
		n, err := strconv.ParseInt(string(found[1]), 10, 64)
		if err != nil {
			return err
		}
		values = append(values, n)
	}
	switch {
	case r.only && len(values) > 0:
		values = []int64{values[0], values[0]}
	case len(values) != 2:
		return fmt.Errorf("%s: it has %d values: %.500s", strings.Join(r.args, " "), len(values), text)
	}
	if a, b := values[0], values[1]; a > most || b < least || a < b || a > b+1 {
		return fmt.Errorf("%s: the values are %d and %d, and were written from %d to %d, the first one first",
			strings.Join(r.args, " "), a, b, least, most)
	}
	return nil
}

// TestReadsOfMovingMount reads mounts by commands while they are edited and saved: what these say has
// to be the state at one moment while they run.
func TestReadsOfMovingMount(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.FUSE(t)
	mount := func(t *testing.T, source string, flags ...string) *moving {
		t.Helper()
		made, err := madeSample()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
		m := &moving{t: t, path: filepath.Join(dir, source), mnt: t.TempDir(), base: filepath.Join(made, source)}
		if source == "resources.dat" {
			if err := os.WriteFile(m.path, resourceOf(t, "a.txt", "original\n", "b.txt", "original\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _, _ = execLorefs("unmount", "--discard", m.mnt) })
		runTool(t, "", "lorefs", append([]string{"-q", "mount", "--rw", m.path, m.mnt}, flags...)...)
		return m
	}

	t.Run("data center", func(t *testing.T) {
		m := mount(t, "DataCenter_Final_Sample.dat")
		files := []string{"tree/ItemData.2/Item/price", "tree/ItemData.3/Item/price"}
		m.write = func(value int, n int64) error {
			return overwrite(filepath.Join(m.mnt, files[value]), fmt.Sprintln(n))
		}
		m.reads = []movingRead{
			{args: []string{"query", "MNT", "//Item[@id=1200]/@price | //Item[@id=1300]/@price"}, find: regexp.MustCompile(`price = (\d+)`)},
			{args: []string{"export", "MNT", "OUT", "sheets/ItemData"}, find: regexp.MustCompile(`<Item id="1[23]00"[^>]* price="(\d+)"`), files: []string{
				"ItemData/ItemData-00002.xml", "ItemData/ItemData-00003.xml",
			}},
			{args: []string{"cat", "MNT", "tree/ItemData.2/Item/price"}, find: regexp.MustCompile(`(\d+)`), only: true},
			{args: []string{"diff", "BASE", "MNT"}, exit: cli.ExitFailure, find: regexp.MustCompile(`(?m)^\+ .*price.* (\d+)$`)},
			{args: []string{"find", "MNT", "--name", "price"}},
			{args: []string{"info", "MNT"}},
		}
		m.run()
	})

	t.Run("resources", func(t *testing.T) {
		m := mount(t, "resources.dat")
		files := []string{"a.txt", "b.txt"}
		m.write = func(value int, n int64) error {
			return overwrite(filepath.Join(m.mnt, files[value]), fmt.Sprintf("%8d\n", n))
		}
		m.reads = []movingRead{
			{args: []string{"export", "MNT", "OUT"}, find: regexp.MustCompile(`(\d+)`), files: files},
			{args: []string{"cat", "MNT", "a.txt"}, find: regexp.MustCompile(`(\d+)`), only: true},
			{args: []string{"ls", "-l", "MNT"}},
		}
		m.run()
	})

	t.Run("world", func(t *testing.T) {
		m := mount(t, "world", "--quality", "1")
		files := []string{squareName("x1000y1000", 17*120+93), squareName("x1000y1001", 17*120+93)}
		texts, err := readSquares(m.mnt)
		if err != nil {
			t.Fatal(err)
		}
		m.write = func(value int, n int64) error {
			before, behind, _ := strings.Cut(texts[files[value]], firstVolume)
			_, behind, _ = strings.Cut(behind, ",")
			return byRename(filepath.Join(m.mnt, files[value]), fmt.Appendf(nil, "%s%s%d,%s", before, firstVolume, n, behind))
		}
		find := regexp.MustCompile(regexp.QuoteMeta(firstVolume) + `(\d+),`)
		m.reads = []movingRead{
			{args: []string{"export", "MNT", "OUT", "squares", "--include", "017-093.json"}, find: find, files: []string{
				strings.TrimPrefix(files[0], "squares/"), strings.TrimPrefix(files[1], "squares/"),
			}},
			{args: []string{"cat", "MNT", files[0]}, find: find, only: true},
			{args: []string{"find", "MNT", "squares", "--name", "017-093.json"}},
		}
		m.run()
	})
}
