package edit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// watchedDraft returns a draft of two sheets. Other has number 1. Sheet, number 2, has an
// Item, 3, with the attributes id, 4, and name, 5.
func watchedDraft(t *testing.T) *edit.Draft {
	t.Helper()
	item := &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "id", Value: 1}, {Name: "name", Value: "a"}}}
	doc := dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "Sheet", Children: []*dctest.Node{item}}, &dctest.Node{Name: "Other"})}
	d, err := edit.NewDraft(dctest.Open(t, dctest.Build(doc, dctest.Options{})), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// toldOf collects what a watcher is told, each effect in a line.
type toldOf struct {
	by    []any
	lines []string
}

func (w *toldOf) watch(a *edit.Applied) {
	w.by = append(w.by, a.By)
	kinds := map[edit.ChangeKind]string{
		edit.AttributeSet: "set", edit.AttributeGone: "gone", edit.KeysSet: "keys", edit.FlagsSet: "flags",
		edit.NodeMade: "made", edit.NodeGone: "removed", edit.NodeMoved: "moved",
	}
	spell := func(e edit.EntryAt) string {
		if e.Name == "" {
			return "-"
		}
		text := fmt.Sprintf("%d/%d=%s.%d", e.Parent, e.Number, e.Name, e.Ordinal)
		if e.Value.Type() != 0 {
			text += " " + e.Value.Text()
		}
		return text
	}
	for _, e := range a.Effects {
		line := fmt.Sprintf("%s %s > %s", kinds[e.Kind], spell(e.Before), spell(e.After))
		for _, v := range e.Values {
			line += fmt.Sprintf(" %d:%s", v.Number, v.Value.Text())
		}
		w.lines = append(w.lines, line)
	}
}

func TestWatchersAreToldWhoDidWhat(t *testing.T) {
	d := watchedDraft(t)
	var w toldOf
	d.Watch(w.watch)
	made := d.NewNumber()
	for _, tt := range []struct {
		edit edit.Edit
		want string
	}{
		{set(3, "id"), "set 3/4=id.0 > 3/4=id.0 1"},
		{edit.Edit{Op: edit.SetAttribute, Node: 3, Name: "new", Value: datacenter.IntValue(7), Attr: made}, "set - > 3/%d=new.0 7"},
		{edit.Edit{Op: edit.RemoveAttribute, Node: 3, Name: "new"}, "gone 3/%d=new.0 7 > -"},
		{edit.Edit{Op: edit.RemoveAttribute, Node: 3, Name: "name"}, "gone 3/5=name.0 > -"},
		{edit.Edit{Op: edit.MoveNode, Node: 3, Parent: 1, Name: "Item", Ordinal: 3}, "moved 2/3=Item.0 > 1/3=Item.3"},
		{edit.Edit{Op: edit.SetKeys, Node: 3, Keys: datacenter.KeyDefinition{"id"}}, "keys 1/3=Item.3 > 1/3=Item.3"},
		{edit.Edit{Op: edit.SetFlags, Node: 1, Flags: 1}, "flags 0/1=Other.0 > 0/1=Other.0"},
		{edit.Edit{Op: edit.RemoveNode, Node: 1}, "removed 0/1=Other.0 > - 4:1"},
	} {
		w = toldOf{}
		who := new(int)
		err := d.ApplyPlan(t.Context(), who, func() ([]edit.Edit, error) { return []edit.Edit{tt.edit}, nil })
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(tt.want, "%d", fmt.Sprint(made))
		if len(w.lines) != 1 || w.lines[0] != want || len(w.by) != 1 || w.by[0] != who {
			t.Errorf("told %q by %v: want %q by %v", w.lines, w.by, want, who)
		}
	}
}

// TestWatchersAreNotToldWhatIsWithinANewNode checks that effects within a new node are left
// out, since nobody can have read that node before.
func TestWatchersAreNotToldWhatIsWithinANewNode(t *testing.T) {
	d := watchedDraft(t)
	var w toldOf
	d.Watch(w.watch)
	outer, inner := d.NewNumber(), d.NewNumber()
	done(t, d,
		edit.Edit{Op: edit.AddNode, Node: outer, Parent: 2, Name: "Outer"},
		edit.Edit{Op: edit.AddNode, Node: inner, Parent: outer, Name: "Inner"},
		set(inner, "id"),
		edit.Edit{Op: edit.MoveNode, Node: 3, Parent: inner, Name: "Item"},
	)
	want := fmt.Sprintf("made - > 2/%d=Outer.0|moved 2/3=Item.0 > %d/3=Item.0", outer, inner)
	if got := strings.Join(w.lines, "|"); got != want || w.by[0] != nil {
		t.Errorf("told %q by %v: want %q by nobody", got, w.by, want)
	}
}

func TestWatchersAreSeveral(t *testing.T) {
	d := watchedDraft(t)
	var first, second toldOf
	end := d.Watch(first.watch)
	d.Watch(second.watch)
	refused := errors.New("no plan")
	if err := d.ApplyPlan(t.Context(), 1, func() ([]edit.Edit, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if err := d.Apply(t.Context(), set(3, "id"), set(0, "id")); !errors.Is(err, datacenter.ErrValue) {
		t.Error(err)
	}
	done(t, d, set(3, "id"))
	end()
	done(t, d, set(3, "id"))
	if len(first.by) != 1 || len(second.by) != 2 {
		t.Errorf("one that stopped was told %d times, one that did not %d: want 1 and 2", len(first.by), len(second.by))
	}
}
