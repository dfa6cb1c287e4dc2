package edit_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

// rebase makes m the base, since it was saved.
func (m *model) rebase() {
	m.base, m.again = nil, map[edit.Number]edit.Number{}
	m.base = m.clone()
}

// renumber gives a node another number.
func (m *model) renumber(from, to edit.Number) {
	n := m.nodes[from]
	delete(m.nodes, from)
	n.number, m.nodes[to] = to, n
}

// gone returns what was removed from a place. It is nil if nothing was, or not as a whole.
func (m *model) gone(parent *modelNode, name string, ordinal uint32) *modelNode {
	was := m.base.nodes[parent.number]
	if was == nil {
		return nil
	}
	for _, k := range was.kids {
		if k.name == name && k.ordinal == ordinal && !m.hasAny(k) {
			return k
		}
	}
	return nil
}

// hasAny reports whether m has a node of the base, or one below it.
func (m *model) hasAny(was *modelNode) bool {
	return m.nodes[was.number] != nil || slices.ContainsFunc(was.kids, m.hasAny)
}

// restore brings back what was removed.
func (m *model) restore(e edit.Edit) error {
	was, parent := m.base.nodes[e.Node], m.nodes[e.Parent]
	if was == nil || parent == nil || was.parent == nil || was.parent.number != e.Parent || m.hasAny(was) {
		return errModel
	}
	taken := map[edit.Number]bool{}
	for _, x := range m.nodes {
		for _, a := range x.attrs {
			taken[a.number] = true
		}
	}
	back := m.copyOf(was, parent)
	back.each(func(n *modelNode) {
		for name, a := range n.attrs {
			if taken[a.number] {
				n.attrs[name] = modelAttr{value: a.value}
			}
		}
	})
	parent.kids = append(parent.kids, back)
	return nil
}

func (n *modelNode) each(visit func(*modelNode)) {
	visit(n)
	for _, k := range n.kids {
		k.each(visit)
	}
}

// stepOrReturn is step, or something comes back that was removed.
func (s *session) stepOrReturn() []edit.Edit {
	var gone []*modelNode
	for _, n := range slices.Sorted(maps.Keys(s.m.base.nodes)) {
		was := s.m.base.nodes[n]
		if was.parent != nil && s.m.nodes[n] == nil && s.m.nodes[was.parent.number] != nil {
			gone = append(gone, was)
		}
	}
	if len(gone) == 0 || rapid.IntRange(0, 2).Draw(s.t.rt, "something comes back") == 0 {
		return s.step()
	}
	was := rapid.SampledFrom(gone).Draw(s.t.rt, "gone")
	if rapid.Bool().Draw(s.t.rt, "as it was") {
		return s.restore(was)
	}
	return s.makeAgain(was)
}

// makeAgain makes again what was removed, with nothing in it, or some of what it had.
func (s *session) makeAgain(was *modelNode) []edit.Edit {
	e := edit.Edit{
		Op: edit.AddNode, Node: s.d.NewNumber(), Parent: was.parent.number, Name: was.name, Ordinal: was.ordinal, Again: true,
	}
	s.numbers = append(s.numbers, e.Node)
	parent := s.m.nodes[e.Parent]
	taken := slices.ContainsFunc(parent.kids, func(k *modelNode) bool { return k.name == e.Name && k.ordinal == e.Ordinal })
	err := s.d.Apply(s.t.Context(), e)
	if (err != nil) != taken {
		s.t.Fatalf("made again: %v, the place is taken: %v", err, taken)
	}
	if err != nil {
		return nil
	}
	view := s.d.View()
	_, isSame, err := view.Reader().Stored(e.Node)
	view.Close()
	can := s.m.gone(parent, e.Name, e.Ordinal) != nil
	if err != nil || isSame && !can || !isSame && can && !s.isSaving {
		s.t.Fatalf("made again is what was removed: %v, %v: want %v", isSame, err, can)
	}
	e.Again, s.hasAgain = isSame, s.hasAgain || isSame
	if isSame {
		e.Keys, e.Flags = was.keys, was.flags
	}
	made := []edit.Edit{e}
	var sets []edit.Edit
	for _, name := range slices.Sorted(maps.Keys(was.attrs)) {
		if rapid.IntRange(0, 4).Draw(s.t.rt, "with the attribute") > 0 {
			sets = append(sets, edit.Edit{Op: edit.SetAttribute, Node: e.Node, Name: name, Value: was.attrs[name].value})
		}
	}
	if err := s.d.Apply(s.t.Context(), sets...); err != nil {
		s.t.Fatal(err)
	}
	made = append(made, sets...)
	for _, e := range made {
		if err := s.m.apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	s.adopt()
	for _, k := range slices.Clone(was.kids) {
		if isSame && rapid.Bool().Draw(s.t.rt, "with the child") {
			made = append(made, s.makeAgain(k)...)
		}
	}
	s.m.check(s.t, s.d, s.f)
	s.checkPending()
	return made
}

// restore brings back what was removed, with all that was below it.
func (s *session) restore(was *modelNode) []edit.Edit {
	if err := s.d.Open(was.parent.number); err != nil {
		s.t.Fatal(err)
	}
	isOffered := slices.ContainsFunc(s.d.Removed(was.parent.number), func(e edit.Entry) bool { return e.Number == was.number })
	if can := !s.m.hasAny(was); isOffered && !can || can && !isOffered && !s.isSaving {
		s.t.Fatalf("%d is offered: %v, want %v", was.number, isOffered, can)
	}
	if !isOffered {
		return nil
	}
	e := edit.Edit{Op: edit.RestoreNode, Node: was.number, Parent: was.parent.number}
	if err := s.d.Apply(s.t.Context(), e); err != nil {
		s.t.Fatal(err)
	}
	if err := s.m.apply(e); err != nil {
		s.t.Fatal(err)
	}
	s.adopt()
	s.m.check(s.t, s.d, s.f)
	s.checkPending()
	return []edit.Edit{e}
}

// TestMadeAgainAmongMany removes many siblings and makes each again. To look at all the others for each
// would take minutes.
func TestMadeAgainAmongMany(t *testing.T) {
	testneeds.Seconds(t)
	const many = 30000
	sheet := &dctest.Node{Name: "Sheet"}
	for i := range many {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "n", Value: i}}})
	}
	d := draftOf(t, dctest.Doc{Root: dctest.Root(sheet)}, dctest.Options{})
	for i := range many {
		done(t, d, edit.Edit{Op: edit.RemoveNode, Node: edit.Number(2 + 2*i)})
	}
	for i := range many {
		n := d.NewNumber()
		done(t, d,
			edit.Edit{Op: edit.AddNode, Node: n, Parent: 1, Name: "Item", Ordinal: uint32(i), Again: true},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "n", Value: datacenter.IntValue(int32(i % 29999))})
	}
	if n := d.Pending(); n != 1 {
		t.Fatalf("%d edits, want that of one value", n)
	}
	for i := range many {
		e, _ := d.Child(1, "Item", uint32(i))
		done(t, d, edit.Edit{Op: edit.RemoveNode, Node: e.Number})
	}
	for _, e := range d.Removed(1) {
		done(t, d, edit.Edit{Op: edit.RestoreNode, Node: e.Number, Parent: 1})
	}
	if n := d.Pending(); n != 0 {
		t.Fatalf("%d edits", n)
	}
}
