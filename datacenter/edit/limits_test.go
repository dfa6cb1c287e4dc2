package edit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

func draftOf(t testing.TB, doc dctest.Doc, o dctest.Options) *edit.Draft {
	t.Helper()
	d, err := edit.NewDraft(dctest.Open(t, dctest.Build(doc, o)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// refused checks that an edit fails with the error want and changes nothing.
func refused(t testing.TB, d *edit.Draft, want error, e edit.Edit) {
	t.Helper()
	for _, n := range []edit.Number{e.Node, e.Parent} {
		if err := d.Open(n); err != nil && !errors.Is(err, edit.ErrGone) {
			t.Fatal(err)
		}
	}
	entries, pending := d.Entries(), d.Pending()
	node, _ := d.Node(e.Node)
	parent, _ := d.Node(e.Parent)
	if err := d.Apply(t.Context(), e); !errors.Is(err, want) {
		t.Errorf("%.300v: %v, want %v", fmt.Sprintf("%+v", e), err, want)
	}
	after, _ := d.Node(e.Node)
	afterParent, _ := d.Node(e.Parent)
	if fmt.Sprint(node, parent) != fmt.Sprint(after, afterParent) || d.Entries() != entries || d.Pending() != pending {
		t.Errorf("%.300v was refused and changed something", fmt.Sprintf("%+v", e))
	}
}

func done(t testing.TB, d *edit.Draft, edits ...edit.Edit) {
	t.Helper()
	if err := d.Apply(t.Context(), edits...); err != nil {
		t.Fatalf("%.300v: %v", fmt.Sprintf("%+v", edits), err)
	}
}

func set(n edit.Number, name string) edit.Edit {
	return edit.Edit{Op: edit.SetAttribute, Node: n, Name: name, Value: datacenter.IntValue(1)}
}

func unset(n edit.Number, name string) edit.Edit {
	return edit.Edit{Op: edit.RemoveAttribute, Node: n, Name: name}
}

func add(d *edit.Draft, parent edit.Number, name string, ordinal uint32) edit.Edit {
	return edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Parent: parent, Name: name, Ordinal: ordinal}
}

func TestDraftRefuses(t *testing.T) {
	d := draftOf(t, keyedDoc(), dctest.Options{})
	m := newModel(t, dctest.Open(t, dctest.Build(keyedDoc(), dctest.Options{})))
	top := m.root.kids[slices.IndexFunc(m.root.kids, func(n *modelNode) bool { return n.name == "Sheet" })]
	sheet, item := top.number, top.kids[0]
	attribute := item.attrs["id"].number
	text, err := datacenter.StringValue("text")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("n", 65535)
	for _, tt := range []struct {
		want error
		edit edit.Edit
	}{
		{datacenter.ErrValue, set(0, "x")},
		{datacenter.ErrValue, set(sheet, "__value__")},
		{datacenter.ErrValue, set(sheet, "__root__")},
		{datacenter.ErrValue, set(sheet, "a\x00b")},
		{datacenter.ErrValue, set(sheet, "\xff")},
		{datacenter.ErrTooLarge, set(sheet, long)},
		{datacenter.ErrValue, add(d, sheet, "__value__", 0)},
		{datacenter.ErrValue, add(d, sheet, "__root__", 0)},
		{datacenter.ErrTooLarge, add(d, sheet, long, 0)},
		{datacenter.ErrTooLarge, edit.Edit{Op: edit.AddNode, Parent: sheet, Name: "x"}},
		{datacenter.ErrValue, edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Parent: sheet, Name: "x", Flags: 16}},
		{datacenter.ErrValue, edit.Edit{Op: edit.RemoveNode, Node: 0}},
		{datacenter.ErrValue, edit.Edit{Op: edit.MoveNode, Node: 0, Parent: sheet, Name: "x"}},
		{datacenter.ErrValue, edit.Edit{Op: edit.MoveNode, Node: sheet, Parent: item.number, Name: "x"}},
		{datacenter.ErrValue, edit.Edit{Op: edit.MoveNode, Node: item.number, Parent: 0, Name: "__root__"}},
		{datacenter.ErrValue, edit.Edit{Op: edit.SetKeys, Node: sheet, Keys: datacenter.KeyDefinition{"__value__"}}},
		{datacenter.ErrTooLarge, edit.Edit{Op: edit.SetKeys, Node: sheet, Keys: datacenter.KeyDefinition{"a", "b", "c", "d", "e"}}},
		{datacenter.ErrValue, edit.Edit{Op: edit.SetFlags, Node: sheet, Flags: 16}},
		{edit.ErrGone, unset(sheet, "never")},
		{edit.ErrGone, set(1<<26, "x")},
		{edit.ErrGone, set(datacenter.MaxEntries+1000, "x")},
		{edit.ErrGone, set(attribute, "x")},
		{edit.ErrGone, edit.Edit{Op: edit.RemoveNode, Node: attribute}},
		{edit.ErrGone, add(d, attribute, "x", 0)},
		{edit.ErrGone, add(d, 1<<26, "x", 0)},
		{edit.ErrGone, edit.Edit{Op: edit.MoveNode, Node: sheet, Parent: 1 << 26, Name: "x"}},
	} {
		refused(t, d, tt.want, tt.edit)
	}
	done(t, d, edit.Edit{Op: edit.SetAttribute, Node: sheet, Name: "__value__", Value: text})
	refused(t, d, datacenter.ErrValue, set(sheet, "__value__"))
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: sheet})
	refused(t, d, edit.ErrGone, set(sheet, "x"))
	refused(t, d, edit.ErrGone, set(item.number, "x"))
	refused(t, d, edit.ErrGone, edit.Edit{Op: edit.RemoveNode, Node: sheet})
	writeDraft(t, d, datacenter.LayoutAuto)
}

