package dckind_test

import (
	"bytes"
	"strings"
	"testing"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/datacenter/edit"
)

// TestMovedEdits moves a node to another sheet of the same name, and one among its siblings. Only the
// latter is listed as another order.
func TestMovedEdits(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := editableSample(t, t.TempDir())
	t.Cleanup(func() { _ = s.Close() })
	d := dckind.Draft(s)
	children := func(n edit.Number, name string) (list []edit.Entry) {
		t.Helper()
		if err := d.Open(n); err != nil { // else it has no children in the draft
			t.Fatal(err)
		}
		all, _, err := d.OrderedChildren(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.Name == name {
				list = append(list, c)
			}
		}
		return list
	}
	itemSheets := children(0, "ItemData")
	items := children(itemSheets[0].Number, "Item")
	town := children(children(0, "Weather")[0].Number, "Aldermoor")[0].Number
	hours := children(town, "Hour")
	if len(itemSheets) < 2 || len(hours) < 3 {
		t.Fatalf("%d sheets, %d hours", len(itemSheets), len(hours))
	}
	for _, e := range []edit.Edit{
		{Op: edit.MoveNode, Node: items[0].Number, Parent: itemSheets[1].Number, Name: "Item", Ordinal: 60_000},
		{Op: edit.MoveNode, Node: hours[0].Number, Parent: town, Name: "Hour", Ordinal: 60_000},
	} {
		if err := d.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for f, want := range map[kinds.EditsFormat]map[string]int{
		kinds.EditsText: {"- /ItemData/Item[@id=1000]/ moved\n+ /ItemData/Item[@id=1000]/ moved\n": 1, " moved\n": 2, " order\n": 2},
		kinds.EditsJSON: {`"kind":"node_moved","path":"/ItemData/Item[@id=1000]"`: 1, `"order_changed"`: 1},
	} {
		var out bytes.Buffer
		if err := s.WriteEdits(t.Context(), &out, f, ""); err != nil {
			t.Fatal(err)
		}
		for text, n := range want {
			if strings.Count(out.String(), text) != n {
				t.Errorf("want %d of %q in\n%s", n, text, out.String())
			}
		}
	}
}
