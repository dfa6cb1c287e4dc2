package edit_test

import (
	"errors"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// pathDoc has one attribute name with different types on different paths.
func pathDoc() dctest.Doc {
	at := func(name string, v any, kids ...*dctest.Node) *dctest.Node {
		return &dctest.Node{Name: name, Attrs: []dctest.Attr{{Name: "x", Value: v}}, Children: kids}
	}
	keyed := &dctest.Node{Name: "Keyed", Keys: []string{"id", "zone"}, Attrs: []dctest.Attr{{Name: "id", Value: 1}, {Name: "late", Value: true}}}
	return dctest.Doc{Root: dctest.Root(
		at("A", 1, at("B", float32(1), at("C", "text"))),
		&dctest.Node{Name: "A", Children: []*dctest.Node{{Name: "B"}, {Name: "B", Children: []*dctest.Node{{Name: "C"}, keyed}}}},
		at("B", true, at("A", "text")),
	)}
}

func TestTypesOnPaths(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		img := dctest.NewImage(pathDoc(), dctest.Options{Placeholders: 1})
		if reversed {
			reverseRuns(img)
		}
		f := dctest.Open(t, img.Seal(dctest.SealOptions{}))
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, f)
		at := func(path ...string) edit.Number { // the last node of each name
			n := m.root
			for _, name := range path {
				i := slices.IndexFunc(n.kids, func(k *modelNode) bool { return k.name == name })
				n = n.kids[i]
			}
			return n.number
		}
		for range 2 { // the second time from the cache
			for _, tt := range []struct {
				node edit.Number
				attr string
				want datacenter.Type
			}{
				{at("A"), "x", datacenter.Int},
				{at("A", "B"), "x", datacenter.Float},
				{at("B"), "x", datacenter.Bool},
				{at("B", "A"), "x", datacenter.String},
				{at("A"), "late", 0},
				{at("A"), "never", 0},
				{0, "x", 0},
			} {
				got, ok, err := d.TypeOnPath(tt.node, tt.attr)
				if err != nil || got != tt.want || ok != (tt.want != 0) {
					t.Errorf("the type of %s of %d: %v %v, %v: want %v", tt.attr, tt.node, got, ok, err, tt.want)
				}
			}
		}
		checkNewOnPath(t, d, at("A"))
		checkKeysOnPath(t, d, at)
	}
}

// checkNewOnPath makes nodes on a path of the file. They get the types of that path.
func checkNewOnPath(t *testing.T, d *edit.Draft, a edit.Number) {
	t.Helper()
	b, c, x := d.NewNumber(), d.NewNumber(), d.NewNumber()
	err := d.Apply(t.Context(),
		edit.Edit{Op: edit.AddNode, Node: b, Parent: a, Name: "B", Ordinal: 100},
		edit.Edit{Op: edit.AddNode, Node: c, Parent: b, Name: "C"},
		edit.Edit{Op: edit.AddNode, Node: x, Parent: b, Name: "unheard"},
		edit.Edit{Op: edit.SetAttribute, Node: x, Name: "new", Value: datacenter.IntValue(1)},
	)
	if err != nil {
		t.Fatal(err)
	}
	for node, want := range map[edit.Number]datacenter.Type{c: datacenter.String, b: datacenter.Float, x: 0} {
		if got, ok, err := d.TypeOnPath(node, "x"); err != nil || got != want || ok != (want != 0) {
			t.Errorf("the type of x of the new %d: %v, %v: want %v", node, got, err, want)
		}
	}
	if got, ok, err := d.TypeOnPath(x, "new"); ok || err != nil {
		t.Errorf("a new name has the type %v, %v", got, err)
	}
	if err := d.Apply(t.Context(), edit.Edit{Op: edit.RemoveNode, Node: b}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.TypeOnPath(c, "x"); !errors.Is(err, edit.ErrGone) {
		t.Errorf("of a node that is gone: %v", err)
	}
}

func checkKeysOnPath(t *testing.T, d *edit.Draft, at func(...string) edit.Number) {
	t.Helper()
	for range 2 {
		for _, tt := range []struct {
			parent edit.Number
			name   string
			want   datacenter.KeyDefinition
		}{
			{at("A", "B"), "Keyed", datacenter.KeyDefinition{"id", "zone"}},
			{at("A"), "Keyed", nil},
			{0, "A", nil},
			{at("A", "B"), "nowhere", nil},
		} {
			if got, err := d.KeysOnPath(tt.parent, tt.name); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("the keys of %s in %d: %v, %v: want %v", tt.name, tt.parent, got, err, tt.want)
			}
		}
	}
	if _, err := d.KeysOnPath(1<<26, "A"); !errors.Is(err, edit.ErrGone) {
		t.Errorf("of a node that never was: %v", err)
	}
}
