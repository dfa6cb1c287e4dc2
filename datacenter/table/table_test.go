package table_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/table"
	"lorefs/internal/tabular"
	"lorefs/internal/testneeds"
)

type (
	node = dctest.Node
	attr = dctest.Attr
)

// tables returns all tables of a file, by their paths.
func tables(t *testing.T, f *datacenter.File, format tabular.Format) map[string]string {
	t.Helper()
	list, err := table.Find(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, one := range list {
		var b strings.Builder
		if _, err := one.Write(t.Context(), &b, format); err != nil {
			t.Fatal(err)
		}
		all[one.Path] = b.String()
	}
	return all
}

// described has all that tables can express.
func described() *node {
	item := func(id int, more ...attr) *node {
		return &node{Name: "Item", Keys: []string{"id"}, Attrs: append([]attr{{Name: "id", Value: id}}, more...)}
	}
	with := func(n *node, kids ...*node) *node { n.Children = kids; return n }
	hp := func(v any) *node { return &node{Name: "Stat", Attrs: []attr{{Name: "hp", Value: v}}} }
	return dctest.Root(
		&node{Name: "S", Attrs: []attr{{Name: "zone", Value: 7}, {Name: "id", Value: 1}}, Children: []*node{
			with(item(1, attr{Name: "b", Value: true}), hp(float32(2)), hp("x,\"y\"")),
			item(2, attr{Name: "b", Value: ""}),
		}},
		&node{Name: "S", Children: []*node{with(item(3), hp(5)), {Name: "Text", Attrs: []attr{{Name: "_ROW", Value: 1}, dctest.Text("a\nb\xed\xa0\x80")}, Children: []*node{{Name: "Leaf"}}}}},
	)
}

func TestTables(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: described()}, dctest.Options{}))
	got := tables(t, f, tabular.CSV)
	want := map[string]string{
		"S":           "_row,id,zone\n0,1,7\n1,,\n",
		"S/Item":      "_row,_parent,_sheet,_S_id,id,b\n0,0,0,1,1,true\n1,0,0,1,2,\"\"\n2,1,1,,3,\n",
		"S/Item/Stat": "_row,_parent,_sheet,_S_id,_Item_id,hp\n0,0,0,1,1,2\n1,0,0,1,1,\"x,\"\"y\"\"\"\n2,2,1,,3,5\n",
		"S/Text":      "__row,_parent,_sheet,_S_id,_ROW,__value__\n0,1,1,,1,\"a\nb\uFFFD\"\n",
		"S/Text/Leaf": "_row,_parent,_sheet,_S_id\n0,0,1,\n",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := tables(t, f, tabular.JSONL)["S/Item/Stat"], `{"_row":0,"_parent":0,"_sheet":0,"_S_id":1,"_Item_id":1,"hp":2.0}`+"\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := tables(t, f, tabular.JSONL)["S/Text"]; !strings.Contains(got, `"a\nb\ud800"`) {
		t.Errorf("half of a surrogate pair is not as it was: %s", got)
	}
}