// TestNewDraftRefuses checks that NewDraft refuses a file that could not be written as it
// is, or in which a new name would change the meaning of something.
func TestNewDraftRefuses(t *testing.T) {
	img := dctest.NewImage(keyedDoc(), dctest.Options{})
	// The second name gets the address of the first.
	at := img.Names.Addresses + 4
	copy(img.Data[at+dctest.AddressSize:], img.Data[at:at+dctest.AddressSize])
	twice := img.Seal(dctest.SealOptions{})
	img = dctest.NewImage(keyedDoc(), dctest.Options{})
	img.Data[img.Keys+4+dctest.KeySize] = 200 // the first name of the second key definition
	missing := img.Seal(dctest.SealOptions{})
	for name, data := range map[string][]byte{"twice": twice, "missing": missing} {
		_, err := edit.NewDraft(dctest.Open(t, data), nil)
		if _, ok := errors.AsType[*datacenter.FormatError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDraftOfManyNames(t *testing.T) {
	testneeds.Slow(t, "makes 65,535 names")
	doc := keyedDoc()
	for i := range 65_000 {
		doc.Names = append(doc.Names, fmt.Sprintf("unused%d", i))
	}
	d := draftOf(t, doc, dctest.Options{})
	sheet := edit.Number(1)
	have := len(dctest.Open(t, dctest.Build(doc, dctest.Options{})).Names())
	for i := range 65535 - have - 1 {
		done(t, d, set(sheet, fmt.Sprint(i)))
	}
	// One place is left. Any number of names may use it one after another.
	for i := range 3 {
		done(t, d, set(sheet, fmt.Sprintf("temporary%d", i)), unset(sheet, fmt.Sprintf("temporary%d", i)))
	}
	refused(t, d, datacenter.ErrTooLarge, edit.Edit{Op: edit.SetKeys, Node: sheet, Keys: datacenter.KeyDefinition{"k1", "k2"}})
	done(t, d, set(sheet, "last"))
	refused(t, d, datacenter.ErrTooLarge, set(sheet, "one too many"))
	refused(t, d, datacenter.ErrTooLarge, add(d, sheet, "one too many", 0))
	done(t, d, set(sheet, "unused7"), unset(sheet, "0"))
	done(t, d, set(sheet, "in the place of 0"))
	g, _ := writeDraft(t, d, datacenter.LayoutAuto)
	if n := len(g.Names()); n != 65535 {
		t.Errorf("%d names were written", n)
	}
}

// TestDraftOfTemporaryNames makes nodes with new names and renames them, as editors do.
func TestDraftOfTemporaryNames(t *testing.T) {
	testneeds.Slow(t, "makes 140,000 edits")
	d := draftOf(t, keyedDoc(), dctest.Options{})
	sheet, item := edit.Number(1), edit.Number(2)
	kept := map[uint32]edit.Number{}
	for i := range 70_000 {
		name := fmt.Sprintf("sed%06d", i)
		v := datacenter.IntValue(int32(i))
		done(t, d, edit.Edit{Op: edit.SetAttribute, Node: item, Name: name, Value: v})
		e, ok := d.Attribute(item, name)
		if !ok {
			t.Fatalf("%s is not there", name)
		}
		done(t, d, unset(item, name), edit.Edit{Op: edit.SetAttribute, Node: item, Name: "id", Value: v, Attr: e.Number})
		if i%50 == 0 {
			made := add(d, sheet, name, 0)
			done(t, d, made, edit.Edit{Op: edit.MoveNode, Node: made.Node, Parent: sheet, Name: "Made", Ordinal: 1 << 20})
			done(t, d, edit.Edit{Op: edit.MoveNode, Node: made.Node, Parent: sheet, Name: "Made", Ordinal: uint32(i)})
			kept[uint32(i)] = made.Node
		}
	}
	for ordinal, number := range kept {
		e, ok := d.Child(sheet, "Made", ordinal)
		if !ok || e.Number != number {
			t.Fatalf("the child Made.%d is %+v, want %d", ordinal, e, number)
		}
		done(t, d, edit.Edit{Op: edit.SetFlags, Node: number, Flags: 1})
	}
	before := listAll(t, d)
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: kept[50]})
	if after := listAll(t, d); strings.Count(before, "\n")-strings.Count(after, "\n") != 2 {
		t.Error("the removal of one node shows in others")
	}
	if e, ok := d.Attribute(item, "id"); !ok || e.Value != datacenter.IntValue(69_999) {
		t.Errorf("id is %+v", e)
	}
	g, _ := writeDraft(t, d, datacenter.LayoutAuto)
	if n := len(g.Names()); n > 20 {
		t.Errorf("%d names were written", n)
	}
}

func TestDraftOfManyNameBytes(t *testing.T) {
	testneeds.Slow(t, "makes names of 64 MiB")
	d := draftOf(t, keyedDoc(), dctest.Options{})
	const most = 64 << 20
	size := 65_534
	for i := range most/size - 1 {
		name := fmt.Sprintf("%0*d", size, i)
		done(t, d, set(1, name), unset(1, name))
	}
	done(t, d, set(1, strings.Repeat("k", size)))
	refused(t, d, datacenter.ErrTooLarge, set(1, strings.Repeat("x", size)))
	done(t, d, set(1, "short"))
}

func TestDraftOfManyKeys(t *testing.T) {
	d := draftOf(t, keyedDoc(), dctest.Options{})
	sheet := edit.Number(1)
	key := func(i int) datacenter.KeyDefinition {
		return datacenter.KeyDefinition{fmt.Sprintf("k%d", i/100), fmt.Sprintf("l%d", i%100)}
	}
	for i := range 10_000 { // used one after another, they need one place
		done(t, d, edit.Edit{Op: edit.SetKeys, Node: sheet, Keys: key(i)})
	}
	made := 3 // the empty one, the file's and the sheet's
	for ; made < 4096; made++ {
		e := add(d, sheet, "Made", uint32(made))
		e.Keys = key(made)
		done(t, d, e)
	}
	refused(t, d, datacenter.ErrTooLarge, edit.Edit{Op: edit.SetKeys, Node: 2, Keys: key(9_998)})
	e := add(d, sheet, "Made", uint32(made))
	e.Keys = key(9_998)
	refused(t, d, datacenter.ErrTooLarge, e)
	done(t, d, edit.Edit{Op: edit.SetKeys, Node: 2, Keys: key(100)})
	g, _ := writeDraft(t, d, datacenter.LayoutAuto)
	if n := len(g.KeyDefinitions()); n != 4096 {
		t.Errorf("%d key definitions were written", n)
	}
}

func legalDoc(t testing.TB, name string) dctest.Doc {
	t.Helper()
	for _, ex := range dctest.Legal() {
		if ex.Name == name {
			return ex.Doc
		}
	}
	t.Fatalf("no example %q", name)
	return dctest.Doc{}
}

func TestDraftOfManyChildren(t *testing.T) {
	d := draftOf(t, legalDoc(t, "65,535 children"), dctest.Options{})
	if err := d.Open(1); err != nil {
		t.Fatal(err)
	}
	wide := edit.Number(1)
	if info, _ := d.Node(wide); info.Children != 65535 {
		wide = 2 // behind the narrow one
	}
	if err := d.Open(wide); err != nil {
		t.Fatal(err)
	}
	narrow := add(d, 0, "Narrow", 9)
	done(t, d, narrow)
	refused(t, d, datacenter.ErrTooLarge, add(d, wide, "Leaf", 65535))
	refused(t, d, datacenter.ErrTooLarge, edit.Edit{Op: edit.MoveNode, Node: narrow.Node, Parent: wide, Name: "Narrow"})
	child, ok := d.Child(wide, "Leaf", 40_000)
	if !ok {
		t.Fatal("no such child")
	}
	done(t, d, edit.Edit{Op: edit.MoveNode, Node: child.Number, Parent: wide, Name: "Leaf", Ordinal: 70_000})
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: child.Number}, add(d, wide, "Leaf", 40_000))
	refused(t, d, datacenter.ErrTooLarge, add(d, wide, "Leaf", 65535))
	g, _ := writeDraft(t, d, datacenter.LayoutAuto)
	if got := g.Counts().Nodes; got != 65535+4 {
		t.Errorf("%d nodes were written", got)
	}
}

