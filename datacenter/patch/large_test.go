package patch_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
)

// roundsVariable is the number of mods that TestLargeModOntoAnotherVersion makes.
const roundsVariable = "LOREFS_PATCH_ROUNDS"

// largeMod is a mod of a large file, and another version of that file.
type largeMod struct {
	testing.TB
	*rand.Rand
	f              *datacenter.File
	mod, other     *edit.Draft
	values         []edit.Edit // of the mod
	removed        []spot
	sheets         [][]spot // what the mod edits, by sheet
	replaced       [][]spot
	next           int32
	touched, byMod map[edit.Number]bool
}

// newLargeMod makes 1,000 value edits over 50 sheets, adds 20 nodes, removes 20, and replaces
// 5 sheets.
func newLargeMod(t testing.TB, f *datacenter.File, seed uint64) *largeMod {
	m := &largeMod{TB: t, Rand: rand.New(rand.NewPCG(seed, 2)), f: f, next: 50_000_000, touched: map[edit.Number]bool{}, byMod: map[edit.Number]bool{}} //nolint:gosec // the same mod each time
	var err error
	if m.mod, err = edit.NewDraft(f, nil); err != nil {
		t.Fatal(err)
	}
	if m.other, err = edit.NewDraft(f, nil); err != nil {
		t.Fatal(err)
	}
	m.choose()
	var edits []edit.Edit
	for _, nodes := range m.sheets {
		for _, s := range m.some(nodes, 20) {
			edits = append(edits, m.change(s))
		}
	}
	m.values = slices.Clone(edits)
	for i := range 20 {
		nodes := m.sheets[i]
		x, n := nodes[1+m.IntN(len(nodes)-1)], m.mod.NewNumber()
		edits = append(edits,
			edit.Edit{Op: edit.AddNode, Node: n, Parent: x.parent, Name: x.node.Name(), Ordinal: 60_000, Keys: x.node.Keys()},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "id", Value: m.fresh()},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "name", Value: m.fresh()})
		leaf := m.leaf(m.sheets[20+i])
		m.removed = append(m.removed, leaf)
		edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: leaf.number})
	}
	for _, nodes := range m.replaced {
		for _, s := range nodes {
			for a, err := range s.node.Attributes() {
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(s.node.Keys(), a.Name()) && a.Name() != "id" && a.Name() != datacenter.ValueName {
					edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: a.Name(), Value: m.fresh()})
				}
			}
		}
	}
	m.apply(m.mod, edits...)
	return m
}

func (m *largeMod) apply(d *edit.Draft, edits ...edit.Edit) {
	m.Helper()
	if err := d.Apply(m.Context(), edits...); err != nil {
		m.Fatal(err)
	}
}

// fresh returns a value that nothing has.
func (m *largeMod) fresh() datacenter.Value {
	m.next++
	return datacenter.IntValue(m.next)
}

// choose chooses the sheets to edit and to replace, of different families first.
func (m *largeMod) choose() {
	root, err := m.f.Root()
	if err != nil {
		m.Fatal(err)
	}
	number, families := edit.Number(1+root.AttributeCount()), map[string]int{}
	var large, small []spot
	for c, err := range root.Children() {
		if err != nil {
			m.Fatal(err)
		}
		if families[c.Name()]++; families[c.Name()] <= 3 {
			switch n := c.Entries(); {
			case n >= 300 && n < 50_000:
				large = append(large, spot{number, 0, c})
			case n >= 30 && n < 200:
				small = append(small, spot{number, 0, c})
			}
		}
		number += edit.Number(c.Entries())
	}
	for len(m.sheets) < 50 && len(large) > 0 {
		i := m.IntN(len(large))
		if nodes := m.below(large[i]); m.leaf(nodes).number > 0 && m.valued(nodes) >= 60 {
			m.sheets = append(m.sheets, nodes)
		}
		large = slices.Delete(large, i, i+1)
	}
	for len(m.replaced) < 5 && len(small) > 0 {
		i := m.IntN(len(small))
		if nodes := m.below(small[i]); m.valued(nodes)*2 > len(nodes) {
			m.replaced = append(m.replaced, nodes)
		}
		small = slices.Delete(small, i, i+1)
	}
	if len(m.sheets) < 50 || len(m.replaced) < 5 {
		m.Fatalf("%d sheets to edit and %d to replace", len(m.sheets), len(m.replaced))
	}
}

// below lists a node and all below it.
func (m *largeMod) below(s spot) []spot {
	list := []spot{s}
	number := s.number + 1 + edit.Number(s.node.AttributeCount())
	for c, err := range s.node.Children() {
		if err != nil {
			m.Fatal(err)
		}
		list = append(list, m.below(spot{number, s.number, c})...)
		number += edit.Number(c.Entries())
	}
	return list
}

// leaf chooses a node without children that nothing was done to.
func (m *largeMod) leaf(nodes []spot) spot {
	for range 1000 {
		if s := nodes[m.IntN(len(nodes))]; s.node.ChildCount() == 0 && s.parent > 0 && !m.byMod[s.number] {
			return s
		}
	}
	return spot{}
}

// attribute chooses an attribute that identifies nothing.
func (m *largeMod) attribute(s spot) (list []datacenter.Attribute) {
	for a, err := range s.node.Attributes() {
		if err != nil {
			m.Fatal(err)
		}
		if keys := s.node.Keys(); a.Name() != "id" && a.Name() != datacenter.ValueName && !slices.Contains(keys, a.Name()) {
			list = append(list, a)
		}
	}
	return list
}