// TestPaths checks that no two tables have one file, on any system.
func TestPaths(t *testing.T) {
	kid := func(name string) *node { return &node{Name: name, Children: []*node{{Name: "K"}}} }
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(
		&node{Name: "S", Children: []*node{kid("A"), kid("a"), kid("a.csv"), kid("a/b"), kid("A~2")}},
	)}, dctest.Options{}))
	seen := map[string]bool{}
	for path := range tables(t, f, tabular.CSV) {
		for _, name := range []string{path, path + ".csv"} {
			if name = strings.ToLower(name); seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
	for _, want := range []string{"s/a", "s/a~2", "s/a~2/k", "s/a%2fb", "s/a.csv~2"} {
		if !seen[want] {
			t.Errorf("no %s among %v", want, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// TestAsTree checks the tables of generated files against a walk of the tree: rows, numbers and
// values. A file with placeholders is read in another way.
func TestAsTree(t *testing.T) {
	for _, o := range []dctest.Options{{}, {Placeholders: 3}} {
		doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 20, Nodes: 3000})
		compare(t, dctest.Open(t, dctest.Build(doc, o)))
	}
}

// TestFixture does the same for real data.
func TestFixture(t *testing.T) {
	testneeds.Slow(t, "reads a file whole")
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/p115_small_x64.dat"))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, dctest.Open(t, data))
}

// compare holds all tables against the tree.
func compare(t *testing.T, f *datacenter.File) {
	t.Helper()
	got := map[string][]string{}
	rows := 0
	for path, text := range tables(t, f, tabular.JSONL) {
		if text != "" {
			got[path] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			rows += len(got[path])
		}
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := comparison{t: t, got: got, next: map[string]int{}}
	for n, err := range root.Children() {
		if err != nil {
			t.Fatal(err)
		}
		c.node(n, "", -1)
	}
	if c.nodes != rows || c.nodes == 0 || int64(c.nodes)+1 != f.Counts().Nodes {
		t.Errorf("%d rows, want %d", rows, c.nodes)
	}
}

type comparison struct {
	t     *testing.T
	got   map[string][]string
	next  map[string]int
	nodes int
}

func (c *comparison) node(n datacenter.Node, above string, parent int) {
	path := strings.TrimPrefix(above+"/"+n.Name(), "/")
	at := c.next[path]
	c.next[path]++
	c.nodes++
	if at >= len(c.got[path]) {
		c.t.Fatalf("%s has %d rows", path, len(c.got[path]))
	}
	var row map[string]any
	d := json.NewDecoder(strings.NewReader(c.got[path][at]))
	d.UseNumber()
	if err := d.Decode(&row); err != nil {
		c.t.Fatal(err)
	}
	if fmt.Sprint(row["_row"]) != fmt.Sprint(at) || parent >= 0 && fmt.Sprint(row["_parent"]) != fmt.Sprint(parent) {
		c.t.Fatalf("row %d of %s, of parent %d, says %v", at, path, parent, row)
	}
	values := 0
	for a, err := range n.Attributes() {
		if err != nil {
			c.t.Fatal(err)
		}
		values++
		v, err := a.Value()
		if err != nil {
			c.t.Fatal(err)
		}
		want := v.Text()
		if v.Type() == datacenter.Float {
			want = strings.TrimSuffix(fmt.Sprint(row[a.Name()]), ".0")
			if back, ok := datacenter.ParseFloat(want); !ok || back != v.Bits() {
				c.t.Fatalf("row %d of %s has %v, want %s", at, path, row, v.Text())
			}
		} else if got := fmt.Sprint(row[a.Name()]); got != strings.ToValidUTF8(want, "\uFFFD") {
			c.t.Fatalf("row %d of %s has %v, want %s = %q", at, path, row, a.Name(), want)
		}
	}
	for name, v := range row {
		if v != nil && !strings.HasPrefix(name, "_") || name == "__value__" && v != nil {
			values--
		}
	}
	if values != 0 {
		c.t.Fatalf("row %d of %s lacks or has %d values: %v", at, path, values, row)
	}
	for kid, err := range n.Children() {
		if err != nil {
			c.t.Fatal(err)
		}
		c.node(kid, path, at)
	}
}

// TestTooMany checks that a small file with any number of paths is refused.
func TestTooMany(t *testing.T) {
	kids := []*node{{Name: "a"}, {Name: "b"}}
	for range 17 {
		kids = []*node{{Name: "a", Children: kids}, {Name: "b", Children: kids}}
	}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(kids...)}, dctest.Options{}))
	if _, err := table.Find(t.Context(), f); !errors.Is(err, datacenter.ErrTooLarge) {
		t.Error(err)
	}
}

func TestStops(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: described()}, dctest.Options{}))
	list, err := table.Find(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Find(ctx, f); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := list[0].Write(ctx, io.Discard, tabular.CSV); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
