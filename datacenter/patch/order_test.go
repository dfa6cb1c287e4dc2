package patch_test

import (
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// first is a node of a small file, by its place among the nodes and attributes; children of the
// one sheet begin at 2.
const first edit.Number = 2

// A patch of a draft does what the draft did, once, and reversed takes that back, with the order
// of siblings.
func TestOrderOfSiblings(t *testing.T) {
	move := func(n edit.Number, rank uint64) edit.Edit {
		return edit.Edit{Op: edit.MoveNode, Node: n, Parent: 1, Name: "I", Ordinal: 1000 + uint32(n), Rank: rank}
	}
	set := func(n edit.Number, name string, v int32) edit.Edit {
		return edit.Edit{Op: edit.SetAttribute, Node: n, Name: name, Value: datacenter.IntValue(v)}
	}
	keys := func(n edit.Number, names ...string) edit.Edit {
		return edit.Edit{Op: edit.SetKeys, Node: n, Keys: names}
	}
	remove := func(n edit.Number) edit.Edit { return edit.Edit{Op: edit.RemoveNode, Node: n} }
	item := func(attrs ...any) *dctest.Node { return of("I", attrs...) }
	byID := func(id, v int) *dctest.Node { return keyed(item("id", id, "v", v), "id") }
	for _, tt := range []struct {
		name   string
		items  []*dctest.Node
		edits  []edit.Edit
		blocks int
	}{
		{"equal keys become others", []*dctest.Node{byID(1, 1), byID(1, 2)}, []edit.Edit{set(first, "id", 2)}, 3},
		{"a node gets keys", []*dctest.Node{item("v", 1), item("v", 2)}, []edit.Edit{keys(first, "v")}, 3},
		{"keys change the order", []*dctest.Node{byID(1, 1), byID(2, 2)}, []edit.Edit{set(first, "id", 3)}, 1},
		{"equal nodes pass each other", []*dctest.Node{item("v", 1), item("v", 1), item("v", 2)}, []edit.Edit{move(first, 5*edit.RankGap/2)}, 0},
		{"nodes that differ pass each other", []*dctest.Node{item("v", 1), item("v", 2)}, []edit.Edit{move(first, 5*edit.RankGap/2)}, 2},
		{
			"a moved node and one that is removed",
			[]*dctest.Node{item("v", 1), item("v", 2), item("v", 3), item("v", 4)},
			[]edit.Edit{move(first, 9*edit.RankGap/2), remove(first + 2)},
			3,
		},
		{
			"removed behind one that keys move",
			[]*dctest.Node{keyed(item("v", 1), "id"), keyed(item("v", 2), "id"), keyed(item("v", 3), "id"), byID(3, 4)},
			[]edit.Edit{keys(first+2, "xId", "w"), remove(first + 4)},
			2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Another node keeps the sheet from being replaced as a whole.
			a := open(t, under(of("S"), append(tt.items, of("Z"))...))
			d, err := edit.NewDraft(a, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Apply(t.Context(), tt.edits...); err != nil {
				t.Fatal(err)
			}
			b, p := saved(t, d), makeDraft(t, d, "")
			if len(p.Blocks) != tt.blocks {
				t.Errorf("%d blocks; want %d", len(p.Blocks), tt.blocks)
			}
			got, results := apply(t, a, p)
			if text := differences(t, b, saved(t, got)); text != "" || results[0].Conflicts > 0 {
				t.Errorf("%s%s", conflicts(results[0]), text)
			}
			if _, results = apply(t, b, p); len(results[0].Edits)+results[0].Conflicts > 0 {
				t.Errorf("again: %d edits, %s", len(results[0].Edits), conflicts(results[0]))
			}
			got, results = apply(t, b, reread(t, p.Reverse()))
			if text := differences(t, a, saved(t, got)); text != "" || results[0].Conflicts > 0 {
				t.Errorf("back: %s%s", conflicts(results[0]), text)
			}
			if t.Failed() {
				t.Logf("%s", p.Append(nil))
			}
		})
	}
}

// Where nodes equal to each other go from one of like sheets to another one, the siblings of all
// sheets together look as before. A patch that was applied is still known to be.
func TestAmongLikeSheets(t *testing.T) {
	sheet := func(v int, kids ...*dctest.Node) *dctest.Node {
		return under(of("S"), append(kids, of("Z", "v", v))...)
	}
	a := open(t, sheet(1, of("I"), of("I")), sheet(2, of("I")))
	b := open(t, sheet(1, of("I")), sheet(2, of("I"), of("I")))
	p := makePatch(t, a, b)
	got, results := apply(t, a, p)
	if text := differences(t, b, saved(t, got)); text != "" || results[0].Conflicts > 0 {
		t.Errorf("%s%s", conflicts(results[0]), text)
	}
	if _, results = apply(t, b, p); len(results[0].Edits)+results[0].Conflicts > 0 {
		t.Errorf("again: %d edits, %s", len(results[0].Edits), conflicts(results[0]))
	}
	got, results = apply(t, b, reread(t, p.Reverse()))
	if text := differences(t, a, saved(t, got)); text != "" || results[0].Conflicts > 0 {
		t.Errorf("back: %s%s", conflicts(results[0]), text)
	}
	if t.Failed() {
		t.Logf("%s", p.Append(nil))
	}
}

// A node is taken out from between twins, below one that gets another id, which is below one that only
// its place tells from a sibling then. The places of the twins must be known in what was saved as well.
func TestBelowNewID(t *testing.T) {
	set := func(n edit.Number, name string, v int32) edit.Edit {
		return edit.Edit{Op: edit.SetAttribute, Node: n, Name: name, Value: datacenter.IntValue(v)}
	}
	sheet := under(of("S"),
		under(of("P", "xId", 1), under(of("I", "id", 1), of("B"), of("B", "v", 2), of("B"))),
		of("P", "xId", 2))
	for range 20 { // they keep the sheet from being replaced as a whole
		sheet.Children = append(sheet.Children, of("Z"))
	}
	f := open(t, sheet)
	var item, taken, other edit.Number
	for _, s := range spots(t, f) {
		switch {
		case s.node.Name() == "I":
			item = s.number
		case s.node.Name() == "B" && s.node.AttributeCount() > 0:
			taken = s.number
		case s.node.Name() == "P":
			other = s.number
		}
	}
	thereAndBack(t, t, f, draftOf(t, f, set(item, "id", 2), set(other, "xId", 1), edit.Edit{Op: edit.RemoveNode, Node: taken}))
}