// valued counts the nodes that have such attributes.
func (m *largeMod) valued(nodes []spot) (n int) {
	for _, s := range nodes {
		if len(m.attribute(s)) > 0 {
			n++
		}
	}
	return n
}

// some chooses nodes that have such attributes.
func (m *largeMod) some(nodes []spot, count int) (some []spot) {
	for _, i := range m.Perm(len(nodes)) {
		if s := nodes[i]; len(some) < count && len(m.attribute(s)) > 0 {
			some = append(some, s)
			m.byMod[s.number] = true
		}
	}
	return some
}

// change gives an attribute a value that nothing has.
func (m *largeMod) change(s spot) edit.Edit {
	list := m.attribute(s)
	return edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: list[m.IntN(len(list))].Name(), Value: m.fresh()}
}

// drift makes the other version: beside what the mod edits, siblings come, go and get other
// ids, and some of the same values change, some to what the mod wants. It goes on with the
// file of that version.
func (m *largeMod) drift() *datacenter.File {
	gone := map[edit.Number]bool{}
	var edits []edit.Edit
	for _, nodes := range m.sheets {
		for _, s := range m.some(nodes, 5) {
			m.touched[s.number] = true
			switch {
			case m.hasID(s) && m.IntN(2) == 0:
				edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: "id", Value: m.fresh()})
			case s.parent > 0:
				n := m.other.NewNumber()
				edits = append(edits, edit.Edit{Op: edit.AddNode, Node: n, Parent: s.parent, Name: s.node.Name(), Ordinal: uint32(70_000 + m.next%1000), Rank: uint64(m.next), Keys: s.node.Keys()})
				for _, a := range m.attribute(s)[:1] { // much like its sibling
					v, err := a.Value()
					if err != nil {
						m.Fatal(err)
					}
					edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: n, Name: a.Name(), Value: v})
				}
				m.next++
			}
		}
		leaf := m.leaf(nodes)
		if leaf.number > 0 && !gone[leaf.number] && !m.touched[leaf.number] {
			gone[leaf.number] = true
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: leaf.number})
		}
	}
	for i, e := range m.values {
		switch {
		case gone[e.Node] || i%5 > 1:
		case i%5 == 0:
			edits = append(edits, e)
		default:
			e.Value = m.fresh()
			edits = append(edits, e)
		}
	}
	for _, s := range m.removed[:5] {
		if !gone[s.number] {
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: s.number})
		}
	}
	if list := m.attribute(m.replaced[0][0]); len(list) > 0 {
		edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: m.replaced[0][0].number, Name: list[0].Name(), Value: m.fresh()})
	}
	m.apply(m.other, edits...)
	return rebase(m, m.other, func() {})
}

// hasID reports whether a node has an id.
func (m *largeMod) hasID(s spot) bool {
	for a, err := range s.node.Attributes() {
		if err != nil {
			m.Fatal(err)
		}
		if a.Name() == "id" {
			return true
		}
	}
	return false
}

// A large mod of one version of a game, applied to another one, does nothing to a node that
// it was not made for. The judge knows the nodes by their numbers in the draft of which the
// other version was written.
func TestLargeModOntoAnotherVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("reads and writes a large file")
	}
	f := fixture(t, "p100_x64.dat")
	rounds, _ := strconv.Atoi(os.Getenv(roundsVariable))
	for round := range max(rounds, 1) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			m := newLargeMod(t, f, uint64(round))
			p := makeDraft(t, m.mod, "p100_x64.dat")
			_, made := apply(t, f, p)
			g := m.drift()
			s := m.other.Snapshot()
			defer s.Close()
			serials := s.Reader()
			_, results := apply(t, g, p)
			r := results[0]
			t.Logf("%d blocks, %d parts: %d applied, %d already there, %d conflicts", len(p.Blocks), len(r.Items), r.Applied, r.Already, r.Conflicts)
			if r.Applied+r.Already+r.Conflicts != len(r.Items) || len(r.Items) != len(made[0].Items) {
				t.Errorf("%d, %d and %d of %d", r.Applied, r.Already, r.Conflicts, len(made[0].Items))
			}
			if r.Applied < len(r.Items)/2 || r.Already < len(m.values)/10 || r.Conflicts < len(m.values)/10 {
				t.Errorf("%d applied, %d already there, %d conflicts of %d", r.Applied, r.Already, r.Conflicts, len(r.Items))
			}
			for i, it := range r.Items {
				if it.Outcome == patch.Conflict || it.Node == 0 || len(p.Blocks[it.Block].Path.Steps) == 1 && p.Blocks[it.Block].Kind == patch.Add {
					continue
				}
				if want, err := serials.Number(made[0].Items[i].Node); want != it.Node || err != nil {
					if p.Blocks[it.Block].Kind == patch.Add && it.Outcome == patch.Already {
						continue
					}
					t.Errorf("%s: done to %d instead of %d, %v, by\n%s", r.Describe(it), it.Node, want, err, p.Blocks[it.Block].Append(nil))
				}
			}
			if rejects := patch.Rejects(r); rejects != nil {
				if _, again := apply(t, g, reread(t, rejects)); again[0].Conflicts != r.Conflicts {
					t.Errorf("%d of %d rejects are rejected again", again[0].Conflicts, r.Conflicts)
				}
			}
		})
	}
}
