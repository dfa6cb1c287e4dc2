package nodes_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"strings"
	"syscall"
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

// linked has links to a file, to a directory, to another link, to nothing and to itself.
func linked(t *testing.T) nodes.Tree {
	t.Helper()
	var b nodetest.Builder
	dir := b.Dir(nodes.Root, "dir")
	b.File(dir, "file", "text")
	b.Link(dir, "beside", "file")
	b.Link(nodes.Root, "into", "dir/beside")
	b.Link(nodes.Root, "to dir", "dir")
	b.Link(dir, "nowhere", "../nothing")
	b.Link(nodes.Root, "itself", "itself")
	m, err := b.Build(testTime)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		tree nodes.Tree
		at   string
	}{
		"in a Mem": {linked(t), ""},
		"in a mux": {newMux(t, nodes.Mount{Name: "files", Tree: plainTree{testFiles()}}, nodes.Mount{Name: "it", Tree: linked(t)}), "it/"},
	} {
		t.Run(name, func(t *testing.T) {
			nodetest.Run(t, c.tree)
			fsys := nodetest.FS(c.tree)
			if b, err := iofs.ReadFile(fsys, c.at+"into"); err != nil || string(b) != "text" {
				t.Errorf("into = %q, %v", b, err)
			}
			if target, err := iofs.ReadLink(fsys, c.at+"into"); err != nil || target != "dir/beside" {
				t.Errorf("into leads to %q, %v", target, err)
			}
			if entries, err := iofs.ReadDir(fsys, c.at+"to dir"); err != nil || len(entries) != 3 {
				t.Errorf("to dir has %v, %v", entries, err)
			}
			if _, err := iofs.Stat(fsys, c.at+"dir/nowhere"); !errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("nowhere: %v", err)
			}
			if _, err := iofs.Stat(fsys, c.at+"itself"); err == nil {
				t.Error("a link to itself leads somewhere")
			}
			if info, err := iofs.Lstat(fsys, c.at+"itself"); err != nil || info.Mode().Type() != iofs.ModeSymlink {
				t.Errorf("itself is %v, %v", info, err)
			}
		})
	}
}

func TestMux(t *testing.T) {
	inner, other := testFiles(), nodetest.MemFiles(testTime.Add(time.Hour), map[string]string{"only": "one"})
	m, err := nodes.NewMux(testTime, []nodes.Mount{
		{Name: "tree", Tree: inner},
		{Name: "info.json", Content: "{}\n"},
		{Name: "other", Tree: other},
	})
	if err != nil {
		t.Fatal(err)
	}
	nodetest.Run(t, m)
	if err := fstest.TestFS(nodetest.FS(m), "tree/a/b/c", "info.json", "other/only"); err != nil {
		t.Error(err)
	}
	e, err := m.Lookup(t.Context(), nodes.Root, "other")
	if err != nil || e.ID != 2<<60|nodes.Root || !e.ModTime.Equal(testTime.Add(time.Hour)) {
		t.Errorf("other = %+v, %v", e, err)
	}
}

func TestMuxRefusesEightTrees(t *testing.T) {
	var mounts []nodes.Mount
	for name := range strings.SplitSeq("a b c d e f g h", " ") {
		mounts = append(mounts, nodes.Mount{Name: name, Tree: testFiles()})
	}
	if _, err := nodes.NewMux(testTime, mounts); err == nil {
		t.Error("eight trees fit")
	}
	if _, err := nodes.NewMux(testTime, mounts[:7]); err != nil {
		t.Error(err)
	}
}

func TestMuxRefusesNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "a\x00", strings.Repeat("x", 256), "twice"} {
		for _, tree := range []nodes.Tree{nil, testFiles()} {
			if _, err := nodes.NewMux(testTime, []nodes.Mount{{Name: "twice"}, {Name: name, Tree: tree}}); err == nil {
				t.Errorf("a mount may be called %q", name)
			}
		}
	}
}

// rootless can't say anything about its root.
type rootless struct{ *nodetest.Mem }

func (r rootless) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if id == nodes.Root {
		return nodes.Attr{}, errors.New("the header is damaged")
	}
	return r.Mem.Attr(ctx, id)
}

func TestMuxListsAroundABrokenTree(t *testing.T) {
	broken := rootless{testFiles()}
	m, err := nodes.NewMux(testTime, []nodes.Mount{{Name: "broken", Tree: broken}, {Name: "good", Tree: testFiles()}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for e, err := range m.ReadDir(t.Context(), nodes.Root, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.ModTime.Equal(testTime) {
			t.Errorf("%s has the time %v, want %v", e.Name, e.ModTime, testTime)
		}
		names = append(names, e.Name)
	}
	if len(names) != 2 {
		t.Errorf("listed %q", names)
	}
}

func TestWalk(t *testing.T) {
	var got []string
	for e, err := range nodes.Walk(t.Context(), testFiles(), nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Path)
	}
	const want = "Sheet.1 Sheet.1/x a a/b a/b/c a/empty a/zzz hollow readme"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("walked %s\nwant   %s", s, want)
	}
}

func TestNotExist(t *testing.T) {
	err := nodes.NotExist("x")
	if !errors.Is(err, nodes.ErrNotExist) || !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("NotExist = %v matches too little", err)
	}
	if err := &(iofs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}); errors.Is(err, nodes.ErrNotExist) {
		t.Error("a file that the source lacks is taken for a name that the tree lacks")
	}
}
