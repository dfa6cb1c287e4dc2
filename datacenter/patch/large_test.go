package patch_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
	"lorefs/internal/testneeds"
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
	adds           [][]edit.Edit // of the mod
	ids            map[datacenter.Value]edit.Number
	sheets         [][]spot // what the mod edits, by sheet
	replaced       [][]spot
	next           int32
	touched, byMod map[edit.Number]bool
	gone           map[edit.Number]bool // in the other version
	// same are nodes of the other version that are equal to what the mod adds.
	same map[edit.Number]edit.Number
}

// numbered is how many of the sheets that a mod edits have siblings that the other version numbers
// anew.
const numbered = 8

// newLargeMod makes 1,000 value edits over 50 sheets, adds 20 nodes, removes 20, and replaces
// 5 sheets.
func newLargeMod(t testing.TB, f *datacenter.File, seed uint64) *largeMod {
	m := &largeMod{TB: t, Rand: rand.New(rand.NewPCG(seed, 2)), f: f, next: 50_000_000, touched: map[edit.Number]bool{}, gone: map[edit.Number]bool{}, byMod: map[edit.Number]bool{}, ids: map[datacenter.Value]edit.Number{}, same: map[edit.Number]edit.Number{}} //nolint:gosec // the same mod each time
	var err error
	if m.mod, err = edit.NewDraft(f, nil); err != nil {
		t.Fatal(err)
	}
	if m.other, err = edit.NewDraft(f, nil); err != nil {
		t.Fatal(err)
	}
	m.choose()
	var edits []edit.Edit
	for i, nodes := range m.sheets {
		if i < numbered {
			nodes = m.siblings(nodes)
		}
		for _, s := range m.some(nodes, 20) {
			edits = append(edits, m.change(s))
		}
	}
	m.values = slices.Clone(edits)
	for i := range 20 {
		nodes := m.sheets[i]
		x := nodes[1+m.IntN(len(nodes)-1)]
		edits = append(edits, m.add(m.mod, x.parent, x.node.Name(), uint64(m.IntN(8))*edit.RankGap+1, x.node.Keys())...)
		leaf := m.leaf(m.sheets[20+i])
		m.removed = append(m.removed, leaf)
		edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: leaf.number})
	}
	for _, nodes := range m.replaced {
		edits = append(edits, m.replace(m.mod, nodes)...)
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

// add adds a node that nothing else is like. Others of its name that are added below the parent have
// other ranks.
func (m *largeMod) add(d *edit.Draft, parent edit.Number, name string, rank uint64, keys datacenter.KeyDefinition) []edit.Edit {
	n, id := d.NewNumber(), m.fresh()
	edits := []edit.Edit{
		{Op: edit.AddNode, Node: n, Parent: parent, Name: name, Ordinal: 60_000 + uint32(m.next%1000), Rank: rank + uint64(m.next), Keys: keys},
		{Op: edit.SetAttribute, Node: n, Name: "id", Value: id},
		{Op: edit.SetAttribute, Node: n, Name: "name", Value: m.fresh()},
	}
	if d == m.mod {
		m.adds = append(m.adds, edits)
		m.ids[id] = n
	}
	return edits
}

// replace replaces all children of a sheet, so that more than half of it is something else.
func (m *largeMod) replace(d *edit.Draft, nodes []spot) (edits []edit.Edit) {
	for _, s := range nodes[1:] {
		if s.parent == nodes[0].number {
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: s.number})
		}
	}
	for i := range len(nodes) {
		edits = append(edits, m.add(d, nodes[0].number, "New", uint64(i+1)*edit.RankGap, nil)...)
	}
	return edits
}

// siblings are the most nodes of a sheet that have one parent and one name, and int ids.
func (m *largeMod) siblings(nodes []spot) (most []spot) {
	type family struct {
		parent edit.Number
		name   string
	}
	of := map[family][]spot{}
	for _, s := range nodes {
		if id := m.id(s); id.Type() != datacenter.Int || s.parent == 0 || len(m.attribute(s)) == 0 {
			continue
		}
		key := family{s.parent, s.node.Name()}
		of[key] = append(of[key], s)
		if list := of[key]; len(list) > len(most) {
			most = list
		}
	}
	return most
}

