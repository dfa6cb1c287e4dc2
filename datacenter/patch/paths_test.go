package patch_test

import (
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
)

// The paths of what was edited are those in the base, also where what leads to it was edited;
// those of added nodes go on from there.
func TestPaths(t *testing.T) {
	f := open(t, under(of("S", "name", "x"),
		keyed(of("Item", "id", 1, "v", 5), "id"), keyed(of("Item", "id", 2), "id"), of("Twin"), of("Twin", "note", "a"), of("Twin", "note", "b")), of("S", "name", "y"))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	change := func(edits ...edit.Edit) {
		t.Helper()
		if err := d.Apply(t.Context(), edits...); err != nil {
			t.Fatal(err)
		}
	}
	// The base is a file in which all numbers are other ones.
	first := d.NewNumber()
	change(edit.Edit{Op: edit.AddNode, Node: first, Parent: 1, Name: "A", Ordinal: 0})
	rebase(t, d, func() {})
	item, sibling, below := d.NewNumber(), d.NewNumber(), d.NewNumber()
	change(
		edit.Edit{Op: edit.SetAttribute, Node: 3, Name: "id", Value: datacenter.IntValue(7)},
		edit.Edit{Op: edit.SetAttribute, Node: 11, Name: "note", Value: datacenter.IntValue(3)},
		edit.Edit{Op: edit.AddNode, Node: item, Parent: 1, Name: "Item", Ordinal: 9, Keys: datacenter.KeyDefinition{"id"}},
		edit.Edit{Op: edit.SetAttribute, Node: item, Name: "id", Value: datacenter.IntValue(3)},
		edit.Edit{Op: edit.AddNode, Node: sibling, Parent: 1, Name: "Twin", Ordinal: 9},
		edit.Edit{Op: edit.AddNode, Node: below, Parent: sibling, Name: "B", Ordinal: 0},
	)
	s := d.Snapshot()
	defer s.Close()
	p, err := patch.NewPaths(t.Context(), s.Reader())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[edit.Number]string{
		0: "/", 9: "/S[@name='x']/Twin[@note='a']", 11: "/S[@name='x']/Twin[3]", 1: "/S[@name='x']", first: "/S[@name='x']/A", 3: "/S[@name='x']/Item[@id=1]", 6: "/S[@name='x']/Item[@id=2]",
		item: "/S[@name='x']/Item[@id=3]", sibling: "/S[@name='x']/Twin[4]", below: "/S[@name='x']/Twin[4]/B",
	} {
		if got, err := p.Node(n); got != want || err != nil {
			t.Errorf("%d is %s, %v; want %s", n, got, err, want)
		}
	}
}
