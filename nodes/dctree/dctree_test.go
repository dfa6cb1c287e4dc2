package dctree_test

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
)

func newTree(t testing.TB, doc dctest.Doc, opts dctest.Options) *dctree.Tree {
	t.Helper()
	return treeOf(t, dctest.Build(doc, opts), dctree.Options{})
}

func treeOf(t testing.TB, data []byte, opts dctree.Options) *dctree.Tree {
	t.Helper()
	f := dctest.Open(t, data)
	if opts.ModTime.IsZero() {
		opts.ModTime = time.Unix(1_600_000_000, 0)
	}
	tree, err := dctree.New(f, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestConformance(t *testing.T) {
	for _, ex := range dctest.Legal() {
		t.Run(ex.Name, func(t *testing.T) {
			ex.Options.Seal = dctest.SealOptions{}
			nodetest.Run(t, newTree(t, ex.Doc, ex.Options))
		})
	}
	t.Run("generated", func(t *testing.T) {
		nodetest.Run(t, newTree(t, dctest.Generate(dctest.GenOptions{Seed: 2, Sheets: 30, Nodes: 3000}), dctest.Options{}))
	})
}

// list returns the names in a directory.
func list(t *testing.T, tree nodes.Tree, dir nodes.ID) []string {
	t.Helper()
	var names []string
	for e, err := range tree.ReadDir(t.Context(), dir, 0) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}

// find returns the entry of a path.
func find(t *testing.T, tree nodes.Tree, path ...string) nodes.Entry {
	t.Helper()
	e := nodes.Entry{ID: nodes.Root}
	for _, name := range path {
		var err error
		if e, err = tree.Lookup(t.Context(), e.ID, name); err != nil {
			t.Fatalf("%v at %q: %v", path, name, err)
		}
	}
	return e
}

func read(t *testing.T, tree nodes.Tree, path ...string) string {
	t.Helper()
	e := find(t, tree, path...)
	b := make([]byte, e.Size+10)
	n, err := tree.ReadAt(t.Context(), e.ID, b, 0)
	if !errors.Is(err, io.EOF) || int64(n) != e.Size {
		t.Fatalf("%v: read %d bytes of %d: %v", path, n, e.Size, err)
	}
	return string(b[:n])
}

func TestNamesAndValues(t *testing.T) {
	tree := newTree(t, dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "Item", Attrs: []dctest.Attr{
			{Name: "id", Value: 7},
			{Name: "speed", Value: float32(1.5)},
			{Name: "good", Value: true},
			{Name: "name", Value: "검 \xed\xa0\x80\n"},
			{Name: "empty", Value: ""},
			dctest.Text("text"),
			{Name: "Part", Value: -1},
		}, Children: []*dctest.Node{{Name: "Part"}, {Name: "Part"}, {Name: "Part"}}},
		&dctest.Node{Name: "Item"},
	)}, dctest.Options{})
	for path, want := range map[string]string{
		"id": "7\n", "speed": "1.5\n", "good": "true\n", "name": "검 \xed\xa0\x80\n\n", "empty": "\n",
		"__value__": "text\n", "@Part": "-1\n",
	} {
		if got := read(t, tree, "Item", path); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
	if got, want := strings.Join(list(t, tree, nodes.Root), " "), "Item Item.1"; got != want {
		t.Errorf("root has %s, want %s", got, want)
	}
	got := list(t, tree, find(t, tree, "Item").ID)
	if want := "Part Part.1 Part.2"; strings.Join(got[len(got)-3:], " ") != want {
		t.Errorf("Item has %s, want it to end in %s", got, want)
	}
	for _, name := range []string{"Item.0", "Item.01", "Item.2", "Item.", "Item.x", "@Item", "item", "", ".", "id", "Item.99999999999999999999"} {
		if e, err := tree.Lookup(t.Context(), nodes.Root, name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("Lookup(%q) = %v, %v, want ErrNotExist", name, e, err)
		}
	}
}

