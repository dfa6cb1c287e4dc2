package dctree_test

import (
	"fmt"
	"testing"
	"time"

	"lorefs/datacenter/dctest"
	"lorefs/nodes"
)

// A save works even if nothing can be logged any more, and also if a file was renamed aside.
func TestSaveHiddenUnlogged(t *testing.T) {
	e := editable(t, weapon())
	must(t, e.write(t, e.mustAt(t, "Weapon/Item/id"), "7\n"))
	must(t, e.rename(t, "Weapon/Item/name", "Weapon/Item/name~"))
	e.full = errFull
	if err := e.RemoveHidden(t.Context()); err != nil {
		t.Errorf("nothing is saved: %v", err)
	}
}

// The time that futimens(2) sets before close(2) stays; cp -p and tar rely on it.
func TestTimeBeforeClose(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item/id")
	w := e.open(t, id)
	must(t, w.Truncate(t.Context(), 0))
	_, err := w.WriteAt(t.Context(), []byte("7\n"), 0)
	must(t, err)
	want := time.Unix(1_000_000_000, 0)
	must(t, e.SetModTime(t.Context(), id, want))
	must(t, w.Flush(t.Context()))
	must(t, w.Release())
	attr, err := e.Attr(t.Context(), id)
	must(t, err)
	if !attr.ModTime.Equal(want) {
		t.Errorf("the time is %v, want %v", attr.ModTime, want)
	}
}

// close(2) must not change the time, because the kernel has read it after the write and doesn't
// ask again.
func TestTimeAtClose(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item/id")
	w := e.open(t, id)
	must(t, w.Truncate(t.Context(), 0))
	_, err := w.WriteAt(t.Context(), []byte("7\n"), 0)
	must(t, err)
	before, err := e.Attr(t.Context(), id)
	must(t, err)
	e.changes = nil
	must(t, w.Flush(t.Context()))
	after, err := e.Attr(t.Context(), id)
	must(t, err)
	if !after.ModTime.Equal(before.ModTime) && len(e.changes) == 0 {
		t.Errorf("the time went from %v to %v, and nobody was told", before.ModTime, after.ModTime)
	}
	must(t, w.Release())
}

// many returns a document with a sheet of n items.
func many(n int) dctest.Doc {
	sheet := &dctest.Node{Name: "S"}
	for i := range n {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Item", Attrs: []dctest.Attr{
			{Name: "id", Value: i}, {Name: "a", Value: 1}, {Name: "b", Value: 2}, {Name: "c", Value: "x"},
		}})
	}
	return dctest.Doc{Root: dctest.Root(sheet)}
}

// Nodes that are made between siblings after a save stay between them, however many there are.
func TestRoomBetweenSiblings(t *testing.T) {
	e := editable(t, many(100))
	sheet := e.mustAt(t, "S")
	item := func(i int) string {
		if i == 0 {
			return "Item"
		}
		return fmt.Sprintf("Item.%d", i)
	}
	for i := 3; i < 53; i++ {
		for _, f := range []string{"id", "a", "b", "c"} {
			must(t, e.remove(t, "S/"+item(i)+"/"+f))
		}
		must(t, e.Remove(t.Context(), sheet, item(i), nodes.Dir))
	}
	e.save(t)
	for i := 3; i < 53; i++ {
		_, err := e.Mkdir(t.Context(), sheet, item(i))
		must(t, err)
		must(t, e.write(t, e.create(t, "S/"+item(i)+"/id"), fmt.Sprintf("%d\n", i)))
	}
	g, err := reopen(e.save(t))
	must(t, err)
	for i := range 100 {
		if got := g.text(t, g.mustAt(t, "S/"+item(i)+"/id")); got != fmt.Sprintf("%d\n", i) {
			t.Fatalf("the sibling %d is %s", i, got)
		}
	}
}

// When a directory moves, the files in it that are open for writing move along, also into
// another directory and across a save.
func TestMoveAboveWriter(t *testing.T) {
	e := editable(t, weapon())
	id := e.mustAt(t, "Weapon/Item/id")
	w := e.open(t, id)
	must(t, w.Truncate(t.Context(), 0))
	_, err := w.WriteAt(t.Context(), []byte("77\n"), 0)
	must(t, err)
	fresh := e.create(t, "Weapon/Item/fresh")
	w2 := e.open(t, fresh)
	_, err = w2.WriteAt(t.Context(), []byte("99\n"), 0)
	must(t, err)
	_, err = e.Mkdir(t.Context(), e.mustAt(t, "Weapon"), "Box")
	must(t, err)
	must(t, e.rename(t, "Weapon/Item", "Weapon/Box/Thing"))
	first := e.save(t)
	e.log, e.data = nil, first
	must(t, w.Flush(t.Context()))
	must(t, w2.Flush(t.Context()))
	must(t, w.Release())
	must(t, w2.Release())
	must(t, e.rename(t, "Weapon/Box/Thing", "Weapon/Item"))
	must(t, e.write(t, e.mustAt(t, "Weapon/Item/name"), "bow\n"))
	r := e.replayed(t)
	for what, data := range map[string][]byte{"replay": r.save(t), "save": e.save(t)} {
		g, err := reopen(data)
		must(t, err)
		for _, d := range []string{"id", "fresh", "name"} {
			t.Log(what, d, g.text(t, g.mustAt(t, "Weapon/Item/"+d)))
		}
		if g.text(t, g.mustAt(t, "Weapon/Item/id")) != "77\n" && g.text(t, g.mustAt(t, "Weapon/Item.1/id")) != "77\n" {
			t.Errorf("%s: lost", what)
		}
	}
}

// A directory from which an attribute was renamed aside can be removed.
func TestRmdirWithHidden(t *testing.T) {
	e := editable(t, weapon())
	for _, f := range []string{"id", "rate", "rare", "__value__"} {
		must(t, e.remove(t, "Weapon/Item/"+f))
	}
	must(t, e.rename(t, "Weapon/Item/name", "Weapon/Item.1/.aside"))
	sheet := e.mustAt(t, "Weapon")
	must(t, e.Remove(t.Context(), sheet, "Item", nodes.Dir))
	must(t, e.rename(t, "Weapon/Item.1/.aside", "Weapon/Item.1/title"))
	g, err := reopen(e.save(t))
	must(t, err)
	if got := g.text(t, g.mustAt(t, "Weapon/Item/title")); got != "sword\n" {
		t.Error(got)
	}
}
