package treeput_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/cmd/internal/treeput"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

func files(texts map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range texts {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// TestPut puts a folder with a file that is equal, one that begins like the tree's, one that goes on like it,
// one that is long, a new folder, hidden files, and lacks one.
func TestPut(t *testing.T) {
	long := strings.Repeat("0123456789", 100_000)
	tree := nodetest.NewMutable(map[string]string{
		"a/same": long, "a/shorter": "one two", "a/longer": "one", "a/long": long, "a/gone": "x", "a/kept": "y", "b/other": "z",
	})
	from := files(map[string]string{
		"a/same": long, "a/shorter": "one", "a/longer": "one two", "a/long": long + "!", "new/file": "1", "new/.hidden": "2",
		".git/config": "3", "a/left.bak": "4", "empty/left.bak": "5",
	})
	r, err := treeput.Put(t.Context(), tree, nodes.Root, from, treeput.Options{
		Takes:   func(file string) bool { return !strings.HasSuffix(file, ".bak") },
		First:   func(file string) bool { return file == "new/file" },
		Removes: func(file string) bool { return file != "a/kept" },
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.Changed)
	if !slices.Equal(r.Changed, []string{"a/long", "a/longer", "a/shorter"}) || !slices.Equal(r.Made, []string{"new/file"}) ||
		!slices.Equal(r.Removed, []string{"a/gone"}) || r.Same != 1 || r.Problems != nil || r.Fixed != nil {
		t.Errorf("%.300v", r)
	}
	want := map[string]string{
		"a/same": long, "a/shorter": "one", "a/longer": "one two", "a/long": long + "!", "a/kept": "y", "b/other": "z", "new/file": "1",
	}
	for name, text := range want {
		if got := read(t, tree, name); got != text {
			t.Errorf("%s: %.40q, want %.40q", name, got, text)
		}
	}
	for _, name := range []string{"a/gone", "a/left.bak", "empty", ".git", "new/.hidden"} {
		if _, err := lookup(t, tree, name); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	again, err := treeput.Put(t.Context(), tree, nodes.Root, from, treeput.Options{Takes: func(file string) bool { _, ok := want[file]; return ok }})
	if err != nil || len(again.Changed)+len(again.Made)+len(again.Removed) > 0 || again.Same != 5 {
		t.Errorf("again: %.300v, %v", again, err)
	}
}

func lookup(t *testing.T, tree nodes.Tree, name string) (e nodes.Entry, err error) {
	t.Helper()
	e.ID = nodes.Root
	for part := range strings.SplitSeq(name, "/") {
		if e, err = tree.Lookup(t.Context(), e.ID, part); err != nil {
			return e, err
		}
	}
	return e, nil
}

func read(t *testing.T, tree nodes.Tree, name string) string {
	t.Helper()
	e, err := lookup(t, tree, name)
	if err != nil {
		t.Error(err)
		return ""
	}
	attr, err := tree.Attr(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, attr.Size)
	if n, err := tree.ReadAt(t.Context(), e.ID, text, 0); n < len(text) {
		t.Fatal(n, err)
	}
	return string(text)
}
