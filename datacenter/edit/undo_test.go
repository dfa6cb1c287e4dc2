package edit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// listAll returns a text of all that a Draft lists. It opens every node for that.
func listAll(t testing.TB, d *edit.Draft) string {
	t.Helper()
	var b strings.Builder
	var visit func(n edit.Number)
	visit = func(n edit.Number) {
		if err := d.Open(n); err != nil {
			t.Fatal(err)
		}
		info, _ := d.Node(n)
		fmt.Fprintf(&b, "%d %q %d %d %q %d %d %d\n", n, info.Name, info.Ordinal, info.Parent, info.Keys, info.Flags, info.Attributes, info.Children)
		entries, _ := d.List(n, 0, 1<<30, nil)
		for _, e := range entries {
			v, ok := d.Value(e.Number)
			fmt.Fprintf(&b, "  %d %v %q %d %v %v %q %v %q %v\n", e.Number, e.Attribute, e.Name, e.Ordinal, e.Stored, e.Addr, e.Value.Text(), e.Added, v.Text(), ok)
			if !e.Attribute {
				visit(e.Number)
				continue
			}
			if node, name, err := d.Holder(e.Number); err != nil || node != n || name != e.Name {
				t.Fatalf("the holder of %d is %d %q, %v: want %d %q", e.Number, node, name, err, n, e.Name)
			}
		}
	}
	visit(0)
	return b.String()
}

// scriptOf returns a batch of edits of every kind.
func scriptOf(d *edit.Draft, m *model) []edit.Edit {
	sheet := m.root.kids[0]
	item, other, last := sheet.kids[0], sheet.kids[1], m.root.kids[len(m.root.kids)-1]
	made := d.NewNumber()
	return []edit.Edit{
		{Op: edit.SetAttribute, Node: item.number, Name: "id", Value: datacenter.IntValue(-7)},
		{Op: edit.SetAttribute, Node: item.number, Name: "novel", Value: datacenter.BoolValue(true)},
		{Op: edit.SetAttribute, Node: other.number, Name: "moved", Value: datacenter.IntValue(1), Attr: item.attrs["id"].number},
		{Op: edit.RemoveAttribute, Node: item.number, Name: "id"},
		{Op: edit.AddNode, Node: made, Parent: item.number, Name: "Made", Keys: datacenter.KeyDefinition{"fresh", "id"}, Flags: 1},
		{Op: edit.SetAttribute, Node: made, Name: "fresh", Value: datacenter.FloatValue(1)},
		{Op: edit.MoveNode, Node: other.number, Parent: made, Name: "Renamed", Ordinal: 3},
		{Op: edit.SetKeys, Node: other.number, Keys: datacenter.KeyDefinition{"k1", "k2"}},
		{Op: edit.SetFlags, Node: sheet.number, Flags: 1},
		{Op: edit.RemoveNode, Node: last.number},
		{Op: edit.MoveNode, Node: item.number, Parent: 0, Name: "Top", Ordinal: 0},
		{Op: edit.RemoveNode, Node: made},
	}
}

