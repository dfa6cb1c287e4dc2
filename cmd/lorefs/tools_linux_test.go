package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/sample"
	"lorefs/datacenter"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

// The fixtures for the tools: the same content in two layouts.
const (
	smallX64 = "datacenter/p115_small_x64.dat"
	smallX86 = "datacenter/p115_small_x86.dat"
)

// mountFile mounts with the program itself, until the end of the test.
func mountFile(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	runTool(t, "", "lorefs", "mount", path, dir)
	t.Cleanup(func() {
		if out, err := exec.Command("lorefs", "unmount", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v: %s", err, out)
			detachBelow(filepath.Dir(dir))
		}
	})
	return dir
}

// ownFolders gives a test cache and state folders that it shares with no other test. It can't be
// used in parallel tests.
func ownFolders(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("XDG_STATE_HOME", dir)
}

// runTool runs a program and returns its output.
func runTool(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	testneeds.Program(t, name)
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v: %.500s", name, err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("%s says %.500s", name, stderr.String())
	}
	return string(out)
}

// part is some of the sheets of a source, as tools should see them.
type part struct {
	*kinds.Source
	names []string
	// files and dirs count the sheets and everything below them. They and bytes are what
	// count counts.
	files, dirs int
	bytes       int64
}

// openPart opens a file and selects sheets of at most limit entries.
func openPart(t *testing.T, path string, limit int64) *part {
	t.Helper()
	f := &options.SourceFlags{Kind: options.KindAuto, Layout: "auto", CacheSize: options.DefaultCacheSize, CacheBase: t.TempDir()}
	s, err := reach.OpenSource(t.Context(), path, f, slog.New(slog.DiscardHandler), cli.Silence{}.Set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p, entries, full := &part{Source: s}, int64(0), false
	tree, err := s.Find(t.Context(), "tree")
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range s.Tree.ReadDir(t.Context(), tree.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if full || e.Kind != nodes.Dir {
			continue
		}
		n := int64(0)
		for _, err := range nodes.Walk(t.Context(), s.Tree, e.ID) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if full = entries+n > limit && len(p.names) > 0; full {
				break
			}
		}
		if !full {
			p.names, entries = append(p.names, e.Name), entries+n
		}
	}
	if len(p.names) == 0 {
		t.Fatalf("no sheets: %v", err)
	}
	return p
}

// dataCenterFile returns the file of a source that is a data center.
func dataCenterFile(t *testing.T, s *kinds.Source) *datacenter.File {
	t.Helper()
	d, err := reach.DataCenterOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return d.File()
}

func (p *part) count(t *testing.T) {
	t.Helper()
	for e, err := range p.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == nodes.Dir {
			p.dirs++
		} else {
			p.files++
			p.bytes += e.Size
		}
	}
}