func TestXattrs(t *testing.T) {
	tree := newTree(t, dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "A", Keys: []string{"id", "kind"}, Flags: 1, Attrs: []dctest.Attr{
			{Name: "id", Value: 7}, {Name: "kind", Value: "x"}, {Name: "f", Value: float32(0)}, {Name: "b", Value: false},
		}},
	)}, dctest.Options{})
	for _, tt := range []struct{ path, name, want string }{
		{"A", "user.lorefs.keys", "id kind"},
		{"A", "user.lorefs.flags", "1"},
		{"A/id", "user.lorefs.type", "int"},
		{"A/kind", "user.lorefs.type", "string"},
		{"A/f", "user.lorefs.type", "float"},
		{"A/b", "user.lorefs.type", "bool"},
	} {
		id := find(t, tree, strings.Split(tt.path, "/")...).ID
		if got, err := tree.Xattr(t.Context(), id, tt.name); err != nil || string(got) != tt.want {
			t.Errorf("%s of %s = %q, %v: want %q", tt.name, tt.path, got, err, tt.want)
		}
		names, err := tree.Xattrs(t.Context(), id)
		if err != nil || !strings.Contains(strings.Join(names, " "), tt.name) {
			t.Errorf("Xattrs of %s = %v, %v", tt.path, names, err)
		}
		if _, err := tree.Xattr(t.Context(), id, "user.other"); !errors.Is(err, nodes.ErrNoXattr) {
			t.Errorf("user.other of %s: %v", tt.path, err)
		}
	}
}

// A run that two nodes share appears under both, with different numbers.
func TestSharedRunsHaveNumbersOfTheirOwn(t *testing.T) {
	shared := []*dctest.Node{{Name: "C", Attrs: []dctest.Attr{{Name: "x", Value: 1}}}}
	tree := newTree(t, dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "A", Children: shared}, &dctest.Node{Name: "B", Children: shared},
	)}, dctest.Options{})
	a, b := find(t, tree, "A", "C"), find(t, tree, "B", "C")
	if a.ID == b.ID {
		t.Error("both are number", a.ID)
	}
	if got, want := read(t, tree, "A", "C", "x"), read(t, tree, "B", "C", "x"); got != want {
		t.Errorf("%q and %q", got, want)
	}
	if u := tree.Usage(); u.Nodes != 7 {
		t.Errorf("Usage counts %d, want 7", u.Nodes)
	}
}

func TestBrokenRunFailsItsDirectoryOnly(t *testing.T) {
	m := dctest.NewImage(dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "A", Attrs: []dctest.Attr{{Name: "x", Value: 1}, {Name: "y", Value: 2}}},
		&dctest.Node{Name: "B", Attrs: []dctest.Attr{{Name: "x", Value: 1}}},
	)}, dctest.Options{})
	m.Put16(m.AttributeOffset(m.Attribute(m.Child(0), 1))+dctest.AttributeType, 0)
	tree := treeOf(t, m.Seal(dctest.SealOptions{}), dctree.Options{})
	var last error
	for _, err := range tree.ReadDir(t.Context(), find(t, tree, "A").ID, 0) {
		last = err
	}
	if _, ok := errors.AsType[*datacenter.FormatError](last); !ok || !strings.Contains(last.Error(), "type code 0") {
		t.Errorf("listing A: %v", last)
	}
	if got := read(t, tree, "B", "x"); got != "1\n" {
		t.Errorf("B/x = %q", got)
	}
}

func TestCheckIsAsked(t *testing.T) {
	var changed error
	data := dctest.Build(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "A", Attrs: []dctest.Attr{{Name: "x", Value: 1}}})}, dctest.Options{})
	tree := treeOf(t, data, dctree.Options{Check: func() error { return changed }})
	x := find(t, tree, "A", "x")
	changed = nodes.ErrChanged
	_, readErr := tree.ReadAt(t.Context(), x.ID, make([]byte, 9), 0)
	_, attrErr := tree.Attr(t.Context(), x.ID)
	_, lookupErr := tree.Lookup(t.Context(), nodes.Root, "A")
	var listErr error
	for _, err := range tree.ReadDir(t.Context(), nodes.Root, 0) {
		listErr = err
	}
	_, xattrErr := tree.Xattr(t.Context(), x.ID, "user.lorefs.type")
	for _, err := range []error{readErr, attrErr, lookupErr, listErr, xattrErr} {
		if !errors.Is(err, nodes.ErrChanged) {
			t.Errorf("%v, want ErrChanged", err)
		}
	}
}

func TestCancelled(t *testing.T) {
	tree := newTree(t, dctest.Doc{Root: dctest.Root()}, dctest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Attr(ctx, nodes.Root); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
