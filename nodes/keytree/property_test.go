package keytree_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/treepath"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// The model makes the links from what tree/ shows: its directories, the attribute user.lorefs.keys
// and the files of attributes.

// modelNode is a directory of tree/.
type modelNode struct {
	path, name string
	number     uint64 // the order of nodes
	keys       []string
	attrs      map[string]string
	kids       []modelNode
}

// readModel reads a directory of tree/ and those in it, down to the children of sheets.
func readModel(t testing.TB, tree nodes.Tree, id nodes.ID, at string, depth int) (n modelNode) {
	t.Helper()
	ctx := context.Background()
	n = modelNode{path: at, attrs: map[string]string{}}
	n.name, _, _ = treepath.SplitOrdinal(path.Base(at))
	n.number = uint64(id) << 5 >> (5 + 32) // without the bit of the view
	if n.number&(1<<27-1) == 0 {
		n.number = uint64(uint32(id))
	} else {
		n.number &= 1<<27 - 1
	}
	x, _ := nodes.Xattrs(tree)
	keys, err := x.Xattr(ctx, id, "user.lorefs.keys")
	if err != nil {
		t.Fatal(err)
	}
	n.keys = strings.Fields(strings.ReplaceAll(string(keys), ",", " "))
	for e, err := range tree.ReadDir(ctx, id, 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Kind == nodes.Dir && depth > 0:
			n.kids = append(n.kids, readModel(t, tree, e.ID, at+"/"+e.Name, depth-1))
		case e.Kind == nodes.File:
			text, err := nodetest.ReadFile(ctx, tree, e.ID)
			if err != nil {
				t.Fatal(err)
			}
			n.attrs[strings.TrimPrefix(e.Name, "@")] = strings.TrimSuffix(string(text), "\n")
		}
	}
	slices.SortFunc(n.kids, byNumber)
	return n
}

func byNumber(a, b modelNode) int { return cmp.Compare(a.number, b.number) }

var escapes = strings.NewReplacer("%", "%25", "/", "%2F", ",", "%2C", "~", "%7E")

// key returns the name that the keys of a node give it.
func (n *modelNode) key() (string, bool) {
	keys := n.keys
	if len(keys) == 0 {
		keys = []string{"id"}
	}
	var values []string
	for _, k := range keys {
		v, ok := n.attrs[k]
		if !ok {
			return "", false
		}
		values = append(values, escapes.Replace(v))
	}
	name := strings.Join(values, ",")
	if name == "" {
		name = "%"
	}
	if name[0] == '.' {
		name = "%2E" + name[1:]
	}
	return name, true
}

// directory gives names to entries, of which several may want the same.
type directory map[string]int

func (d directory) name(want string) string {
	d[want]++
	if d[want] == 1 {
		return want
	}
	return fmt.Sprintf("%s~%d", want, d[want])
}

// links returns the links of the model: where each leads.
func (n *modelNode) links() map[string]string {
	all := map[string]string{}
	families := map[string][]modelNode{}
	for _, s := range n.kids {
		families[s.name] = append(families[s.name], s)
	}
	for name, sheets := range families {
		if !slices.ContainsFunc(sheets, func(s modelNode) bool { return len(s.keys) > 0 }) {
			var kids []modelNode
			for _, s := range sheets {
				kids = append(kids, s.kids...)
			}
			linksIn(name, kids, all)
			continue
		}
		dirs := directory{}
		for _, s := range sheets {
			shows := slices.ContainsFunc(s.kids, func(k modelNode) bool { _, ok := k.key(); return ok })
			if key, ok := s.key(); ok && shows {
				linksIn(name+"/"+dirs.name(key), s.kids, all)
			}
		}
	}
	return all
}

// linksIn adds the links to nodes, in a directory for each of their names.
func linksIn(dir string, kids []modelNode, all map[string]string) {
	slices.SortFunc(kids, byNumber)
	dirs := map[string]directory{}
	for _, k := range kids {
		if dirs[k.name] == nil {
			dirs[k.name] = directory{}
		}
		if key, ok := k.key(); ok {
			all[dir+"/"+k.name+"/"+dirs[k.name].name(key)] = k.path
		}
	}
}

// kernel keeps what it is told of a tree until it is told that it has changed.
type kernel struct {
	tree     nodes.Tree
	listings map[nodes.ID][]string
	names    map[nodes.ID]map[string]nodes.ID
	sizes    map[nodes.ID]int64
}