// shift gives each sibling the id of the next one.
func (m *largeMod) shift(nodes []spot) (edits []edit.Edit) {
	for i, s := range nodes {
		id := m.fresh()
		if i+1 < len(nodes) {
			id = m.id(nodes[i+1])
		}
		m.touched[s.number] = true
		edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: "id", Value: id})
	}
	return edits
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
		if nodes := m.below(large[i]); m.leaf(nodes).number > 0 && m.valued(nodes) >= 60 && (len(m.sheets) >= numbered || len(m.siblings(nodes)) >= 20) {
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
	var edits []edit.Edit
	for i, nodes := range m.sheets {
		if i < numbered {
			edits = append(edits, m.shift(m.siblings(nodes))...)
		}
		for _, s := range m.some(nodes, 5) {
			m.touched[s.number] = true
			switch {
			case i < numbered && m.id(s).Type() != 0: // it has another one already
			case m.id(s).Type() != 0 && m.IntN(2) == 0:
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
		if leaf.number > 0 && !m.gone[leaf.number] && !m.touched[leaf.number] {
			m.gone[leaf.number] = true
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: leaf.number})
		}
	}
	for i, e := range m.values {
		switch {
		case m.gone[e.Node] || i%5 > 1:
		case i%5 == 0:
			edits = append(edits, e)
		default:
			e.Value = m.fresh()
			edits = append(edits, e)
		}
	}
	for _, s := range m.removed[:5] {
		if !m.gone[s.number] {
			m.gone[s.number] = true
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: s.number})
		}
	}
	for _, add := range m.adds[:3] {
		n := m.other.NewNumber()
		m.same[add[0].Node] = n
		for _, e := range add {
			e.Node = n
			edits = append(edits, e)
		}
	}
	// Of the sheets that the mod replaces, one is another one, one is gone, and one was replaced as the
	// mod does.
	some := m.some(m.replaced[0], 1)
	edits = append(edits, m.change(some[0]), edit.Edit{Op: edit.RemoveNode, Node: m.replaced[1][0].number})
	m.apply(m.other, edits...)
	return rebase(m, m.other, func() {})
}

// id returns the id of a node; it has no type if there is none.
func (m *largeMod) id(s spot) (id datacenter.Value) {
	for a, err := range s.node.Attributes() {
		if err == nil && a.Name() == "id" {
			id, err = a.Value()
		}
		if err != nil {
			m.Fatal(err)
		}
	}
	return id
}

// judge judges what a patch of a mod did to another version. It knows the nodes by their numbers in
// the draft of which that was written, which the patch does not have.
type judge struct {
	*largeMod
	p       *patch.Patch
	r       *patch.Result
	serials *edit.Reader
	d       *edit.Draft // with the patch
	// old is a draft of the file that the mod was made of, and now one of the other version, both
	// without edits.
	old, now *edit.Draft
	files    map[*edit.Draft]*datacenter.File
}

func (j *judge) draft(f *datacenter.File) *edit.Draft {
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		j.Fatal(err)
	}
	j.files[d] = f
	return d
}

// hasTwin reports whether a node has a sibling that nothing but its place tells from it.
func (j *judge) hasTwin(n edit.Number) bool {
	want := j.spell(j.old, n)
	return slices.ContainsFunc(j.children(j.old, j.parent(j.old, n)), func(c edit.Entry) bool {
		return c.Number != n && !c.Attribute && j.spell(j.old, c.Number) == want
	})
}

// wrong says what is wrong of what was done for a part of the patch, "" if nothing is. should is what
// was done to the file that the mod was made of.
func (j *judge) wrong(it, should *patch.Item) string {
	b := &j.p.Blocks[it.Block]
	switch {
	case it.Outcome == patch.Conflict:
		return ""
	case b.Kind == patch.Add:
		return j.wrongAdd(it, b)
	}
	want, stays := j.inOther(should.Node)
	switch {
	case it.Node != 0 && want != it.Node && j.spell(j.now, it.Node) == j.spell(j.old, should.Node):
		return "" // by all that there is, it is that node
	case it.Node == 0 && (!stays || j.hasTwin(should.Node)):
		return "" // which one is gone can't be told
	case it.Node != 0 && !stays:
		return fmt.Sprintf("done to %d instead of one that is gone", it.Node)
	case want != it.Node:
		return fmt.Sprintf("done to %d instead of %d", it.Node, want)
	}
	return ""
}

