package edit_test

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// reverted is what a Revert makes of a model.
type reverted struct {
	m, base *model
	in      map[edit.Number]bool // what is to be as in the base
}

// revert makes what targets name as it is in base. It does not know the order of siblings, nor
// ordinals that are taken.
func (m *model) revert(base *model, what []edit.Target) error {
	r := reverted{m: m, base: base, in: map[edit.Number]bool{}}
	attrs := []edit.Target{}
	for _, t := range what {
		for now, was := range m.again {
			if was == t.Node {
				t.Node = now
			}
		}
		switch n, was := m.nodes[t.Node], base.nodes[t.Node]; {
		case n == nil && was == nil:
			return edit.ErrGone
		case n == nil:
			r.include(r.top(was))
		case was == nil && (t.Attribute != "" || base.nodes[n.parent.number] == nil):
			return edit.ErrPart
		case t.Attribute != "":
			attrs = append(attrs, t)
		default:
			r.include(t.Node)
		}
	}
	for _, t := range attrs {
		if !r.in[t.Node] {
			r.attribute(t)
		}
	}
	r.rebuild()
	return nil
}

// top returns the removed node whose parent is there, from a removed node up.
func (r *reverted) top(n *modelNode) edit.Number {
	for r.m.nodes[n.parent.number] == nil {
		n = n.parent
	}
	return n.number
}

func (r *reverted) include(n edit.Number) {
	if r.in[n] {
		return
	}
	r.in[n] = true
	if x := r.m.nodes[n]; x != nil {
		for _, k := range x.kids {
			r.include(k.number)
		}
	}
	was := r.base.nodes[n]
	if was == nil {
		return
	}
	for _, k := range was.kids {
		r.include(k.number)
	}
	if was.parent != nil && r.m.nodes[was.parent.number] == nil {
		r.include(r.top(was.parent))
	}
}

// attribute makes one attribute as in the base.
func (r *reverted) attribute(t edit.Target) {
	n := r.m.nodes[t.Node]
	old, ok := r.base.nodes[t.Node].attrs[t.Attribute]
	if !ok {
		delete(n.attrs, t.Attribute)
		return
	}
	n.attrs[t.Attribute] = modelAttr{value: old.value}
}

// rebuild makes the nodes in in as they are in the base.
func (r *reverted) rebuild() {
	numbers := slices.Sorted(maps.Keys(r.in))
	taken := map[edit.Number]bool{}
	for _, x := range r.m.nodes {
		for _, a := range x.attrs {
			taken[a.number] = true
		}
	}
	for _, n := range numbers {
		if x := r.m.nodes[n]; x != nil && x.parent != nil {
			x.leave()
		}
	}
	for _, n := range numbers {
		was, x := r.base.nodes[n], r.m.nodes[n]
		if was == nil {
			delete(r.m.nodes, n)
			continue
		}
		numbered := x == nil // of a node that comes back, the attributes have their numbers
		if numbered {
			x = &modelNode{number: n}
			r.m.nodes[n] = x
		}
		x.name, x.ordinal, x.keys, x.flags, x.attrs = was.name, was.ordinal, was.keys, was.flags, maps.Clone(was.attrs)
		for name, a := range x.attrs {
			if !numbered || taken[a.number] {
				a.number = 0
			}
			x.attrs[name] = a
		}
	}
	for _, n := range numbers {
		if was, x := r.base.nodes[n], r.m.nodes[n]; was != nil && was.parent != nil {
			x.parent = r.m.nodes[was.parent.number]
			x.parent.kids = append(x.parent.kids, x)
		}
	}
}

// adopt takes the order of siblings from the Draft, and the ordinals of those that came back
// beside another sibling that has theirs.
func (s *session) adopt() {
	var visit func(n *modelNode)
	visit = func(n *modelNode) {
		if err := s.d.Open(n.number); err != nil {
			s.t.Fatal(err)
		}
		if len(n.kids) == 0 {
			return
		}
		ranks, ordinals := map[edit.Number]uint64{}, map[edit.Number]uint32{}
		entries, _ := s.d.List(n.number, 0, 1<<30, nil)
		for _, e := range entries {
			ranks[e.Number], ordinals[e.Number] = e.Rank, e.Ordinal
		}
		slices.SortStableFunc(n.kids, func(x, y *modelNode) int { return cmp.Compare(ranks[x.number], ranks[y.number]) })
		for i, k := range n.kids {
			if slices.ContainsFunc(n.kids, func(x *modelNode) bool { return x != k && x.name == k.name && x.ordinal == k.ordinal }) {
				n.kids[i].ordinal = ordinals[k.number]
			}
			visit(k)
		}
	}
	visit(s.m.root)
}

// stepOrRevert is step, or takes something back.
func (s *session) stepOrRevert() {
	if rapid.IntRange(0, 3).Draw(s.t.rt, "revert") > 0 {
		s.stepOrReturn()
		return
	}
	var what []edit.Target
	for range rapid.IntRange(1, 3).Draw(s.t.rt, "targets") {
		t := edit.Target{Node: rapid.SampledFrom(s.numbers).Draw(s.t.rt, "target")}
		if rapid.Bool().Draw(s.t.rt, "of an attribute") {
			t.Attribute = rapid.SampledFrom(s.names).Draw(s.t.rt, "attribute")
		}
		what = append(what, t)
	}
	s.revert(what)
}

