package treepath_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/treepath"
	"lorefs/nodes" //nolint:depguard // compares with the mount, and only the test does
	"lorefs/nodes/dctree"
)

func open(t *testing.T, d dctest.Doc, o dctest.Options) *datacenter.File {
	t.Helper()
	return dctest.Open(t, dctest.Build(d, o))
}

// walker lists all paths as package treepath spells them.
type walker struct {
	t    *testing.T
	path *treepath.Path
	all  []string
}

func (w *walker) walk(n datacenter.Node) {
	for a, err := range n.Attributes() {
		w.must(err)
		p, err := w.path.Attribute(n, a.NameIndex())
		w.must(err)
		w.all = append(w.all, p)
	}
	var s treepath.Siblings
	s.Begin(n)
	for c, err := range n.Children() {
		w.must(err)
		w.path.Push(c.NameIndex(), s.Next(c))
		if len(w.all)%2 == 0 { // so that text is sometimes made for several levels at once
			w.walk(c)
			w.all = append(w.all, w.path.Node())
		} else {
			w.all = append(w.all, w.path.Node())
			w.walk(c)
		}
		w.path.Pop()
	}
}

func (w *walker) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// mounted lists all paths of the mount's tree.
func mounted(t *testing.T, tree *dctree.Tree, dir nodes.ID, at string) (all []string) {
	t.Helper()
	for e, err := range tree.ReadDir(t.Context(), dir, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at+e.Name)
		if e.Kind == nodes.Dir {
			all = append(all, mounted(t, tree, e.ID, at+e.Name+"/")...)
		}
	}
	return all
}

// TestPathsAreTheMounts checks that all paths equal those of the mount.
func TestPathsAreTheMounts(t *testing.T) {
	odd := []string{
		"", "%", "a/b", ".hidden", "..", "x.12", "x.", ".7", "back~", "~", "@at", "몬스터", "a%2Fb", "\xed\xa0\x80",
		strings.Repeat("long", 100), strings.Repeat("몬", 90), strings.Repeat("%", 90), strings.Repeat("/", 83) + "몬스터", "plain",
	}
	var sheets []*dctest.Node
	for i, name := range odd {
		n := &dctest.Node{Name: name, Attrs: []dctest.Attr{{Name: odd[(i+1)%len(odd)], Value: 1}, {Name: "both", Value: 2}}}
		if i%3 == 0 {
			n.Children = []*dctest.Node{{Name: "both"}, {Name: "both", Attrs: []dctest.Attr{{Name: "plain", Value: 1}}}, {Name: odd[(i+1)%len(odd)]}}
		}
		sheets = append(sheets, n, n, &dctest.Node{Name: name})
	}
	docs := []dctest.Doc{{Root: dctest.Root(sheets...)}, dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 5, Nodes: 300})}
	for _, doc := range docs {
		for _, o := range []dctest.Options{{}, {Placeholders: 1}} {
			f := open(t, doc, o)
			names, err := treepath.NewNames(f)
			if err != nil {
				t.Fatal(err)
			}
			root, err := f.Root()
			if err != nil {
				t.Fatal(err)
			}
			w := walker{t: t, path: treepath.NewPath(names)}
			w.walk(root)
			tree, err := dctree.New(f, dctree.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := mounted(t, tree, nodes.Root, "")
			slices.Sort(w.all)
			slices.Sort(want)
			if !slices.Equal(w.all, want) {
				t.Errorf("%q, want\n%q", w.all, want)
			}
		}
	}
}

// TestSiblingsFromAName checks that Siblings may skip children of other names in a sorted
// node.
func TestSiblingsFromAName(t *testing.T) {
	f := open(t, dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "A"}, &dctest.Node{Name: "A"}, &dctest.Node{Name: "B"}, &dctest.Node{Name: "B"})}, dctest.Options{})
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	var s treepath.Siblings
	s.Begin(root)
	var got []int
	for c, err := range root.ChildrenFrom(2) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Next(c))
	}
	if !slices.Equal(got, []int{0, 1}) {
		t.Error(got)
	}
}

func TestNamesThatComeTwice(t *testing.T) {
	img := dctest.NewImage(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "Ab"}, &dctest.Node{Name: "Ac"})}, dctest.Options{})
	units := []byte{'A', 0, 'c', 0}
	at := bytes.Index(img.Data, units)
	if at < 0 {
		t.Fatal("the name is not there")
	}
	img.Data[at+2] = 'b'
	f := dctest.Open(t, img.Seal(dctest.SealOptions{}))
	if _, err := treepath.NewNames(f); err == nil || !strings.Contains(err.Error(), `are both "Ab"`) {
		t.Error(err)
	}
}
