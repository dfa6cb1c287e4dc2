package edit_test

import (
	"bytes"
	"slices"
	"strconv"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// Numbers of nodes in the file of outOfOrder. Each item has two attributes.
const (
	sheetA = edit.Number(1)
	itemA1 = edit.Number(2)
	itemA3 = edit.Number(5)
	itemA4 = edit.Number(11)
)

// outOfOrder returns a file whose sheets have the items 1, 3, 2, 4 and 11, 13, 12, 14, although id is
// their key.
func outOfOrder(t *testing.T) []byte {
	t.Helper()
	sheet := func(name string, first, items int) *dctest.Node {
		n := &dctest.Node{Name: name}
		for i := range items {
			n.Children = append(n.Children, &dctest.Node{
				Name: "Item", Keys: []string{"id"},
				Attrs: []dctest.Attr{{Name: "id", Value: first + i}, {Name: "name", Value: "item " + strconv.Itoa(first+i)}},
			})
		}
		return n
	}
	// A large sheet, so that what the edits leave unused is a small part.
	root := dctest.Root(sheet("A", 1, 4), sheet("B", 11, 4), sheet("C", 21, 1000))
	m := dctest.NewImage(dctest.Doc{Root: root}, dctest.Options{})
	for s := range 2 {
		x, y := m.NodeOffset(m.Child(s, 1)), m.NodeOffset(m.Child(s, 2))
		was := bytes.Clone(m.Data[x : x+m.Nodes.Size])
		copy(m.Data[x:], m.Data[y:y+m.Nodes.Size])
		copy(m.Data[y:], was)
	}
	return m.Seal(dctest.SealOptions{})
}

// ids returns the ids of the items of a sheet.
func ids(t *testing.T, f *datacenter.File, sheet int) (list []int32) {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	n, err := root.ChildAt(sheet)
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range n.Children() {
		if err != nil {
			t.Fatal(err)
		}
		for a, err := range item.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			if a.Name() == "id" {
				list = append(list, a.Int())
			}
		}
	}
	return list
}

// TestSpliceKeepsOrder saves edits of a file whose siblings are not in the order of their keys. Where
// an edited item is in order among its neighbours nothing moves, otherwise its siblings are sorted.
// Other siblings stay as they are, so that the save is in proportion to the edit.
func TestSpliceKeepsOrder(t *testing.T) {
	set := func(n edit.Number, name string, v datacenter.Value) edit.Edit {
		return edit.Edit{Op: edit.SetAttribute, Node: n, Name: name, Value: v}
	}
	text, err := datacenter.StringValue("new")
	if err != nil {
		t.Fatal(err)
	}
	add := func(d *edit.Draft, id int32) []edit.Edit {
		n := d.NewNumber()
		return []edit.Edit{
			{Op: edit.AddNode, Node: n, Parent: sheetA, Name: "Item", Ordinal: 1000},
			{Op: edit.SetKeys, Node: n, Keys: datacenter.KeyDefinition{"id"}},
			set(n, "id", datacenter.IntValue(id)),
		}
	}
	for name, tt := range map[string]struct {
		edits func(d *edit.Draft) []edit.Edit
		want  []int32
	}{
		"an item in order":      {func(*edit.Draft) []edit.Edit { return []edit.Edit{set(itemA4, "name", text)} }, []int32{1, 3, 2, 4}},
		"an item out of order":  {func(*edit.Draft) []edit.Edit { return []edit.Edit{set(itemA3, "name", text)} }, []int32{1, 2, 3, 4}},
		"a key":                 {func(*edit.Draft) []edit.Edit { return []edit.Edit{set(itemA1, "id", datacenter.IntValue(9))} }, []int32{2, 3, 4, 9}},
		"the sheet":             {func(*edit.Draft) []edit.Edit { return []edit.Edit{set(sheetA, "name", text)} }, []int32{1, 3, 2, 4}},
		"a new last item":       {func(d *edit.Draft) []edit.Edit { return add(d, 9) }, []int32{1, 3, 2, 4, 9}},
		"a new item in between": {func(d *edit.Draft) []edit.Edit { return add(d, 3) }, []int32{1, 2, 3, 3, 4}},
		"an item less":          {func(*edit.Draft) []edit.Edit { return []edit.Edit{{Op: edit.RemoveNode, Node: itemA1}} }, []int32{3, 2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			f := openBlocks(t, outOfOrder(t))
			d, err := edit.NewDraft(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Apply(t.Context(), tt.edits(d)...); err != nil {
				t.Fatal(err)
			}
			g := spliceAndRebase(t, d)
			// What is based on that is saved once more.
			if err := d.Apply(t.Context(), set(itemA4, "name", datacenter.IntValue(5))); err != nil {
				t.Fatal(err)
			}
			h := spliceAndRebase(t, d)
			for _, f := range []*datacenter.File{g, h} {
				if a, b := ids(t, f, 0), ids(t, f, 1); !slices.Equal(a, tt.want) || !slices.Equal(b, []int32{11, 13, 12, 14}) {
					t.Errorf("items %v and %v, want %v", a, b, tt.want)
				}
			}
		})
	}
}

// spliceAndRebase splices the base of a draft, checks the result, and continues with it.
func spliceAndRebase(t *testing.T, d *edit.Draft) *datacenter.File {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	written, spliced, err := s.Splice(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.NewReader(out.Bytes())
	if err := checkSpliced(t.Context(), spliced, data, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	g, err := spliced.Open(data, data.Size(), datacenter.Options{BlockSize: blocksOfTests})
	if err == nil {
		err = written.CompareSpliced(t.Context(), g)
	}
	if err == nil { // that it is right in every node, too
		err = written.Compare(t.Context(), openBlocks(t, out.Bytes()))
	}
	if err == nil {
		err = d.Rebase(t.Context(), written, g, func([][]byte) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}
