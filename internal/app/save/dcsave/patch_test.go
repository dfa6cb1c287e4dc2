package dcsave

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/app/save"
	"lorefs/internal/formats/datacenter/dctest"
	"lorefs/internal/formats/datacenter/diff"
)

// savedDraft returns what a draft is written as.
func savedDraft(t *testing.T, d *edit.Draft) *datacenter.File {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	if _, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	return dctest.Open(t, out.Bytes())
}

// wantPatched checks that a patch, written and read, makes a file what a draft is, but for the
// order of siblings if that is not known.
func wantPatched(t *testing.T, f *datacenter.File, p *patch.Patch, want *datacenter.File, opts diff.Options) {
	t.Helper()
	text := p.Append(nil)
	p, err := patch.Parse("p", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := patch.NewApplier(f, d).Plan(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range r.Items {
		if it.Outcome != patch.Applied {
			t.Errorf("%s", r.Describe(it))
		}
	}
	if err := d.Apply(t.Context(), r.Edits...); err != nil {
		t.Fatal(err)
	}
	var differences []byte
	for x, err := range diff.Compare(t.Context(), savedDraft(t, d), want, opts) {
		if err != nil {
			t.Fatal(err)
		}
		differences = x.Append(differences)
	}
	if len(differences) > 0 {
		t.Errorf("%s\nafter\n%s", differences, text)
	}
}

// A journal becomes a patch without the file on which its edits were made; of one without
// notes, as of version 1, the edits are at least told.
func TestPatchOfJournal(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	n := numbers(t, base)
	e := p.mustOpen(Options{})
	editShop(t, e.Draft(), n)
	// What was removed below an edited node, and edited below a removed one.
	for _, x := range []edit.Edit{
		{Op: edit.RemoveNode, Node: n["Goods/Item.2/Stat"]},
		{Op: edit.SetAttribute, Node: n["Twins/Twin.3/Leaf"], Name: "v", Value: datacenter.IntValue(1)},
		{Op: edit.RemoveNode, Node: n["Twins/Twin.3"]},
	} {
		if err := e.Draft().Apply(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	want := savedDraft(t, e.Draft())
	e.close()
	journal := p.describe()
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	got, missing, err := PatchOf(&journal)
	if err != nil || missing > 0 {
		t.Fatalf("%d are missing, %v", missing, err)
	}
	wantPatched(t, base, got, want, diff.Options{IgnoreOrder: true})
	withoutNotes(t, p.journal())
	journal = p.describe()
	got, missing, err = PatchOf(&journal)
	if err != nil || missing == 0 || len(got.Blocks) > 0 || len(got.Notes) != missing {
		t.Errorf("%d are missing, %v, of\n%s", missing, err, got.Append(nil))
	}
	if text := string(got.Append(nil)); !strings.Contains(text, "price: ") {
		t.Errorf("what is missing is\n%s", text)
	}
	if _, err := patch.Parse("p", got.Append(nil)); err != nil {
		t.Error(err)
	}
}

// A removed node that is too large for the journal, and a moved one that was edited below, are in
// the patch of a journal.
func TestPatchOfLargeAndMoved(t *testing.T) {
	p := newPlace(t, 0)
	p.put(depot())
	base := p.openFile()
	n := numbers(t, base)
	e := p.mustOpen(Options{})
	d := e.Draft()
	made := d.NewNumber()
	for _, x := range []edit.Edit{
		{Op: edit.RemoveNode, Node: n["Hall/Room/Shelf.7"]},
		{Op: edit.RemoveNode, Node: n["Hall/Room"]},
		{Op: edit.SetAttribute, Node: n["Yard/Box/Part.1"], Name: "v", Value: datacenter.IntValue(-1)},
		{Op: edit.RemoveNode, Node: n["Yard/Box/Part.2"]},
		{Op: edit.MoveNode, Node: n["Yard/Box"], Parent: n["Hall"], Name: "Crate"},
		{Op: edit.AddNode, Node: made, Parent: n["Yard/Box"], Name: "Part", Ordinal: 60, Rank: edit.RankGap + 5},
		{Op: edit.SetAttribute, Node: made, Name: "v", Value: datacenter.IntValue(100)},
		{Op: edit.MoveNode, Node: n["Yard/Box/Part.3"], Parent: n["Yard"], Name: "Part"},
		{Op: edit.SetAttribute, Node: n["Yard/Box/Part.3/Label"], Name: "v", Value: datacenter.IntValue(33)},
		{Op: edit.RemoveAttribute, Node: n["Yard/Box"], Name: "v"},
	} {
		if err := d.Apply(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	want := savedDraft(t, d)
	e.close()
	journal := p.describe()
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	got, missing, err := PatchOf(&journal)
	if err != nil || missing > 0 {
		t.Fatalf("%d are missing, %v:\n%s", missing, err, got.Append(nil))
	}
	wantPatched(t, base, got, want, diff.Options{})
	removed := got.Blocks[slices.IndexFunc(got.Blocks, func(b patch.Block) bool { return b.Kind == patch.Remove && b.Node.Name == "Room" })]
	if text := string(removed.Append(nil)); len(text) > 200 || !strings.Contains(text, "\n-%hash Room ") || removed.Entries() != 2+2*5000 {
		t.Errorf("%d entries are removed by\n%.500s", removed.Entries(), text)
	}
}

// depot builds a data center with a node of which a note would be too large.
func depot() []byte {
	node := func(name string, v int, kids ...*dctest.Node) *dctest.Node {
		return &dctest.Node{Name: name, Attrs: []dctest.Attr{{Name: "v", Value: v}}, Children: kids}
	}
	var shelves, parts []*dctest.Node
	for i := range 5000 {
		shelves = append(shelves, node("Shelf", i))
	}
	for i := range 5 {
		parts = append(parts, node("Part", i, node("Label", i)))
	}
	return dctest.Build(dctest.Doc{Root: dctest.Root(
		node("Hall", 1, node("Room", 1, shelves...), node("Room", 2)), node("Yard", 2, node("Box", 1, parts...), node("Box", 1)),
	)}, dctest.Options{})
}

// What was edited is in a patch of the journal also if the process dies before the nodes are described.
func TestPatchOfLastEdits(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	n := numbers(t, base)
	e := p.mustOpen(Options{})
	e.notes.hold() // as if it never came to its work
	defer e.notes.release()
	made := e.Draft().NewNumber()
	for _, x := range []edit.Edit{
		{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "price", Value: datacenter.IntValue(21)},
		{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "text", Value: datacenter.IntValue(22)},
		{Op: edit.SetAttribute, Node: n["Goods.1/Item"], Name: "new", Value: datacenter.IntValue(1)},
		{Op: edit.SetAttribute, Node: n["Names/Name.1"], Name: "s", Value: datacenter.IntValue(1)},
		{Op: edit.SetKeys, Node: n["Goods/Item.1"], Keys: datacenter.KeyDefinition{"price"}},
		{Op: edit.RemoveNode, Node: n["Goods/Item.3"]},
		{Op: edit.MoveNode, Node: n["Goods/Item/Stat"], Parent: n["Goods.1/Item"], Name: "Moved"},
		{Op: edit.SetAttribute, Node: n["Goods/Item/Stat"], Name: "hp", Value: datacenter.IntValue(7)},
		{Op: edit.AddNode, Node: made, Parent: n["Goods/Item.2/Stat"], Name: "Part"},
		{Op: edit.SetAttribute, Node: made, Name: "v", Value: datacenter.IntValue(9)},
	} {
		if err := e.Draft().Apply(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	journal, err := save.Kinds{Kind}.Find(p.path)
	if err != nil {
		t.Fatal(err)
	}
	got, missing, err := PatchOf(&journal)
	if err != nil || missing > 0 {
		t.Fatalf("%d are missing, %v:\n%s", missing, err, got.Append(nil))
	}
	wantPatched(t, base, got, savedDraft(t, e.Draft()), diff.Options{IgnoreOrder: true})
}
