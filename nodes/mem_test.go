package nodes_test

import (
	"errors"
	iofs "io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

var testTime = time.Unix(1_500_000_000, 123_456_789)

func testFiles() *nodes.Mem {
	return nodes.MemFiles(testTime, map[string]string{
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
	var b nodes.Builder
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

// linked has links to a file, to a directory, to another link, to nothing and to itself.
func linked(t *testing.T) nodes.Tree {
	t.Helper()
	var b nodes.Builder
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
			fsys := nodes.FS(c.tree)
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

// TestLateSizes leaves sizes to Attr in listings.
func TestLateSizes(t *testing.T) {
	tree := &nodetest.LateSizes{Tree: testFiles()}
	nodetest.Run(t, tree)
	if err := fstest.TestFS(nodes.FS(tree), "a/b/c", "readme"); err != nil {
		t.Error(err)
	}
}

func TestBuilderRefusesWhatIsNoTree(t *testing.T) {
	for name, build := range map[string]func(*nodes.Builder){
		"name twice":       func(b *nodes.Builder) { b.File(nodes.Root, "a", ""); b.Dir(nodes.Root, "a") },
		"slash":            func(b *nodes.Builder) { b.File(nodes.Root, "a/b", "") },
		"dots":             func(b *nodes.Builder) { b.Dir(nodes.Root, "..") },
		"no name":          func(b *nodes.Builder) { b.Dir(nodes.Root, "") },
		"long name":        func(b *nodes.Builder) { b.Dir(nodes.Root, strings.Repeat("x", 256)) },
		"file as parent":   func(b *nodes.Builder) { b.File(b.File(nodes.Root, "a", ""), "b", "") },
		"parent not there": func(b *nodes.Builder) { b.File(99, "a", "") },
	} {
		t.Run(name, func(t *testing.T) {
			var b nodes.Builder
			build(&b)
			if m, err := b.Build(testTime); err == nil {
				t.Errorf("got a tree of %d nodes", m.Usage().Nodes)
			}
		})
	}
}

func TestMux(t *testing.T) {
	inner, other := testFiles(), nodes.MemFiles(testTime.Add(time.Hour), map[string]string{"only": "one"})
	m, err := nodes.NewMux(testTime, []nodes.Mount{
		{Name: "tree", Tree: inner},
		{Name: "info.json", Content: "{}\n"},
		{Name: "other", Tree: other},
	})
	if err != nil {
		t.Fatal(err)
	}
	nodetest.Run(t, m)
	if err := fstest.TestFS(nodes.FS(m), "tree/a/b/c", "info.json", "other/only"); err != nil {
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

func TestFS(t *testing.T) {
	if err := fstest.TestFS(nodes.FS(testFiles()), "a/b/c", "a/empty", "hollow", "Sheet.1/x"); err != nil {
		t.Error(err)
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