// inOther returns the number of a node in the other version; stays is false if it is gone there.
func (j *judge) inOther(n edit.Number) (number edit.Number, stays bool) {
	number, stays, err := j.serials.Stored(n)
	if err != nil {
		j.Fatal(err)
	}
	return number, stays
}

// wrongAdd is wrong for a node that was added.
func (j *judge) wrongAdd(it *patch.Item, b *patch.Block) string {
	node := b.Node
	for node.Value("id").Type() == 0 || j.ids[node.Value("id")] == 0 {
		if len(node.Children) == 0 {
			return "the mod has no such node"
		}
		node = node.Children[0]
	}
	mods := j.ids[node.Value("id")]
	if it.Outcome == patch.Already {
		if want, stays := j.inOther(j.same[mods]); !stays || want != it.Node {
			return fmt.Sprintf("it is not %d, but %d", it.Node, want)
		}
		return ""
	}
	i := slices.IndexFunc(j.r.Edits, func(e edit.Edit) bool { return e.Op == edit.SetAttribute && e.Value == node.Value("id") })
	if i < 0 {
		return "nothing was added"
	}
	added := j.r.Edits[i].Node
	if node != b.Node {
		added, mods = j.parent(j.d, added), j.parent(j.mod, mods)
	}
	if got, want := j.spell(j.d, added), j.spell(j.mod, mods); got != want {
		return fmt.Sprintf("%s was added instead of %s", got, want)
	}
	into := j.parent(j.d, added)
	if want, stays := j.inOther(j.parent(j.mod, mods)); !stays || into != want {
		return fmt.Sprintf("it was added to %d instead of %d", into, want)
	}
	return j.wrongPlace(b, added, mods)
}

// wrongPlace tells whether an added node is neither right behind the sibling that it is behind in
// the mod nor right before the one that it is before there, though one of them is there.
func (j *judge) wrongPlace(b *patch.Block, added, mods edit.Number) string {
	here, there := j.beside(j.d, added), j.beside(j.mod, mods)
	known := false
	for i, n := range there {
		if want, stays := j.inOther(n); n != 0 && stays {
			// A node goes to the end if its neighbour can't be told from twins, or has other values.
			if here[1] == 0 && (b.Beside.Step.Nth > 0 || !j.meets(j.now, want, &b.Beside.Step)) {
				return ""
			}
			known = true
			if here[i] == want {
				return ""
			}
		}
	}
	if known {
		return fmt.Sprintf("it is between %d and %d, and in the mod between %d and %d", here[0], here[1], there[0], there[1])
	}
	return ""
}

// meets reports whether a node has the values that a step asks for.
func (j *judge) meets(d *edit.Draft, n edit.Number, s *query.PlainStep) bool {
	if err := d.Open(n); err != nil {
		j.Fatal(err)
	}
	for _, c := range s.Conditions {
		a, ok := d.Attribute(n, c.Name)
		if !ok || !c.Holds(j.value(d, &a)) {
			return false
		}
	}
	return true
}

// value returns the value of an attribute of a draft.
func (j *judge) value(d *edit.Draft, a *edit.Entry) datacenter.Value {
	if a.Value.Type() != 0 {
		return a.Value
	}
	stored, err := cmp.Or(j.files[d], j.f).Attribute(a.Addr)
	if err != nil {
		j.Fatal(err)
	}
	v, err := stored.Value()
	if err != nil {
		j.Fatal(err)
	}
	return v
}

// parent returns the number of the node above one.
func (j *judge) parent(d *edit.Draft, n edit.Number) edit.Number {
	if err := d.Open(n); err != nil {
		j.Fatal(err)
	}
	info, ok := d.Node(n)
	if !ok {
		j.Fatalf("%d: %v", n, edit.ErrGone)
	}
	return info.Parent
}

// children returns what is below a node, in its order.
func (j *judge) children(d *edit.Draft, n edit.Number) []edit.Entry {
	if err := d.Open(n); err != nil {
		j.Fatal(err)
	}
	children, _, err := d.OrderedChildren(n)
	if err != nil {
		j.Fatal(err)
	}
	return children
}

