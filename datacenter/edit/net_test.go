package edit_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// pending returns the least and the greatest number of changes that lead from base to m. It is
// not sure how many siblings are said to be moved if some have passed others.
func (m *model) pending(base *model) (least, most int64) {
	for number, n := range m.nodes {
		was := base.nodes[number]
		if was == nil {
			if base.nodes[n.parent.number] != nil {
				least++
			}
			continue
		}
		least += n.changes(was)
	}
	for number, was := range base.nodes {
		if m.nodes[number] == nil && m.nodes[was.parent.number] != nil {
			least++
		}
	}
	most = least
	isUnsure := false
	for number, n := range m.nodes {
		was := base.nodes[number]
		if was != nil {
			l, g := n.passed(was)
			least, most = least+l, most+g
		}
		// Siblings that were made or moved may be like those of the base.
		isUnsure = isUnsure || n.parent != nil && base.nodes[n.parent.number] != nil && (was == nil || n.ordinal != was.ordinal)
		isUnsure = isUnsure || least != most
	}
	if isUnsure {
		least = 0
	}
	return least, most
}

// changes counts the changes of a node, but for its place among siblings.
func (n *modelNode) changes(was *modelNode) (count int64) {
	for name, a := range n.attrs {
		if old, ok := was.attrs[name]; !ok || old.value != a.value {
			count++
		}
	}
	for name := range was.attrs {
		if _, ok := n.attrs[name]; !ok {
			count++
		}
	}
	if !slices.Equal(n.keys, was.keys) {
		count++
	}
	if n.flags != was.flags {
		count++
	}
	if n.parent != nil && (n.parent.number != was.parent.number || n.name != was.name) {
		count++
	}
	return count
}

// passed counts the children that have passed others which only their place orders.
func (n *modelNode) passed(was *modelNode) (least, most int64) {
	class := func(k *modelNode) string {
		text := fmt.Sprintf("%q %q", k.name, k.keys)
		for _, key := range k.keys {
			text += fmt.Sprintf(" %v %q", k.attrs[key].value.Type(), k.attrs[key].value.Text())
		}
		return text
	}
	place, old := map[edit.Number]int{}, map[edit.Number]*modelNode{}
	for i, k := range was.kids {
		place[k.number], old[k.number] = i, k
	}
	classes := map[string][]int{}
	for _, k := range n.kids {
		if o := old[k.number]; o != nil && o.name == k.name {
			classes[class(k)] = append(classes[class(k)], place[k.number])
		}
	}
	for _, places := range maps.All(classes) {
		if !slices.IsSorted(places) {
			least, most = least+1, most+int64(len(places))
		}
	}
	return least, most
}

// checkPending checks the number of changes of the Draft.
func (s *session) checkPending() {
	s.t.Helper()
	least, most := s.m.pending(s.m.base)
	if n := s.d.Pending(); n < least || n > most {
		s.t.Fatalf("%d changes, want %d to %d", n, least, most)
	}
	v := s.d.Snapshot()
	defer v.Close()
	if n := int64(len(v.Changes())); n != s.d.Pending() || n != v.Pending() {
		s.t.Fatalf("%d changes are listed, %d are pending, and %d in a Snapshot", n, s.d.Pending(), v.Pending())
	}
}