func newKernel(tree nodes.Tree) *kernel {
	k := &kernel{tree, map[nodes.ID][]string{}, map[nodes.ID]map[string]nodes.ID{}, map[nodes.ID]int64{}}
	m, _ := nodes.Edits(tree)
	m.Watch(func(c nodes.Change) {
		delete(k.sizes, c.ID)
		delete(k.listings, c.Dir)
		if c.Name == "" {
			delete(k.names, c.Dir)
		} else {
			delete(k.names[c.Dir], c.Name)
		}
	})
	return k
}

// list lists a directory of the tree, and returns it as the kernel will have it.
func (k *kernel) list(t testing.TB, dir nodes.ID) (all []nodes.Entry) {
	t.Helper()
	for e, err := range k.tree.ReadDir(context.Background(), dir, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// walk has the kernel read everything below a directory.
func (k *kernel) walk(t testing.TB, dir nodes.ID) {
	t.Helper()
	k.names[dir], k.listings[dir] = map[string]nodes.ID{}, []string{}
	for _, e := range k.list(t, dir) {
		k.listings[dir] = append(k.listings[dir], e.Name)
		k.names[dir][e.Name] = e.ID
		if e.Kind == nodes.Dir {
			k.walk(t, e.ID)
		} else {
			k.sizes[e.ID] = e.Size
		}
	}
}

// check walks the tree by what the kernel still has, and compares.
func (k *kernel) check(t testing.TB, dir nodes.ID, at string) {
	t.Helper()
	names := map[string]nodes.ID{}
	var listing []string
	for _, e := range k.list(t, dir) {
		names[e.Name] = e.ID
		listing = append(listing, e.Name)
		// A name that was dropped is looked up again, and the size comes with that.
		if had, ok := k.sizes[e.ID]; ok && k.names[dir][e.Name] == e.ID && had != e.Size {
			t.Errorf("%s/%s: the kernel has the size %d, now it is %d", at, e.Name, had, e.Size)
		}
		if e.Kind == nodes.Dir {
			k.check(t, e.ID, at+"/"+e.Name)
		}
	}
	for name, had := range k.names[dir] {
		if names[name] != had {
			t.Errorf("%s/%s: the kernel has it as %d, now it is %d", at, name, had, names[name])
		}
	}
	if had, ok := k.listings[dir]; ok && !slices.Equal(had, listing) {
		t.Errorf("%s: the kernel lists %q, now there are %q", at, had, listing)
	}
}

// propertyDoc has shared runs, several families, and one with keys.
func propertyDoc() dctest.Doc {
	item := func(id int) *dctest.Node {
		return with(keyed("Item", "id", "id", id), keyed("Deep", "id", "id", 1), keyed("Item", "id", "id", 2))
	}
	shared := with(keyed("Shared", ""), item(1), item(2), item(2), keyed("Other", "", "id", 2))
	return dctest.Doc{Root: dctest.Root(
		shared, shared, with(keyed("Shared", ""), item(1)),
		with(keyed("Keyed", "zone", "zone", 1), item(1), item(1)),
		with(keyed("Keyed", "zone", "zone", 1), item(1)),
		with(keyed("Keyed", "zone", "zone", 2), keyed("Other", "id,s", "id", 1, "s", "a,b/c")),
		with(keyed("Lone", "id", "id", 1), keyed("Item", "")),
	)}
}

// editor makes random edits.
type editor struct {
	d       *edit.Draft
	numbers []edit.Number
}

// numbersOf appends the numbers of a node, which is at, and of all below it.
func numbersOf(t testing.TB, n datacenter.Node, at edit.Number, all []edit.Number) []edit.Number {
	t.Helper()
	all = append(all, at)
	at += 1 + edit.Number(n.AttributeCount())
	for c, err := range n.Children() {
		if err != nil {
			t.Fatal(err)
		}
		all = numbersOf(t, c, at, all)
		at += edit.Number(c.Entries())
	}
	return all
}

func (x *editor) edits(t *rapid.T) (edits []edit.Edit) {
	names := []string{"Shared", "Keyed", "Item", "Other", "New"}
	attrs := []string{"id", "id", "zone", "s", "Item"}
	some := func(label string) edit.Number { return rapid.SampledFrom(x.numbers).Draw(t, label) }
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "edits") {
		e := edit.Edit{
			Op: rapid.SampledFrom([]edit.Op{
				edit.SetAttribute, edit.SetAttribute, edit.SetAttribute, edit.RemoveAttribute, edit.AddNode, edit.AddNode,
				edit.RemoveNode, edit.MoveNode, edit.MoveNode, edit.SetKeys, edit.SetFlags,
			}).Draw(t, "op"),
			Node: some("node"),
		}
		switch e.Op {
		case edit.SetAttribute, edit.RemoveAttribute:
			e.Name = rapid.SampledFrom(attrs).Draw(t, "attribute")
			e.Value = datacenter.IntValue(rapid.Int32Range(0, 3).Draw(t, "value"))
			if rapid.Bool().Draw(t, "text") {
				e.Value, _ = datacenter.StringValue(rapid.SampledFrom([]string{"", "1", "~2", ".", "한", "a,b"}).Draw(t, "string"))
			}
		case edit.AddNode, edit.MoveNode:
			e.Name, e.Parent = rapid.SampledFrom(names).Draw(t, "name"), some("parent")
			if rapid.Bool().Draw(t, "at the top") {
				e.Parent = 0
			}
			e.Ordinal = rapid.Uint32Range(0, 12).Draw(t, "ordinal")
			if e.Op == edit.AddNode {
				e.Node = x.d.NewNumber()
				e.Keys = rapid.SliceOfN(rapid.SampledFrom(attrs[1:4]), 0, 2).Draw(t, "keys")
				x.numbers = append(x.numbers, e.Node)
			}
		case edit.SetKeys:
			e.Keys = rapid.SliceOfN(rapid.SampledFrom(attrs[1:4]), 0, 2).Draw(t, "keys")
		}
		edits = append(edits, e)
	}
	return edits
}

// TestLinksFollowEdits makes random edits. After each, the links have to be the model's, and what
// the kernel was not told to drop has to be true still.
func TestLinksFollowEdits(t *testing.T) {
	for name, o := range map[string]dctest.Options{"plain": {}, "with placeholders": {Placeholders: 1}} {
		data := dctest.Build(propertyDoc(), o)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { checkEdits(drawn{t, rt}, dctest.Open(t, data)) })
		})
	}
}