func TestDraftOfDeepNodes(t *testing.T) {
	d := draftOf(t, legalDoc(t, "1,000 nested nodes"), dctest.Options{})
	top := edit.Number(1)
	deep := top + 2*999 // each node has one attribute
	for range datacenter.MaxDepth - 1000 {
		e := add(d, deep, "Nested", 0)
		done(t, d, e)
		deep = e.Node
	}
	refused(t, d, datacenter.ErrTooLarge, add(d, deep, "Nested", 0))
	above := add(d, 0, "Above", 0)
	done(t, d, above)
	refused(t, d, datacenter.ErrTooLarge, edit.Edit{Op: edit.MoveNode, Node: top, Parent: above.Node, Name: "Nested"})
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: deep})
	done(t, d, edit.Edit{Op: edit.MoveNode, Node: top, Parent: above.Node, Name: "Nested"})
	writeDraft(t, d, datacenter.LayoutAuto)
}

func TestDraftOfManyEntries(t *testing.T) {
	testneeds.Slow(t, "makes a file of as many entries as there may be")
	many := func(name string, n int, child *dctest.Node) *dctest.Node {
		x := &dctest.Node{Name: name, Children: make([]*dctest.Node, n)}
		for i := range x.Children {
			x.Children[i] = child
		}
		return x
	}
	leaf := &dctest.Node{Name: "Leaf"}
	root := many(dctest.RootName, 134, many("Big", 1000, many("Mid", 1000, leaf)))
	rest := datacenter.MaxEntries - 1 - (1 + 134*(1+1000+1000*1000))
	root.Children = append(root.Children, many("Big", 50_000, leaf), many("Big", rest-50_001-1, leaf))
	d := draftOf(t, dctest.Doc{Root: root}, dctest.Options{})
	if got := d.Entries(); got != datacenter.MaxEntries-1 {
		t.Fatalf("%d entries", got)
	}
	done(t, d, set(1, "x"))
	refused(t, d, datacenter.ErrTooLarge, set(1, "y"))
	refused(t, d, datacenter.ErrTooLarge, add(d, 1, "Leaf", 5000))
	done(t, d, set(1, "x"))
	done(t, d, unset(1, "x"), add(d, 1, "Leaf", 5000))
	g, _ := writeDraft(t, d, datacenter.LayoutAuto)
	if c := g.Counts(); c.Nodes+c.Attributes != datacenter.MaxEntries {
		t.Errorf("wrote %+v", c)
	}
}