// TestDraftUndoes checks that the Draft stays unchanged and usable, whichever call of log
// fails and whichever edit of a batch can't be made.
func TestDraftUndoes(t *testing.T) {
	data := dctest.Build(keyedDoc(), dctest.Options{Placeholders: 4})
	for fail := range 13 {
		for _, batch := range []bool{false, true} {
			f := dctest.Open(t, data)
			calls, broken := 0, errors.New("no room left")
			failing := -1
			d, err := edit.NewDraft(f, func([]byte) error {
				calls++
				if calls-1 == failing {
					return broken
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			m := newModel(t, f)
			script := scriptOf(d, m)
			if batch {
				undoBatch(t, d, m, script[:min(fail, len(script))])
				continue
			}
			failing = fail
			for _, e := range script {
				before := listAll(t, d)
				entries, pending := d.Entries(), d.Pending()
				err := d.Apply(t.Context(), e)
				if err == nil {
					if err := m.apply(e); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if !errors.Is(err, broken) || listAll(t, d) != before || d.Entries() != entries || d.Pending() != pending {
					t.Fatalf("%+v: %v: not undone", e, err)
				}
				if err := d.Apply(t.Context(), e); err != nil {
					t.Fatalf("%+v, again: %v", e, err)
				}
				if err := m.apply(e); err != nil {
					t.Fatal(err)
				}
			}
			listAll(t, d)
			checkWritten(t, d, m, datacenter.LayoutAuto)
		}
	}
}

// undoBatch applies edits followed by one that is impossible.
func undoBatch(t *testing.T, d *edit.Draft, m *model, edits []edit.Edit) {
	t.Helper()
	before := listAll(t, d)
	impossible := edit.Edit{Op: edit.SetAttribute, Node: 0, Name: "x", Value: datacenter.IntValue(1)}
	err := d.Apply(t.Context(), append(slices.Clip(edits), impossible)...)
	if !errors.Is(err, datacenter.ErrValue) || listAll(t, d) != before || d.Entries() != m.entries() {
		t.Fatalf("%d edits before an impossible one: %v: not undone", len(edits), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Apply(ctx, edits...); !errors.Is(err, context.Canceled) || listAll(t, d) != before {
		t.Fatalf("a cancelled context: %v", err)
	}
	if err := d.Apply(t.Context(), edits...); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		if err := m.apply(e); err != nil {
			t.Fatal(err)
		}
	}
	listAll(t, d)
	checkWritten(t, d, m, datacenter.LayoutAuto)
}

// TestDraftUndoesMovedAttributes checks that an edited attribute keeps its number and value
// if a batch that moves it fails, in either order of its edits.
func TestDraftUndoesMovedAttributes(t *testing.T) {
	for _, removedFirst := range []bool{false, true} {
		f := dctest.Open(t, dctest.Build(keyedDoc(), dctest.Options{}))
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		top := newModel(t, f).root.kids[0]
		for len(top.attrs) == 0 {
			top = top.kids[0]
		}
		number := top.attrs["id"].number
		done(t, d, set(top.number, "id"))
		before := listAll(t, d)
		edits := []edit.Edit{
			{Op: edit.SetAttribute, Node: top.number, Name: "moved", Value: datacenter.IntValue(9), Attr: number},
			{Op: edit.RemoveAttribute, Node: top.number, Name: "id"},
		}
		if removedFirst {
			slices.Reverse(edits)
		}
		if err := d.Apply(t.Context(), append(slices.Clone(edits), set(0, "x"))...); !errors.Is(err, datacenter.ErrValue) {
			t.Fatal(err)
		}
		if listAll(t, d) != before {
			t.Errorf("removed first %v: not undone", removedFirst)
		}
		done(t, d, edits...)
		if v, ok := d.Value(number); !ok || v != datacenter.IntValue(9) {
			t.Errorf("removed first %v: the moved value is %q, %v", removedFirst, v.Text(), ok)
		}
		listAll(t, d)
	}
}

// checkWritten compares what a Draft of a file with a layout writes with the model.
func checkWritten(t testing.TB, d *edit.Draft, m *model, layout datacenter.Layout) {
	t.Helper()
	g, _ := writeDraft(t, d, layout)
	want := m.clone()
	want.root.sort(nameOrder(g))
	if got := newModel(t, g).String(); got != want.String() {
		t.Fatalf("the file holds\n%.3000s\nwant\n%.3000s", got, want)
	}
}

// TestDraftUndoesNames checks that a failed batch leaves no names and key definitions
// behind. They would use up the room for others, and change the order of later ones.
func TestDraftUndoesNames(t *testing.T) {
	data := dctest.Build(keyedDoc(), dctest.Options{})
	var files [2][]byte
	for i := range files {
		f := dctest.Open(t, data)
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		sheet := newModel(t, f).root.kids[0].number
		set := func(name string) edit.Edit {
			return edit.Edit{Op: edit.SetAttribute, Node: sheet, Name: name, Value: datacenter.IntValue(1)}
		}
		if i == 1 {
			bad := edit.Edit{Op: edit.SetKeys, Node: sheet, Keys: datacenter.KeyDefinition{"q", "__value__"}}
			if err := d.Apply(t.Context(), set("z"), set("y"), bad); !errors.Is(err, datacenter.ErrValue) {
				t.Fatal(err)
			}
		}
		if err := d.Apply(t.Context(), set("x"), set("y"), set("z")); err != nil {
			t.Fatal(err)
		}
		_, files[i] = writeDraft(t, d, datacenter.LayoutAuto)
	}
	if string(files[0]) != string(files[1]) {
		t.Error("a failed batch shows in the file")
	}
}

// TestDraftReadWhileEdited checks that readers don't wait for edits and saves, and never
// see half of one.
func TestDraftReadWhileEdited(t *testing.T) {
	f := dctest.Open(t, dctest.Build(keyedDoc(), dctest.Options{}))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, f)
	sheet := m.root.kids[0]
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					readEverything(t, d, sheet.number)
				}
			}
		})
	}
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() { editAll(t, d, sheet, w) })
	}
	writers.Go(func() {
		for range 5 {
			writeDraft(t, d, datacenter.LayoutAuto)
		}
	})
	writers.Wait()
	close(stop)
	readers.Wait()
	listAll(t, d)
	writeDraft(t, d, datacenter.LayoutAuto)
}

// editAll makes nodes with two attributes each, in one batch for each node.
func editAll(t *testing.T, d *edit.Draft, sheet *modelNode, w int) {
	for i := range 40 {
		n := d.NewNumber()
		err := d.Apply(t.Context(),
			edit.Edit{Op: edit.AddNode, Node: n, Parent: sheet.number, Name: "Twin", Ordinal: uint32(w*1000 + i)},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: fmt.Sprintf("a%d", i), Value: datacenter.IntValue(int32(i))},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "b", Value: datacenter.IntValue(int32(i))},
		)
		if err == nil && i%3 == 0 {
			err = d.Apply(t.Context(), edit.Edit{Op: edit.RemoveNode, Node: n})
		}
		if err == nil {
			err = d.Apply(t.Context(), edit.Edit{
				Op: edit.SetAttribute, Node: sheet.kids[i%len(sheet.kids)].number, Name: "id", Value: datacenter.IntValue(int32(i)),
			})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func readEverything(t *testing.T, d *edit.Draft, sheet edit.Number) {
	entries, _ := d.List(sheet, 0, 1000, nil)
	for _, e := range entries {
		d.Touched(e.Number)
		d.Child(sheet, e.Name, e.Ordinal)
		if info, ok := d.Node(e.Number); ok && e.Name == "Twin" && info.Attributes > 2 {
			t.Errorf("%d attributes, where 2 are given", info.Attributes)
		}
		attrs, _ := d.List(e.Number, 0, 100, nil)
		for _, a := range attrs {
			d.Value(a.Number)
			d.Attribute(e.Number, a.Name)
		}
	}
	d.Entries()
	d.Pending()
	if _, _, err := d.TypeOnPath(sheet, "id"); err != nil {
		t.Error(err)
	}
}