// drawn is a test whose failures are those of one run of rapid.
type drawn struct {
	*testing.T
	rt *rapid.T
}

func (d drawn) Errorf(format string, args ...any) { d.rt.Errorf(format, args...) }
func (d drawn) Fatalf(format string, args ...any) { d.rt.Fatalf(format, args...) }
func (d drawn) Fatal(args ...any)                 { d.rt.Fatal(args...) }

func checkEdits(t drawn, f *datacenter.File) {
	d := draftOf(t, f)
	top := root(t, f, d)
	k := newKernel(top)
	tree, err := top.Lookup(t.Context(), nodes.Root, "tree")
	if err != nil {
		t.Fatal(err)
	}
	byKey, err := top.Lookup(t.Context(), nodes.Root, "by-key")
	if err != nil {
		t.Fatal(err)
	}
	first, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	x := &editor{d: d, numbers: numbersOf(t, first, 0, nil)}
	for range rapid.IntRange(1, 12).Draw(t.rt, "steps") {
		edits := x.edits(t.rt)
		var err error
		if rapid.IntRange(0, 3).Draw(t.rt, "back") > 0 {
			err = d.Apply(t.Context(), edits...)
		} else {
			_, err = d.Revert(t.Context(), nil, []edit.Target{{Node: rapid.SampledFrom(x.numbers).Draw(t.rt, "of")}})
		}
		k.check(t, byKey.ID, "")
		m := readModel(t, top, tree.ID, "tree", 2)
		want, got := m.links(), map[string]string{}
		for e, err := range nodes.Walk(t.Context(), top, byKey.ID) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != nodes.Link {
				continue
			}
			target, err := nodes.Readlink(t.Context(), top, e.ID)
			attr, attrErr := top.Attr(t.Context(), e.ID)
			if err != nil || attrErr != nil || e.Size != int64(len(target)) || attr.Size != e.Size {
				t.Errorf("%s leads to %q, %v, size %d, %+v, %v", e.Path, target, err, e.Size, attr, attrErr)
			}
			got[e.Path] = path.Join("by-key", path.Dir(e.Path), target)
		}
		if !maps.Equal(got, want) {
			t.Errorf("there are\n%v, want\n%v", got, want)
		}
		if t.rt.Failed() {
			t.Fatalf("after %+v: %v", edits, err)
		}
		k.walk(t, byKey.ID)
	}
}
