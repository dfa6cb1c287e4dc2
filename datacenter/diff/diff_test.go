package diff_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/internal/testneeds"
	"lorefs/internal/testneeds/property"
)

func keyed(id int, more ...dctest.Attr) *node {
	return &node{Name: "Item", Keys: []string{"id"}, Attrs: append(attrs{{Name: "id", Value: id}}, more...)}
}

func withID(id int, kids ...*node) *node {
	return &node{Name: "Row", Attrs: attrs{{Name: "id", Value: id}}, Children: kids}
}

func plain(v any, kids ...*node) *node {
	return &node{Name: "Plain", Attrs: attrs{{Name: "v", Value: v}}, Children: kids}
}

func sheet(kids ...*node) *node { return &node{Name: "S", Children: kids} }

func TestKindsAndText(t *testing.T) {
	big := plain(9, plain(1), plain(2))
	for _, tt := range []struct {
		name string
		a, b *node
		want string
	}{
		{"nothing", sheet(plain(1)), sheet(plain(1)), ""},
		{"a value", sheet(plain(1)), sheet(plain(2)), "- S/Plain/v = int 1\n+ S/Plain/v = int 2\n"},
		{"a type", sheet(plain(1)), sheet(plain(true)), "- S/Plain/v = int 1\n+ S/Plain/v = bool true\n"},
		{"the sign of nothing", sheet(plain(float32(0))), sheet(plain(dctest.Raw{Type: 2, Value: 1 << 31})), "- S/Plain/v = float 0\n+ S/Plain/v = float -0\n"},
		{"a text", sheet(plain("a\n")), sheet(plain("a\"")), "- S/Plain/v = string \"a\\n\"\n+ S/Plain/v = string \"a\\\"\"\n"},
		{"attributes", sheet(keyed(1, dctest.Attr{Name: "x", Value: 1})), sheet(keyed(1, dctest.Attr{Name: "y", Value: 2})), "- S/Item/x = int 1\n+ S/Item/y = int 2\n"},
		{"a node less", sheet(big, plain(1)), sheet(plain(1)), "- S/Plain/ (6)\n"},
		{"a node more", sheet(plain(1)), sheet(plain(1), big), "+ S/Plain.1/ (6)\n"},
		{"another name", sheet(plain(1)), sheet(withID(1)), "- S/Plain/ (2)\n+ S/Row/ (2)\n"},
		{"a key", sheet(keyed(1), keyed(2), keyed(3)), sheet(keyed(1), keyed(3), keyed(4)), "- S/Item.1/ (2)\n+ S/Item.2/ (2)\n"},
		{
			"behind a new key", sheet(keyed(2, dctest.Attr{Name: "x", Value: 1})), sheet(keyed(1), keyed(2, dctest.Attr{Name: "x", Value: 2})),
			"+ S/Item/ (2)\n- S/Item/x = int 1\n+ S/Item.1/x = int 2\n",
		},
		{"an id", sheet(withID(1), withID(2), withID(3)), sheet(withID(1), withID(3), withID(4)), "- S/Row.1/ (2)\n+ S/Row.2/ (2)\n"},
		{"an order", sheet(withID(1), withID(2), withID(3), withID(4)), sheet(withID(4), withID(1), withID(2), withID(3)), "- S/Row.3/ order\n+ S/Row/ order\n"},
		{"no keys", sheet(plain(1), plain(2), plain(3), plain(4)), sheet(plain(1), plain(3), plain(5)), "- S/Plain.1/ (2)\n- S/Plain.3/v = int 4\n+ S/Plain.2/v = int 5\n"},
		{"definitions", sheet(keyed(1)), sheet(&node{Name: "Item", Attrs: keyed(1).Attrs, Flags: 1}), "- S/Item = flags 0\n+ S/Item = flags 1\n- S/Item = keys id\n+ S/Item = keys \n"},
		{"below", sheet(withID(7, plain(1)), withID(8, plain(1))), sheet(withID(7, plain(2)), withID(8, plain(1))), "- S/Row/Plain/v = int 1\n+ S/Row/Plain/v = int 2\n"},
		{"a name below", sheet(withID(7, plain(1))), sheet(withID(7, &node{Name: "Other", Attrs: plain(1).Attrs})), "- S/Row/Plain/ (2)\n+ S/Row/Other/ (2)\n"},
		{
			"equal ones without keys", sheet(plain(1), plain(2), plain(1), plain(2), plain(5)), sheet(plain(9), plain(1), plain(2), plain(1), plain(2), plain(6)),
			"+ S/Plain/ (2)\n- S/Plain.4/v = int 5\n+ S/Plain.5/v = int 6\n",
		},
		{"a path that is a text", sheet(&node{Name: "A\nB"}), sheet(), "- \"S/A\\nB\"/ (1)\n"},
	} {
		got := text(compare(t, build(t, dctest.Options{}, tt.a), build(t, dctest.Options{NoSharing: true}, tt.b), diff.Options{}))
		if got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
}

func TestOptions(t *testing.T) {
	a := build(t, dctest.Options{}, sheet(keyed(1), withID(1), withID(2)))
	b := build(t, dctest.Options{}, sheet(&node{Name: "Item", Attrs: keyed(1).Attrs, Flags: 1}, withID(2), withID(1)))
	if got := text(compare(t, a, b, diff.Options{IgnoreKeys: true, IgnoreFlags: true, IgnoreOrder: true})); got != "" {
		t.Error(got)
	}
	if got := compare(t, a, b, diff.Options{}); len(got) != 3 {
		t.Error(text(got))
	}
}

func TestJSON(t *testing.T) {
	a, b := build(t, dctest.Options{}, sheet(withID(2, plain(1)))), build(t, dctest.Options{}, sheet(withID(1), withID(2, plain("x"))))
	got, err := json.Marshal(compare(t, a, b, diff.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"kind":"node_added","path":"S/Row","entries":2},` +
		`{"kind":"attribute_changed","path":"S/Row/Plain/v","new_path":"S/Row.1/Plain/v",` +
		`"old":{"type":"int","text":"1"},"new":{"type":"string","text":"x"}}]`
	if string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestNamesInAnotherOrder checks that the order of names in the tables does not count.
func TestNamesInAnotherOrder(t *testing.T) {
	root := dctest.Root(sheet(keyed(1), keyed(2), withID(5, plain("x")), plain(3)), &node{Name: "T", Attrs: attrs{{Name: "S", Value: 1}}})
	a := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
	b := dctest.Open(t, dctest.Build(dctest.Doc{
		Root: root, Names: []string{"unused", "v", "T", "Plain", "Row", "id", "Item"}, Keys: [][]string{{"v"}, {"id"}}, Layout: datacenter.LayoutV6X86,
	}, dctest.Options{Placeholders: 1}))
	for _, pair := range [][2]*datacenter.File{{a, b}, {b, a}} {
		if got := text(compare(t, pair[0], pair[1], diff.Options{})); got != "" {
			t.Error(got)
		}
	}
}

func TestManySiblings(t *testing.T) {
	testneeds.Slow(t, "makes large files")
	const most = 65_535
	list := func(from, to int, v func(i int) int) []*node {
		var all []*node
		for i := from; i < to; i++ {
			all = append(all, plain(v(i)))
		}
		return all
	}
	self := func(i int) int { return i }
	for _, tt := range []struct {
		name string
		b    []*node
		want map[diff.Kind]int
	}{
		{"the first is missing", list(1, most, self), map[diff.Kind]int{diff.NodeRemoved: 1}},
		{"every tenth is missing", slices.DeleteFunc(list(0, most, self), func(n *node) bool { return n.Attrs[0].Value.(int)%10 == 0 }), map[diff.Kind]int{diff.NodeRemoved: most/10 + 1}},
		{"all are others", list(0, most, func(i int) int { return -i - 1 }), map[diff.Kind]int{diff.AttributeChanged: most}},
		{"two are others", list(0, most, func(i int) int {
			if i == 5 || i == 60_000 {
				return -1
			}
			return i
		}), map[diff.Kind]int{diff.AttributeChanged: 2}},
	} {
		got := map[diff.Kind]int{}
		for _, d := range compare(t, build(t, dctest.Options{}, sheet(list(0, most, self)...)), build(t, dctest.Options{}, sheet(tt.b...)), diff.Options{}) {
			got[d.Kind]++
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSharedRuns checks that a run which a million paths lead to is compared once.
func TestSharedRuns(t *testing.T) {
	const levels = 14
	tree := func(id int) *datacenter.File {
		run := []*node{plain(1), plain(id)}
		for range levels {
			run = []*node{withID(1, run...), withID(2, run...)}
		}
		return build(t, dctest.Options{}, sheet(run...))
	}
	a := tree(1)
	if got := compare(t, a, tree(1), diff.Options{}); len(got) > 0 {
		t.Error(text(got))
	}
	if got := len(compare(t, a, tree(2), diff.Options{})); got != 1<<levels {
		t.Errorf("%d differences, want %d", got, 1<<levels)
	}
}

func TestCompareEnds(t *testing.T) {
	a, b := build(t, dctest.Options{}, sheet(plain(1), keyed(1))), build(t, dctest.Options{}, sheet(plain(2), keyed(2)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range diff.Compare(ctx, a, b, diff.Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	count := 0
	for _, err := range diff.Compare(t.Context(), a, b, diff.Options{}) {
		if err != nil {
			t.Error(err)
		}
		count++
		break
	}
	if count != 1 {
		t.Error(count)
	}
}

// drawTree draws a tree in which some siblings of one name are equal, or have keys or an id.
func drawTree(t *rapid.T, depth int) *node {
	name := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "name")
	n := &node{Name: name, Flags: uint8(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "flags"))}
	if name == "A" || rapid.IntRange(0, 9).Draw(t, "keyed") == 0 {
		n.Keys = []string{"id"}
	}
	for _, a := range []string{"id", "v", "B"} {
		if a == "id" && name != "C" || rapid.Bool().Draw(t, a) {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: a, Value: rapid.SampledFrom([]any{1, 2, 3, 4, "x", float32(1)}).Draw(t, "value")})
		}
	}
	if depth < 4 {
		for range rapid.IntRange(0, 5).Draw(t, "children") {
			n.Children = append(n.Children, drawTree(t, depth+1))
		}
	}
	return n
}

// mutate copies a tree with some edits.
func mutate(t *rapid.T, n *node) *node {
	c := *n
	c.Attrs, c.Children = slices.Clone(n.Attrs), nil
	for _, k := range n.Children {
		switch rapid.IntRange(0, 15).Draw(t, "edit") {
		case 0:
		case 1:
			c.Children = append(c.Children, drawTree(t, 3), mutate(t, k))
		case 2:
			c.Children = slices.Insert(c.Children, 0, mutate(t, k))
		case 3:
			m := mutate(t, k)
			m.Attrs = append(m.Attrs, dctest.Attr{Name: "w", Value: 1})
			c.Children = append(c.Children, m)
		case 4:
			m := mutate(t, k)
			m.Attrs, m.Flags = nil, 0
			c.Children = append(c.Children, m)
		default:
			c.Children = append(c.Children, mutate(t, k))
		}
	}
	return &c
}

func drawOptions(t *rapid.T) dctest.Options {
	return dctest.Options{
		NoSharing: rapid.Bool().Draw(t, "no sharing"), Overlap: rapid.Bool().Draw(t, "overlap"),
		Placeholders: rapid.IntRange(0, 2).Draw(t, "placeholders"),
	}
}

// TestDifferencesExplainAll checks that the differences of any two trees are correct and
// complete.
func TestDifferencesExplainAll(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		x := sheet()
		for range rapid.IntRange(0, 6).Draw(rt, "children") {
			x.Children = append(x.Children, drawTree(rt, 1))
		}
		y := mutate(rt, x)
		names := rapid.Permutation([]string{"A", "B", "C", "id", "v", "w", "S"}).Draw(rt, "names")
		layout := datacenter.Layout(rapid.IntRange(1, 3).Draw(rt, "layout"))
		a := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(x, x)}, drawOptions(rt)))
		b := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(y, x), Names: names, Layout: layout}, drawOptions(rt)))
		all := compare(t, a, b, diff.Options{})
		d := tell(all)
		if d.count() != len(all) {
			rt.Fatalf("something comes twice:\n%s", text(all))
		}
		if err := d.explain(modelOf(t, a), modelOf(t, b)); err != nil {
			rt.Fatalf("%v:\n%s", err, text(all))
		}
		if d.count() > 0 {
			rt.Fatalf("not to be explained: %+v, of\n%s", d, text(all))
		}
		if same := compare(t, a, a, diff.Options{}); len(same) > 0 {
			rt.Fatalf("differs from itself:\n%s", text(same))
		}
	})
}

// TestDifferencesAreTheEdits checks that the differences are exactly the edits if each node
// can be distinguished from its siblings.
func TestDifferencesAreTheEdits(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		next := 0
		var draw func(depth int) *node
		draw = func(depth int) *node {
			next++
			n := withID(next)
			if depth%2 == 0 {
				n = keyed(next)
			}
			n.Attrs = append(n.Attrs, dctest.Attr{Name: "v", Value: next % 3})
			if depth < 4 {
				for range rapid.IntRange(0, 4).Draw(rt, "children") {
					n.Children = append(n.Children, draw(depth+1))
				}
			}
			return n
		}
		x := sheet(draw(1), draw(1), draw(1))
		var want []string
		var edit func(n *node) *node
		edit = func(n *node) *node {
			c := *n
			c.Attrs, c.Children = slices.Clone(n.Attrs), nil
			for _, k := range n.Children {
				id := k.Attrs[0].Value
				tell := func(kind diff.Kind) { want = append(want, fmt.Sprint(kind, " ", id)) }
				e := rapid.IntRange(0, 11).Draw(rt, "edit")
				if e == 0 {
					tell(diff.NodeRemoved)
					continue
				}
				k = edit(k)
				switch e {
				case 1:
					k.Attrs[1].Value = "new"
					tell(diff.AttributeChanged)
				case 2:
					k.Attrs = k.Attrs[:1]
					tell(diff.AttributeRemoved)
				case 3:
					k.Attrs = append(k.Attrs, dctest.Attr{Name: "w", Value: 1})
					tell(diff.AttributeAdded)
				case 4:
					k.Flags = 1
					tell(diff.FlagsChanged)
				case 5:
					next++
					c.Children = append(c.Children, withID(next, plain(1)))
					want = append(want, fmt.Sprint(diff.NodeAdded, " ", next))
				}
				c.Children = append(c.Children, k)
			}
			return &c
		}
		y := edit(x)
		a, b := build(t, drawOptions(rt), x), build(t, drawOptions(rt), y)
		ids := [2]map[string]string{idsOf(modelOf(t, a)), idsOf(modelOf(t, b))}
		var got []string
		for _, d := range compare(t, a, b, diff.Options{}) {
			of := ids[0]
			if d.Kind == diff.NodeAdded || d.Kind == diff.AttributeAdded {
				of = ids[1]
			}
			path := d.Path
			if strings.HasPrefix(d.Kind.String(), "attribute") {
				path = path[:strings.LastIndexByte(path, '/')]
			}
			got = append(got, fmt.Sprint(d.Kind, " ", of[path]))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("%q, want\n%q", got, want)
		}
	})
}

// idsOf returns the ids of all nodes below m by their paths.
func idsOf(m *model) map[string]string {
	ids := map[string]string{m.path: m.attrs["id"].Text}
	for _, list := range m.kids {
		for _, k := range list {
			maps.Copy(ids, idsOf(k))
		}
	}
	return ids
}