// all yields the sheets and everything below them, with paths below tree/.
func (p *part) all(ctx context.Context) iter.Seq2[nodes.WalkEntry, error] {
	return func(yield func(nodes.WalkEntry, error) bool) {
		for _, name := range p.names {
			sheet, err := p.Find(ctx, "tree/"+name)
			if !yield(nodes.WalkEntry{Entry: sheet.Entry, Path: name}, err) {
				return
			}
			for e, err := range nodes.Walk(ctx, p.Tree, sheet.ID) {
				e.Path = name + "/" + e.Path
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

func (p *part) content(ctx context.Context, e nodes.Entry) ([]byte, error) {
	b := make([]byte, e.Size)
	n, err := p.Tree.ReadAt(ctx, e.ID, b, 0)
	if err != nil && !errors.Is(err, io.EOF) || n != len(b) {
		return nil, fmt.Errorf("read %d of %d bytes: %w", n, len(b), err)
	}
	return b, nil
}

// with appends the sheets to a program's arguments.
func (p *part) with(args ...string) []string { return append(args, p.names...) }

// TestTools runs ordinary tools on a mount of real data.
func TestTools(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	path := testneeds.Fixture(t, smallX64)
	limit := int64(30_000)
	if testneeds.Quick() {
		limit = 3_000
	}
	p := openPart(t, path, limit)
	p.count(t)
	mnt := mountFile(t, path)
	tree := filepath.Join(mnt, "tree")
	if got := strings.Count(runTool(t, mnt, "ls", "tree"), "\n"); int64(got) != dataCenterFile(t, p.Source).Counts().Sheets {
		t.Errorf("ls shows %d sheets, want %d", got, dataCenterFile(t, p.Source).Counts().Sheets)
	}
	for name, tool := range map[string]func(t *testing.T, p *part, tree string){
		"find": toolFind, "ls": toolLs, "grep": toolGrep, "cat": toolCat, "cp": toolCp, "rsync": toolRsync,
		"du": toolDu, "stat": toolStat, "getfattr": toolGetfattr,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool(t, p, tree)
		})
	}
}

func toolFind(t *testing.T, p *part, tree string) {
	var want strings.Builder
	for e, err := range p.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "%d %s\n", e.ID, e.Path)
	}
	got := runTool(t, tree, "find", p.with()...)
	if n := strings.Count(got, "\n"); n != p.files+p.dirs {
		t.Errorf("found %d, want %d", n, p.files+p.dirs)
	}
	if got := runTool(t, tree, "find", append(p.with(), "-printf", `%i %p\n`)...); got != want.String() {
		t.Error("find sees other names or numbers than the tree has")
	}
}

func toolLs(t *testing.T, p *part, tree string) {
	files, dirs := 0, 0
	for line := range strings.Lines(runTool(t, tree, "ls", p.with("-lR", "--time-style=+%s")...)) {
		switch {
		case strings.HasPrefix(line, "-r--r--r--"):
			files++
		case strings.HasPrefix(line, "dr-xr-xr-x"):
			dirs++
		}
	}
	if files != p.files || dirs != p.dirs-len(p.names) {
		t.Errorf("%d files and %d directories, want %d and %d", files, dirs, p.files, p.dirs-len(p.names))
	}
}

func toolGrep(t *testing.T, p *part, tree string) {
	if got := len(runTool(t, tree, "grep", p.with("-rha", "")...)); int64(got) != p.bytes {
		t.Errorf("%d bytes, want %d", got, p.bytes)
	}
}

func toolCat(t *testing.T, p *part, tree string) {
	got := runTool(t, tree, "find", append(p.with(), "-type", "f", "-exec", "cat", "{}", "+")...)
	if int64(len(got)) != p.bytes {
		t.Errorf("%d bytes, want %d", len(got), p.bytes)
	}
}

func toolCp(t *testing.T, p *part, tree string) {
	to := t.TempDir()
	runTool(t, tree, "cp", append(p.with("-a"), to)...)
	defer writable(t, to)
	p.compare(t, to)
}

func toolRsync(t *testing.T, p *part, tree string) {
	to := t.TempDir()
	runTool(t, tree, "rsync", append(p.with("-a"), to)...)
	defer writable(t, to)
	p.compare(t, to)
	if out := runTool(t, tree, "rsync", append(p.with("-ai"), to)...); out != "" {
		t.Errorf("the second time it copies %.500s", out)
	}
}

// writable makes a copy of read-only directories removable.
func writable(t *testing.T, dir string) {
	t.Helper()
	runTool(t, dir, "chmod", "-R", "u+w", ".")
}

// compare checks that dir has the part, with its contents and times.
func (p *part) compare(t *testing.T, dir string) {
	t.Helper()
	n := 0
	for e, err := range p.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if err := p.compareOne(t.Context(), filepath.Join(dir, e.Path), e.Entry); err != nil {
			t.Errorf("%s: %v", e.Path, err)
		}
	}
	got := 0
	err := filepath.WalkDir(dir, func(_ string, _ iofs.DirEntry, err error) error {
		got++
		return err
	})
	if err != nil || got != n+1 {
		t.Errorf("the copy has %d entries, want %d: %v", got-1, n, err)
	}
}

