package nodetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

var testTime = time.Unix(1_500_000_000, 123_456_789)

func testFiles() *nodetest.Mem {
	return nodetest.MemFiles(testTime, map[string]string{
		"a/b/c":     "deep\n",
		"a/empty":   "",
		"a/zzz":     strings.Repeat("0123456789", 1000),
		"hollow/":   "",
		"readme":    "hello\n",
		"Sheet.1/x": "1002\n",
	})
}

func TestMem(t *testing.T) {
	nodetest.Run(t, testFiles())
}

func TestMemXattrs(t *testing.T) {
	var b nodetest.Builder
	dir := b.Dir(nodes.Root, "dir")
	file := b.File(dir, "file", "text")
	b.SetXattr(file, "user.lorefs.type", []byte("int"))
	b.SetModTime(dir, testTime.Add(time.Hour))
	m, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	nodetest.Run(t, m)
	if v, err := m.Xattr(t.Context(), file, "user.lorefs.type"); err != nil || string(v) != "int" {
		t.Errorf("Xattr = %q, %v", v, err)
	}
}

func TestBuilderRefusesWhatIsNoTree(t *testing.T) {
	for name, build := range map[string]func(*nodetest.Builder){
		"name twice":       func(b *nodetest.Builder) { b.File(nodes.Root, "a", ""); b.Dir(nodes.Root, "a") },
		"slash":            func(b *nodetest.Builder) { b.File(nodes.Root, "a/b", "") },
		"dots":             func(b *nodetest.Builder) { b.Dir(nodes.Root, "..") },
		"no name":          func(b *nodetest.Builder) { b.Dir(nodes.Root, "") },
		"long name":        func(b *nodetest.Builder) { b.Dir(nodes.Root, strings.Repeat("x", 256)) },
		"file as parent":   func(b *nodetest.Builder) { b.File(b.File(nodes.Root, "a", ""), "b", "") },
		"parent not there": func(b *nodetest.Builder) { b.File(99, "a", "") },
	} {
		t.Run(name, func(t *testing.T) {
			var b nodetest.Builder
			build(&b)
			if m, err := b.Build(testTime); err == nil {
				t.Errorf("got a tree of %d nodes", m.Usage().Nodes)
			}
		})
	}
}

func TestMemFilesRefusesAbsolutePaths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	nodetest.MemFiles(testTime, map[string]string{"/x": ""})
}

func TestCopy(t *testing.T) {
	m, err := nodetest.Copy(t.Context(), testFiles())
	if err != nil {
		t.Fatal(err)
	}
	nodetest.Run(t, m)
	if got, want := m.Usage(), testFiles().Usage(); got != want {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}

// TestLateSizes leaves sizes to Attr in listings.
func TestLateSizes(t *testing.T) {
	tree := &nodetest.LateSizes{Tree: testFiles()}
	nodetest.Run(t, tree)
	if err := fstest.TestFS(nodetest.FS(tree), "a/b/c", "readme"); err != nil {
		t.Error(err)
	}
}

func TestFS(t *testing.T) {
	if err := fstest.TestFS(nodetest.FS(testFiles()), "a/b/c", "a/empty", "hollow", "Sheet.1/x"); err != nil {
		t.Error(err)
	}
}

// brokenTree reads less of a file than Attr promises.
type brokenTree struct {
	*nodetest.Mem
	short int
	end   error
}

func (b brokenTree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, err := b.Mem.ReadAt(ctx, id, p, off)
	if b.end != nil && n > 0 {
		return n - b.short, b.end
	}
	return n, err
}

func TestFSReadsNoPartOfAFile(t *testing.T) {
	wrapped := fmt.Errorf("inflate: %w", io.EOF)
	for name, c := range map[string]struct {
		tree brokenTree
		want error
	}{
		"early EOF":    {brokenTree{short: 2, end: io.EOF}, io.ErrUnexpectedEOF},
		"wrapped EOF":  {brokenTree{short: 2, end: wrapped}, wrapped},
		"EOF in place": {brokenTree{end: io.EOF}, nil},
	} {
		c.tree.Mem = nodetest.MemFiles(testTime, map[string]string{"x": "text"})
		fsys := nodetest.FS(c.tree)
		if _, err := iofs.ReadFile(fsys, "x"); !errors.Is(err, c.want) {
			t.Errorf("%s: ReadFile: %v, want %v", name, err, c.want)
		}
		f, err := fsys.Open("x")
		if err != nil {
			t.Fatal(err)
		}
		if p, err := io.ReadAll(f); !errors.Is(err, c.want) {
			t.Errorf("%s: ReadAll: %q, %v, want %v", name, p, err, c.want)
		}
	}
	if _, err := iofs.ReadFile(nodetest.FS(testFiles()), "a"); err == nil {
		t.Error("a directory can be read")
	}
}
