package sheettree_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/sheettree"
)

var modTime = time.Unix(1e9, 0)

func treeOf(t testing.TB, f *datacenter.File, d *edit.Draft) *sheettree.Tree {
	t.Helper()
	src, err := sheets.New(f, d, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sheettree.New(src, sheettree.Options{ModTime: modTime, SourceSize: 1 << 20})
}

// named returns a root with sheets whose names are difficult for file systems.
func named() *dctest.Node {
	root := dctest.Root()
	for _, name := range []string{"Item", "item", "Item", "a/b", ".hidden", "..", "", "x.1", "몬스터", "DataCenter.xsd", "50%", strings.Repeat("l", 300), "@at", "tilde~"} {
		root.Children = append(root.Children, &dctest.Node{Name: name, Attrs: []dctest.Attr{{Name: "id", Value: len(root.Children)}}})
	}
	return root
}

func TestConformance(t *testing.T) {
	docs := map[string]dctest.Doc{
		"names":     {Root: named()},
		"empty":     {Root: dctest.Root()},
		"generated": dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 12, Nodes: 4000}),
	}
	for name, doc := range docs {
		t.Run(name, func(t *testing.T) {
			f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
			nodetest.Run(t, treeOf(t, f, nil))
			d, err := edit.NewDraft(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			nodetest.Run(t, treeOf(t, f, d))
		})
	}
}

func TestFixtureConformance(t *testing.T) {
	testneeds.Seconds(t)
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/p115_small_x86.dat"))
	if err != nil {
		t.Fatal(err)
	}
	nodetest.Run(t, treeOf(t, dctest.Open(t, data), nil))
}

// list returns the paths of all files.
func list(t testing.TB, tree nodes.Tree) (paths []string) {
	t.Helper()
	for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == nodes.File {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

func TestNames(t *testing.T) {
	got := list(t, treeOf(t, dctest.Open(t, dctest.Build(dctest.Doc{Root: named()}, dctest.Options{})), nil))
	for _, want := range []string{
		"DataCenter.xsd", "Item/Item.xsd", "Item/Item-00000.xml", "Item/Item-00001.xml", "item/item-00000.xml",
		"a%2Fb/a%2Fb-00000.xml", "%2Ehidden/%2Ehidden.xsd", "%2E./%2E.-00000.xml", "%/%-00000.xml", "x%2E1/x%2E1-00000.xml",
		"몬스터/몬스터.xsd", "DataCenter%2Exsd/DataCenter%2Exsd-00000.xml", "50%25/50%25.xsd", "%40at/%40at.xsd", "tilde%7E/tilde%7E.xsd",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not there", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// at returns the entry of a path.
func at(t testing.TB, tree nodes.Tree, path string) (nodes.Entry, bool) {
	t.Helper()
	e := nodes.Entry{ID: nodes.Root}
	for name := range strings.SplitSeq(path, "/") {
		var err error
		if e, err = tree.Lookup(t.Context(), e.ID, name); errors.Is(err, nodes.ErrNotExist) {
			return e, false
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return e, true
}

func read(t testing.TB, tree nodes.Tree, path string) string {
	t.Helper()
	e, ok := at(t, tree, path)
	if !ok {
		t.Fatalf("%s is not there", path)
	}
	p := make([]byte, e.Size+1)
	n, err := tree.ReadAt(t.Context(), e.ID, p, 0)
	if int64(n) != e.Size || err != io.EOF { //nolint:errorlint // io.EOF must not be wrapped
		t.Fatalf("%s: read %d of %d, %v", path, n, e.Size, err)
	}
	return string(p[:n])
}

func apply(t testing.TB, d *edit.Draft, edits ...edit.Edit) {
	t.Helper()
	if err := d.Apply(context.Background(), edits...); err != nil {
		t.Fatal(err)
	}
}

// Edits of a draft show at once: in the content, size and time of a sheet, in the schema, and in
// the list of sheets. Everything else stays as it was.
func TestEditsShow(t *testing.T) {
	root := dctest.Root()
	for i := range 3 {
		root.Children = append(root.Children, &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "id", Value: i}}})
	}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	tree := treeOf(t, f, d)
	first, _ := at(t, tree, "Item/Item-00000.xml")
	other := read(t, tree, "Item/Item-00001.xml")
	number, ok := sheettree.SheetNumber(first.ID)
	if !ok || first.ModTime != modTime {
		t.Fatalf("the first sheet is %+v", first)
	}

	apply(t, d, edit.Edit{Op: edit.SetAttribute, Node: number, Name: "rank", Value: datacenter.BoolValue(true)})
	if got := read(t, tree, "Item/Item-00000.xml"); !strings.Contains(got, ` id="0" rank="true" xmlns=`) {
		t.Errorf("the edited sheet is %s", got)
	}
	if e, _ := at(t, tree, "Item/Item-00000.xml"); e.ID != first.ID || !e.ModTime.After(modTime) || e.Size == first.Size {
		t.Errorf("the edited sheet was %+v and is %+v", first, e)
	}
	if got := read(t, tree, "Item/Item.xsd"); !strings.Contains(got, `name="rank" type="xsd:boolean" />`) {
		t.Errorf("the schema is %s", got)
	}
	if e, _ := at(t, tree, "Item/Item-00001.xml"); !e.ModTime.Equal(modTime) || read(t, tree, "Item/Item-00001.xml") != other {
		t.Error("another sheet changed as well")
	}

	made := d.NewNumber()
	apply(t, d,
		edit.Edit{Op: edit.AddNode, Node: made, Name: "New name", Ordinal: 7},
		edit.Edit{Op: edit.RemoveNode, Node: number},
	)
	want := []string{"DataCenter.xsd", "Item/Item.xsd", "Item/Item-00001.xml", "Item/Item-00002.xml", "New name/New name.xsd", "New name/New name-00007.xml"}
	if got := list(t, tree); !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	if _, err := tree.Attr(t.Context(), first.ID); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("Attr of a removed sheet: %v", err)
	}
	if e, _ := at(t, tree, "New name/New name-00007.xml"); e.ID != sheettree.SheetID(made) {
		t.Errorf("the new sheet is %+v", e)
	}
	apply(t, d, edit.Edit{Op: edit.MoveNode, Node: made, Name: "Item", Ordinal: 0})
	want = []string{"DataCenter.xsd", "Item/Item.xsd", "Item/Item-00001.xml", "Item/Item-00002.xml", "Item/Item-00000.xml"}
	if got := list(t, tree); !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	if got := read(t, tree, "Item/Item-00000.xml"); !strings.HasPrefix(got, "<Item ") {
		t.Errorf("the renamed sheet is %s", got)
	}
	nodetest.Run(t, tree)
}

// IDs are the same each time the same file is opened.
func TestIDsLast(t *testing.T) {
	data := dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 8, Sheets: 10, Nodes: 300}), dctest.Options{})
	ids := func() (all []nodes.ID) {
		for e, err := range nodes.Walk(t.Context(), treeOf(t, dctest.Open(t, data), nil), nodes.Root) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.ID)
		}
		return all
	}
	if a, b := ids(), ids(); !slices.Equal(a, b) {
		t.Error("the numbers differ")
	}
}