func (p *part) compareOne(ctx context.Context, path string, e nodes.Entry) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() != (e.Kind == nodes.Dir):
		return fmt.Errorf("is of mode %v", info.Mode())
	case !info.ModTime().Equal(p.ModTime()):
		return fmt.Errorf("is of %v, want %v", info.ModTime(), p.ModTime())
	case info.IsDir():
		return nil
	}
	want, err := p.content(ctx, e)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("holds %.100q, want %.100q", got, want)
	}
	return err
}

func toolDu(t *testing.T, p *part, tree string) {
	total := int64(0)
	for line := range strings.Lines(runTool(t, tree, "du", p.with("-sb")...)) {
		n, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	if total != p.bytes {
		t.Errorf("%d bytes, want %d", total, p.bytes)
	}
}

func toolStat(t *testing.T, p *part, tree string) {
	var paths []string
	var want strings.Builder
	for e, err := range p.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != nodes.File {
			continue
		}
		paths = append(paths, e.Path)
		fmt.Fprintf(&want, "%d %d %d regular file 444\n", e.ID, e.Size, p.ModTime().Unix())
		if len(paths) == 1000 {
			break
		}
	}
	got := runTool(t, tree, "stat", append([]string{"-c", "%i %s %Y %F %a"}, paths...)...)
	if got != want.String() {
		t.Errorf("stat says %.300s\nwant %.300s", got, want.String())
	}
}

func toolGetfattr(t *testing.T, p *part, tree string) {
	got := runTool(t, tree, "getfattr", p.with("-R", "-P", "-d", "-m", "^user[.]lorefs[.]type$")...)
	if n := strings.Count(got, "user.lorefs.type="); n != p.files {
		t.Errorf("%d files have a type, want %d", n, p.files)
	}
}

// TestSizes compares the size of every file before any read with the size that a read finds.
func TestSizes(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	testneeds.FUSE(t)
	path := testneeds.Fixture(t, smallX64)
	limit := int64(60_000)
	if testneeds.Quick() {
		limit = 10_000
	}
	p := openPart(t, path, limit)
	tree := filepath.Join(mountFile(t, path), "tree")
	for e, err := range p.all(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != nodes.File {
			continue
		}
		if err := p.compareOne(t.Context(), filepath.Join(tree, e.Path), e.Entry); err != nil {
			t.Errorf("%s: %v", e.Path, err)
		}
	}
}