// revert takes something back in the Draft and the model.
func (s *session) revert(what []edit.Target) {
	before := s.d.Pending()
	m := s.m.clone()
	want := m.revert(m.base, what)
	taken, err := s.d.Revert(s.t.Context(), nil, what)
	switch {
	case want != nil:
		if !errors.Is(err, want) || taken != 0 {
			s.t.Fatalf("Revert(%+v): %d, %v, the model says %v", what, taken, err, want)
		}
	case err != nil:
		s.t.Fatalf("Revert(%+v): %v", what, err)
	default:
		s.m = m
		s.adopt()
	}
	s.m.check(s.t, s.d, s.f)
	if now := s.d.Pending(); now != before-taken {
		s.t.Fatalf("%d of %d changes were taken back, and %d are left", taken, before, now)
	}
	s.checkPending()
}

// revertAll takes everything back. Then the Draft is as the base, and so is
// what is written, but for the place of attributes in the file.
func (s *session) revertAll() {
	s.revert([]edit.Target{{}})
	if n := s.d.Pending(); n != 0 {
		s.t.Fatalf("%d changes are left", n)
	}
	for number, n := range s.m.nodes {
		was := s.m.base.nodes[number]
		if was == nil || n.ordinal != was.ordinal {
			s.t.Fatalf("node %d is %+v, want %+v", number, n, was)
		}
	}
	last := s.files[len(s.files)-1]
	names := nameOrder(last)
	now, base := s.m.clone(), s.m.base.clone()
	now.root.sort(names)
	base.root.sort(names)
	if got, want := now.String(), base.String(); got != want {
		s.t.Fatalf("everything was taken back:\n%.2000swant\n%.2000s", got, want)
	}
	checkWritten(s.t, s.d, now, last.Layout())
	s.checkReplay(nil, datacenter.LayoutAuto)
}

// TestRevertByTheNumberOfWhatCameBack makes a removed node again, and removes it again. It is what the
// base has, by the number there, and the number that it got in between stands for nothing.
func TestRevertByTheNumberOfWhatCameBack(t *testing.T) {
	d := draftOf(t, keyedDoc(), dctest.Options{})
	if err := d.Open(1); err != nil {
		t.Fatal(err)
	}
	item, made := childrenOf(t, d, 1)[0], d.NewNumber()
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: item.Number})
	done(t, d, edit.Edit{Op: edit.AddNode, Node: made, Parent: 1, Name: item.Name, Ordinal: item.Ordinal, Again: true})
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: made})
	if taken, err := d.Revert(t.Context(), nil, []edit.Target{{Node: made}}); !errors.Is(err, edit.ErrGone) || taken != 0 {
		t.Errorf("by the number in between: %d changes less, %v", taken, err)
	}
	if taken, err := d.Revert(t.Context(), nil, []edit.Target{{Node: item.Number}}); err != nil || taken != 1 {
		t.Errorf("by the number in the base: %d changes less, %v", taken, err)
	}
}

// TestRenamedAttributeInAReplay gives an attribute the name of a removed one. A replay writes the same
// bytes, though nobody remembers there that it was a rename.
func TestRenamedAttributeInAReplay(t *testing.T) {
	attrs := []dctest.Attr{{Name: "id", Value: "one"}, {Name: "n", Value: "two"}, {Name: "rank", Value: "three"}}
	sheet := &dctest.Node{Name: "Sheet", Children: []*dctest.Node{{Name: "Item", Attrs: attrs}}}
	data := dctest.Build(dctest.Doc{Root: dctest.Root(sheet)}, dctest.Options{})
	var records [][]byte
	d, err := edit.NewDraft(dctest.Open(t, data), func(r []byte) error {
		records = append(records, bytes.Clone(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(1); err != nil {
		t.Fatal(err)
	}
	item := childrenOf(t, d, 1)[0].Number
	if err := d.Open(item); err != nil {
		t.Fatal(err)
	}
	n, _ := d.Attribute(item, "n")
	set := func(name, value string, number edit.Number) edit.Edit {
		v, err := datacenter.StringValue(value)
		if err != nil {
			t.Fatal(err)
		}
		return edit.Edit{Op: edit.SetAttribute, Node: item, Name: name, Value: v, Attr: number}
	}
	done(t, d, edit.Edit{Op: edit.RemoveAttribute, Node: item, Name: "id"})
	done(t, d, set("id", "a new one", n.Number), edit.Edit{Op: edit.RemoveAttribute, Node: item, Name: "n"})
	done(t, d, set("rank", "another new one", 0))
	again, err := edit.NewDraft(dctest.Open(t, data), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := again.Replay(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(justWrite(t, d), justWrite(t, again)) {
		t.Error("a replay writes other bytes")
	}
}

// childrenOf lists the child nodes of an opened node.
func childrenOf(t *testing.T, d *edit.Draft, n edit.Number) []edit.Entry {
	t.Helper()
	all, ok := d.List(n, 0, 1<<30, nil)
	if !ok {
		t.Fatalf("nothing to list of %d", n)
	}
	return slices.DeleteFunc(all, func(e edit.Entry) bool { return e.Attribute })
}