// beside returns the nearest siblings of a node that have its name and were not added, 0 for none.
func (j *judge) beside(d *edit.Draft, n edit.Number) (list [2]edit.Number) {
	passed := false
	children := j.children(d, j.parent(d, n))
	info, _ := d.Node(n)
	for _, c := range children {
		switch {
		case c.Number == n:
			passed = true
		case c.Name != info.Name || !c.Stored:
		case !passed:
			list[0] = c.Number
		case list[1] == 0:
			list[1] = c.Number
		}
	}
	return list
}

// spell spells a node with all below it.
func (j *judge) spell(d *edit.Draft, n edit.Number) string {
	children := j.children(d, n)
	info, _ := d.Node(n)
	attributes, _ := d.Attributes(n)
	text := fmt.Sprintf("%s %d %v", info.Name, info.Flags, info.Keys)
	slices.SortFunc(attributes, func(a, b edit.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, a := range attributes {
		v := j.value(d, &a)
		text += fmt.Sprintf(" %s=%s:%s", a.Name, v.Type(), v.Text())
	}
	for _, c := range children {
		text += "(" + j.spell(d, c.Number) + ")"
	}
	return text
}

// checkReplaced checks that a sheet was replaced or not, but not removed without being added, or the
// other way round.
func (j *judge) checkReplaced() {
	outcomes := map[string][]patch.Item{}
	for _, it := range j.r.Items {
		b := &j.p.Blocks[it.Block]
		if b.Kind != patch.Change && len(b.Path.Steps) == int(b.Kind)-1 {
			outcomes[b.Node.Name] = append(outcomes[b.Node.Name], it)
		}
	}
	replaced := 0
	for name, list := range outcomes {
		conflicts := 0
		for _, it := range list {
			if it.Outcome == patch.Conflict {
				conflicts++
			}
		}
		replaced += len(list)
		if conflicts%2 != 0 {
			for _, it := range list {
				j.Errorf("sheets called %s: %s", name, j.r.Describe(it))
			}
		}
	}
	if replaced != 2*len(j.replaced) {
		j.Errorf("%d blocks replace %d sheets", replaced, len(j.replaced))
	}
}

// A large mod of one version of a game, applied to another one, does nothing to a node that
// it was not made for. The judge knows the nodes by their numbers in the draft of which the
// other version was written.
func TestLargeModOntoAnotherVersion(t *testing.T) {
	testneeds.Slow(t, "reads and writes a large file")
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
			d, results := apply(t, g, p)
			r := results[0]
			t.Logf("%d blocks, %d parts: %d applied, %d already there, %d conflicts", len(p.Blocks), len(r.Items), r.Applied, r.Already, r.Conflicts)
			if r.Applied+r.Already+r.Conflicts != len(r.Items) || len(r.Items) != len(made[0].Items) {
				t.Errorf("%d, %d and %d of %d", r.Applied, r.Already, r.Conflicts, len(made[0].Items))
			}
			if r.Applied < len(r.Items)*2/5 || r.Already < len(m.values)/10 || r.Conflicts < len(m.values)/10 {
				t.Errorf("%d applied, %d already there, %d conflicts of %d", r.Applied, r.Already, r.Conflicts, len(r.Items))
			}
			j := judge{largeMod: m, p: p, r: r, serials: serials, d: d, files: map[*edit.Draft]*datacenter.File{}}
			j.old, j.now = j.draft(f), j.draft(g)
			for i := range r.Items {
				if what := j.wrong(&r.Items[i], &made[0].Items[i]); what != "" {
					t.Errorf("%s: %s, by\n%.2000s", r.Describe(r.Items[i]), what, p.Blocks[r.Items[i].Block].Append(nil))
				}
			}
			j.checkReplaced()
			if rejects := patch.Rejects(r); rejects != nil {
				if _, again := apply(t, g, reread(t, rejects)); again[0].Conflicts != r.Conflicts {
					t.Errorf("%d of %d rejects are rejected again", again[0].Conflicts, r.Conflicts)
				}
			}
		})
	}
}