// TestTwoMounts compares the inode numbers in two mounts, of one layout and of another.
func TestTwoMounts(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	testneeds.FUSE(t)
	path, other := testneeds.Fixture(t, smallX64), testneeds.Fixture(t, smallX86)
	limit := int64(30_000)
	if testneeds.Quick() {
		limit = 3_000
	}
	p := openPart(t, path, limit)
	first, again, x86 := mountFile(t, path), mountFile(t, path), mountFile(t, other)
	list := func(mnt string) string {
		return runTool(t, filepath.Join(mnt, "tree"), "find", append(p.with(), "-printf", `%i %y %s %p\n`)...)
	}
	if list(first) != list(again) {
		t.Error("two mounts of a file differ")
	}
	for _, name := range p.names {
		runTool(t, "", "diff", "-r", filepath.Join(first, "tree", name), filepath.Join(x86, "tree", name))
	}
	if inode(t, filepath.Join(first, "datacenter.json")) != inode(t, filepath.Join(again, "datacenter.json")) {
		t.Error("the number of datacenter.json differs")
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

// TestLayoutsAgree compares two files with the same content.
func TestLayoutsAgree(t *testing.T) {
	testneeds.Slow(t, "walks two trees of 2.7 million entries")
	ownFolders(t)
	a := openPart(t, testneeds.Fixture(t, smallX64), 1<<40)
	b := openPart(t, testneeds.Fixture(t, smallX86), 1<<40)
	wantSame(t, a, b)
}

// wantSame walks two parts at the same time, and compares their contents.
func wantSame(t *testing.T, a, b *part) {
	t.Helper()
	if !slices.Equal(a.names, b.names) || len(a.names) == 0 {
		t.Fatalf("the sheets are %d, and %d", len(a.names), len(b.names))
	}
	next, stop := iter.Pull2(b.all(t.Context()))
	defer stop()
	for x, err := range a.all(t.Context()) {
		y, yErr, ok := next()
		if err != nil || yErr != nil || !ok {
			t.Fatalf("%v, %v, %v", err, yErr, ok)
		}
		if x.Path != y.Path || x.Kind != y.Kind || x.Size != y.Size {
			t.Fatalf("%+v and %+v", x, y)
		}
		if x.Kind != nodes.File {
			continue
		}
		xb, err := a.content(t.Context(), x.Entry)
		if err != nil {
			t.Fatal(err)
		}
		yb, err := b.content(t.Context(), y.Entry)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(xb, yb) {
			t.Fatalf("%s: %q and %q", x.Path, xb, yb)
		}
	}
	if y, err, more := next(); more {
		t.Fatalf("then there is %+v, %v, too", y, err)
	}
}

// TestMountType mounts by mount(8), which needs a helper in /sbin. The test adds and removes
// it.
func TestMountType(t *testing.T) {
	testneeds.FUSE(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can install a helper for mount(8)")
	}
	ownFolders(t)
	source := madeSampleFile(t, sample.DataCenterName)
	for _, fsType := range []string{"lorefs", "fuse.lorefs"} {
		t.Run(fsType, func(t *testing.T) {
			installHelper(t, "mount."+fsType)
			mnt := t.TempDir()
			runTool(t, "", "mount", "-t", fsType, "-o", "noatime,nofail,cache_size=16M", source, mnt)
			if got, err := os.ReadFile(filepath.Join(mnt, "tree/ItemData/Item/id")); err != nil || len(got) == 0 {
				t.Errorf("read %q, %v", got, err)
			}
			runTool(t, "", "lorefs", "unmount", mnt)
		})
	}
}

func installHelper(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join("/sbin", name)
	if _, err := os.Lstat(path); err == nil {
		t.Skipf("%s is there already", path)
	}
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(path, b, 0o755)
	}
	if err != nil {
		t.Skipf("can't install a helper: %v", err)
	}
	t.Cleanup(func() { os.Remove(path) })
}

// TestSixteenReaders reads a mount with sixteen processes at once, which the race detector
// checks.
func TestSixteenReaders(t *testing.T) {
	t.Parallel()
	testneeds.Seconds(t)
	testneeds.FUSE(t)
	what := []string{"."}
	if testneeds.Quick() {
		what = []string{"ItemData", "ItemData.1"}
	}
	readBySixteen(t, filepath.Join(mountFile(t, madeSampleFile(t, sample.DataCenterName)), "tree"), what...)
}

// readBySixteen reads a part of a folder with sixteen processes at once, which must all see
// the same.
func readBySixteen(t *testing.T, folder string, what ...string) {
	t.Helper()
	const readers = 16
	const script = `set -e; ls -d "$@"; find "$@" -type f | sort | xargs -d '\n' cat | sha256sum; find "$@" -printf '%i %s %p\n' | sort | sha256sum`
	sums := make([]string, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			c := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh"}, what...)...)
			c.Dir = folder
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("reader %d: %v: %.300s", i, err, out)
			}
			sums[i] = string(out)
		})
	}
	all.Wait()
	for i, sum := range sums {
		if sum != sums[0] || len(sum) < 2*64 {
			t.Errorf("reader %d has %q, the first %q", i, sum, sums[0])
		}
	}
}
