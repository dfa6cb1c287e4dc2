package keytree_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/keytree"
	"lorefs/nodes/nodetest"
)

var modTime = time.Unix(1e9, 0)

func treeOf(t testing.TB, f *datacenter.File, d *edit.Draft) *keytree.Tree {
	t.Helper()
	src, err := sheets.New(f, d, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := keytree.New(f, d, src, keytree.Options{ModTime: modTime, SourceSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// keyed returns a node with a key definition; attributes are name, value, name, value.
func keyed(name, keys string, attrs ...any) *dctest.Node {
	n := &dctest.Node{Name: name}
	if keys != "" {
		n.Keys = strings.Split(keys, ",")
	}
	for i := 0; i < len(attrs); i += 2 {
		n.Attrs = append(n.Attrs, dctest.Attr{Name: attrs[i].(string), Value: attrs[i+1]})
	}
	return n
}

func with(n *dctest.Node, children ...*dctest.Node) *dctest.Node {
	n.Children = append(n.Children, children...)
	return n
}

// sample has a family of sheets that are one, one of sheets with keys, and odd values.
func sample() dctest.Doc {
	return dctest.Doc{Root: dctest.Root(
		with(keyed("Item", ""),
			keyed("Drop", "id", "id", 7, "n", 1),
			keyed("Item", "id", "id", 5, "n", 1),
			keyed("Item", "id", "id", 6, "n", 2),
			keyed("Item", "id", "n", 3)), // its key is missing
		with(keyed("Item", ""),
			keyed("Item", "id", "id", 5, "n", 4),
			keyed("Item", "", "id", 8),
			keyed("Item", "", "n", 9)), // nothing to go by
		with(keyed("Npc", "zone", "zone", 2),
			keyed("Template", "id,form", "form", "a", "id", 1)),
		with(keyed("Npc", "zone", "zone", 2),
			keyed("Template", "id,form", "form", "b", "id", 1)),
		with(keyed("Npc", "zone", "zone", 3)), // nothing to show
		with(keyed("Npc", "zone"), // its key is missing
			keyed("Template", "id,form", "form", "c", "id", 1)),
		with(keyed("Odd", ""),
			keyed("X", "s", "s", ""), keyed("X", "s", "s", "."), keyed("X", "s", "s", ".."), keyed("X", "s", "s", ".hidden"),
			keyed("X", "s", "s", "a/b"), keyed("X", "s", "s", "a,b"), keyed("X", "s", "s", "a~2"), keyed("X", "s", "s", "50%"),
			keyed("X", "s", "s", "몬스터"), keyed("X", "s", "s", "%2F"), keyed("X", "s", "s", "line\nline"),
			keyed("X", "s", "s", strings.Repeat("long ", 60)), keyed("X", "s", "s", strings.Repeat("long ", 61)),
			keyed("X", "s", "s", strings.Repeat("몬", 90)), keyed("X", "s", "s", strings.Repeat("/", 90)),
			keyed("Y", "f,b,t", "b", true, "f", float32(0.5), "t", ""), keyed("Y", "f,t", "f", float32(1), "t", "")),
		with(keyed("None", ""), keyed("A", "")),
		with(keyed("x.1", ""), keyed("x.1", "", "id", 1), keyed("x.1", "", "id", 2)),
	)}
}

// links returns all links with their targets, and all directories.
func links(t testing.TB, tree nodes.Tree) (all map[string]string, dirs []string) {
	t.Helper()
	all = map[string]string{}
	for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == nodes.Dir {
			dirs = append(dirs, e.Path)
			continue
		}
		target, err := nodes.Readlink(t.Context(), tree, e.ID)
		if err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
		if int(e.Size) != len(target) {
			t.Errorf("%s has size %d and leads to %q", e.Path, e.Size, target)
		}
		all[e.Path] = target
	}
	return all, dirs
}

func TestLinks(t *testing.T) {
	for name, o := range map[string]dctest.Options{"plain": {}, "with placeholders": {Placeholders: 1}} {
		t.Run(name, func(t *testing.T) {
			testLinks(t, dctest.Open(t, dctest.Build(sample(), o)))
		})
	}
}

func testLinks(t *testing.T, f *datacenter.File) {
	got, dirs := links(t, treeOf(t, f, nil))
	want := map[string]string{
		"Item/Drop/7":          "../../../tree/Item/Drop",
		"Item/Item/5":          "../../../tree/Item/Item.1", // in a file siblings are in the order of their keys
		"Item/Item/5~2":        "../../../tree/Item.1/Item.2",
		"Item/Item/6":          "../../../tree/Item/Item.2",
		"Item/Item/8":          "../../../tree/Item.1/Item",
		"Npc/2/Template/1,a":   "../../../../tree/Npc.1/Template",
		"Npc/2~2/Template/1,b": "../../../../tree/Npc.2/Template",
		"x%2E1/x%2E1/1":        "../../../tree/x%2E1/x%2E1",
		"x%2E1/x%2E1/2":        "../../../tree/x%2E1/x%2E1.1",
		"Odd/Y/0.5,true,":      "../../../tree/Odd/Y",
		"Odd/Y/1,":             "../../../tree/Odd/Y.1",
	}
	for path, target := range want {
		if where, ok := got[path]; !ok {
			t.Errorf("%s is not there", path)
		} else if where != target {
			t.Errorf("%s leads to %s, want %s", path, where, target)
		}
	}
	odd := 0
	for path := range got {
		if strings.HasPrefix(path, "Odd/X/") {
			odd++
		}
	}
	for _, name := range []string{
		"%", "%2E", "%2E.", "%2Ehidden", "a%2Fb", "a%2Cb", "a%7E2", "50%25", "몬스터", "%252F", "line\nline",
	} {
		if _, ok := got["Odd/X/"+name]; !ok {
			t.Errorf("%q is not there", name)
		}
	}
	if odd != 15 || len(got) != len(want)+odd {
		t.Errorf("%d links, of which %d are odd: %v", len(got), odd, got)
	}
	if slices.Contains(dirs, "Npc/3") || slices.Contains(dirs, "None") || !slices.Contains(dirs, "Npc/2/Template") {
		t.Errorf("directories are %q", dirs)
	}
}

func draftOf(t testing.TB, f *datacenter.File) *edit.Draft {
	t.Helper()
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConformance(t *testing.T) {
	docs := map[string]dctest.Doc{
		"sample":    sample(),
		"empty":     {Root: dctest.Root()},
		"generated": dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 12, Nodes: 4000}),
	}
	for name, doc := range docs {
		t.Run(name, func(t *testing.T) {
			f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
			nodetest.Run(t, treeOf(t, f, nil))
			nodetest.Run(t, treeOf(t, f, draftOf(t, f)))
		})
	}
}

func TestFixtureConformance(t *testing.T) {
	for _, file := range []string{"p115_small_x64.dat", "p115_small_x86.dat"} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+file))
			if err != nil {
				t.Fatal(err)
			}
			nodetest.Run(t, treeOf(t, dctest.Open(t, data), nil))
		})
	}
}