// toldNet returns a text of net changes, one in each line.
func toldNet(list []edit.Change) string {
	var b strings.Builder
	kinds := map[edit.ChangeKind]string{
		edit.AttributeSet: "set", edit.AttributeGone: "gone", edit.KeysSet: "keys", edit.FlagsSet: "flags",
		edit.NodeMade: "made", edit.NodeGone: "removed", edit.NodeMoved: "moved",
	}
	for _, c := range list {
		fmt.Fprintf(&b, "%s %d", kinds[c.Kind], c.Node)
		if c.Stored {
			fmt.Fprintf(&b, "=%d", c.Base)
		}
		if c.Name != "" {
			fmt.Fprintf(&b, " %s", c.Name)
		}
		if c.Lost {
			b.WriteString(" ?")
		}
		if c.Old.Type() != 0 {
			fmt.Fprintf(&b, " -%s", c.Old.Text())
		}
		if c.New.Type() != 0 {
			fmt.Fprintf(&b, " +%s", c.New.Text())
		}
		switch c.Kind {
		case edit.KeysSet:
			fmt.Fprintf(&b, " -%v +%v", c.OldKeys, c.Keys)
		case edit.FlagsSet:
			fmt.Fprintf(&b, " -%d +%d", c.OldFlags, c.Flags)
		case edit.NodeMade, edit.NodeGone:
			fmt.Fprintf(&b, " %d", c.Entries)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// netDraft returns a draft of things with an id, a name and two parts each. A sheet Item holds
// them; it has the number 1, and thing i has 2+9*i: id, name, part, its w, part, its w.
func netDraft(t testing.TB) (d *edit.Draft, thing func(int) edit.Number, blocks *overwritten) {
	t.Helper()
	sheet := &dctest.Node{Name: "Item"}
	for i := range 4 {
		thing := &dctest.Node{Name: "Thing", Attrs: []dctest.Attr{{Name: "id", Value: 10 + i}, {Name: "name", Value: fmt.Sprintf("n%d", i)}}}
		for range 2 {
			thing.Children = append(thing.Children, &dctest.Node{Name: "Part", Attrs: []dctest.Attr{{Name: "w", Value: i}}})
		}
		sheet.Children = append(sheet.Children, thing)
	}
	data := dctest.Build(dctest.Doc{Root: dctest.Root(sheet)}, dctest.Options{})
	blocks = &overwritten{}
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	if d, err = edit.NewDraft(f, nil); err != nil {
		t.Fatal(err)
	}
	return d, func(i int) edit.Number { return edit.Number(2 + 7*i) }, blocks
}

// TestChangesAreNet checks that what was changed and changed back is no change, and that a node
// that was added or removed is one.
func TestChangesAreNet(t *testing.T) {
	text := func(s string) datacenter.Value {
		v, err := datacenter.StringValue(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	name := func(n edit.Number, s string) edit.Edit {
		return edit.Edit{Op: edit.SetAttribute, Node: n, Name: "name", Value: text(s)}
	}
	move := func(n, parent edit.Number, name string, ordinal uint32) edit.Edit {
		return edit.Edit{Op: edit.MoveNode, Node: n, Parent: parent, Name: name, Ordinal: ordinal}
	}
	rank := func(n edit.Number, rank float64) edit.Edit {
		return edit.Edit{Op: edit.MoveNode, Node: n, Parent: 1, Name: "Thing", Ordinal: 50 + uint32(n), Rank: uint64(rank * edit.RankGap)}
	}
	const made = edit.Number(datacenter.MaxEntries + 1)
	for _, tt := range []struct {
		name  string
		edits func(thing func(int) edit.Number) []edit.Edit
		want  string
	}{
		{"nothing", func(func(int) edit.Number) []edit.Edit { return nil }, ""},
		{"set", func(n func(int) edit.Number) []edit.Edit { return []edit.Edit{name(n(0), "x")} }, "set 2=2 name -n0 +x\n"},
		{"set back", func(n func(int) edit.Number) []edit.Edit { return []edit.Edit{name(n(0), "x"), name(n(0), "n0")} }, ""},
		{"removed and set", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{{Op: edit.RemoveAttribute, Node: n(1), Name: "name"}, name(n(1), "x")}
		}, "set 9=9 name -n1 +x\n"},
		{"removed and set back", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{{Op: edit.RemoveAttribute, Node: n(1), Name: "name"}, name(n(1), "n1")}
		}, ""},
		{"removed, added and removed", func(n func(int) edit.Number) []edit.Edit {
			remove := edit.Edit{Op: edit.RemoveAttribute, Node: n(1), Name: "name"}
			return []edit.Edit{remove, name(n(1), "x"), remove}
		}, "gone 9=9 name -n1\n"},
		{"keys and flags", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{
				{Op: edit.SetKeys, Node: n(0), Keys: datacenter.KeyDefinition{"id"}},
				{Op: edit.SetFlags, Node: n(1), Flags: 1},
				{Op: edit.SetKeys, Node: n(2), Keys: datacenter.KeyDefinition{"id"}},
				{Op: edit.SetKeys, Node: n(2)},
				{Op: edit.SetFlags, Node: n(2), Flags: 1},
				{Op: edit.SetFlags, Node: n(2)},
			}
		}, "keys 2=2 - +id\nflags 9=9 -0 +1\n"},
		{"removed", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{name(n(1), "x"), {Op: edit.RemoveNode, Node: n(1) + 3}, {Op: edit.RemoveNode, Node: n(1)}}
		}, "removed 9=9 7\n"},
		{"added", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{
				{Op: edit.AddNode, Node: made, Parent: 1, Name: "Thing", Ordinal: 9},
				name(made, "x"),
				{Op: edit.AddNode, Node: made + 1, Parent: made, Name: "Part"},
				move(n(0), made+1, "Thing", 0), name(n(0), "y"),
			}
		}, fmt.Sprintf("made %d 3\nmoved 2=2\nset 2=2 name -n0 +y\n", made)},
		{"added and removed", func(func(int) edit.Number) []edit.Edit {
			return []edit.Edit{{Op: edit.AddNode, Node: made, Parent: 1, Name: "Thing", Ordinal: 9}, {Op: edit.RemoveNode, Node: made}}
		}, ""},
		{"moved", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{move(n(0), n(1), "Thing", 0), move(n(2), 1, "Other", 0)}
		}, "moved 2=2\nmoved 16=16\n"},
		{"moved and back", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{move(n(0), n(1), "Thing", 0), move(n(2), 1, "Other", 0), move(n(0), 1, "Thing", 0), move(n(2), 1, "Thing", 2)}
		}, ""},
		{"another ordinal alone", func(n func(int) edit.Number) []edit.Edit { return []edit.Edit{move(n(3), 1, "Thing", 30)} }, ""},
		{"to the end", func(n func(int) edit.Number) []edit.Edit { return []edit.Edit{rank(n(0), 9)} }, "moved 2=2\n"},
		{"to the end and back", func(n func(int) edit.Number) []edit.Edit { return []edit.Edit{rank(n(0), 9), rank(n(0), 1.5)} }, ""},
		{"one past two others", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{rank(n(0), 3.2), rank(n(1), 3.6), rank(n(2), 3.1)}
		}, "moved 16=16\n"},
		{"past one with another key", func(n func(int) edit.Number) []edit.Edit {
			var edits []edit.Edit
			for i := range 4 {
				edits = append(edits, edit.Edit{Op: edit.SetKeys, Node: n(i), Keys: datacenter.KeyDefinition{"id"}})
			}
			edits = append(edits, rank(n(0), 9))
			for i := range 4 {
				edits = append(edits, edit.Edit{Op: edit.SetFlags, Node: n(i)})
			}
			return edits
		}, "keys 9=9 - +id\nkeys 16=16 - +id\nkeys 23=23 - +id\nkeys 2=2 - +id\n"},
		{"out of what was removed", func(n func(int) edit.Number) []edit.Edit {
			return []edit.Edit{move(n(0)+3, n(1), "Part", 7), {Op: edit.RemoveNode, Node: n(0)}}
		}, "removed 2=2 7\nmoved 5=5\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, thing, _ := netDraft(t)
			for _, e := range tt.edits(thing) {
				done(t, d, e)
			}
			s := d.Snapshot()
			defer s.Close()
			if got := toldNet(s.Changes()); got != tt.want {
				t.Errorf("the changes are\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestChangesOfAnOverwrittenFile checks that what can't be read any more counts as changed.
func TestChangesOfAnOverwrittenFile(t *testing.T) {
	d, thing, blocks := netDraft(t)
	done(t, d, edit.Edit{Op: edit.SetAttribute, Node: thing(0), Name: "id", Value: datacenter.IntValue(7)})
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: thing(1)})
	blocks.gone.Store(true)
	s := d.Snapshot()
	defer s.Close()
	if got := toldNet(s.Changes()); got != "removed 9=9 7\nset 2=2 id ? +7\n" {
		t.Errorf("the changes are\n%s", got)
	}
}