// If the source has changed, every method says so.
func TestCheck(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: named()}, dctest.Options{}))
	src, err := sheets.New(f, nil, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree := sheettree.New(src, sheettree.Options{Check: func() error { return nodes.ErrChanged }})
	if _, err := tree.Attr(t.Context(), nodes.Root); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("Attr: %v", err)
	}
	for _, err := range tree.ReadDir(t.Context(), nodes.Root, 0) {
		if !errors.Is(err, nodes.ErrChanged) {
			t.Errorf("ReadDir: %v", err)
		}
	}
}

// TestSizesLater checks that a tree for who needs no sizes lists none that it would have to
// compute, and all that it knows.
func TestSizesLater(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "S"}, &dctest.Node{Name: "S"}, &dctest.Node{Name: "T"})}, dctest.Options{}))
	open := func() *sheettree.Tree {
		src, err := sheets.New(f, nil, sheets.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return sheettree.New(src, sheettree.Options{ModTime: modTime, SizesLater: true})
	}
	nodetest.Run(t, open())
	tree := open()
	dir, err := tree.Lookup(t.Context(), nodes.Root, "S")
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{false, true} {
		count := 0
		for e, err := range tree.ReadDir(t.Context(), dir.ID, 0) {
			if count++; err != nil || (e.Size == nodes.UnknownSize) == known {
				t.Errorf("%+v, %v; known %v", e, err, known)
			}
			sized, err := nodes.WithSize(t.Context(), tree, e)
			var text strings.Builder
			n, ok, streamErr := tree.Stream(t.Context(), e.ID, &text)
			if err != nil || streamErr != nil || !ok || n != sized.Size || n != int64(text.Len()) {
				t.Errorf("%s: %d bytes, %v, %v: want %d, %v", e.Name, n, ok, streamErr, sized.Size, err)
			}
			if !known && e.Name != "S.xsd" { // asking for the size of a sheet has measured all
				break
			}
		}
		if count == 0 {
			t.Error("nothing is listed")
		}
	}
}