// root returns the root of a mount with the links and what they lead to.
func root(t testing.TB, f *datacenter.File, d *edit.Draft) nodes.Tree {
	t.Helper()
	plain, err := dctree.New(f, dctree.Options{ModTime: modTime})
	if err != nil {
		t.Fatal(err)
	}
	tree := nodes.Tree(plain)
	if d != nil {
		tree = dctree.NewEditable(plain, d, dctree.EditOptions{})
	}
	top, err := nodes.NewMux(modTime, []nodes.Mount{{Name: "tree", Tree: tree}, {Name: "by-key", Tree: treeOf(t, f, d)}})
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestMounted(t *testing.T) {
	f := dctest.Open(t, dctest.Build(sample(), dctest.Options{}))
	for _, d := range []*edit.Draft{nil, draftOf(t, f)} {
		tree := root(t, f, d)
		dir := fusetest.Mount(t, tree, fs.Options{ReadWrite: d != nil})
		nodetest.RunMounted(t, dir, tree)
		for _, link := range []string{"Item/Item/5~2/n", "Npc/2/Template/1,a/form"} {
			if _, err := os.ReadFile(dir + "/by-key/" + link); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLargeDirectory lists more links than a listing is sent at once, and than one sheet can hold.
func TestLargeDirectory(t *testing.T) {
	testneeds.Seconds(t)
	const each = 33_000
	doc := dctest.Doc{Root: dctest.Root(keyed("Item", ""), keyed("Item", ""))}
	for i := range each {
		for k, sheet := range doc.Root.Children {
			sheet.Children = append(sheet.Children, keyed("Item", "id", "id", i*2+k))
		}
	}
	f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
	d := draftOf(t, f)
	tree := root(t, f, d)
	dir := fusetest.Mount(t, tree, fs.Options{ReadWrite: true}) + "/by-key/Item/Item"
	names := func() map[string]bool {
		all := map[string]bool{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all[e.Name()] = true
		}
		if len(all) != len(entries) {
			t.Errorf("%d names for %d entries", len(all), len(entries))
		}
		return all
	}
	if got := names(); len(got) != 2*each || !got["65999"] {
		t.Errorf("%d names are listed", len(got))
	}
	if err := os.WriteFile(dir+"/65999/id", []byte("-7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) != 2*each || got["65999"] || !got["-7"] {
		t.Errorf("%d names are listed", len(got))
	}
	if target, err := os.Readlink(dir + "/-7"); err != nil || target != "../../../tree/Item.1/Item.32999" {
		t.Errorf("%q, %v", target, err)
	}
}
