package edit_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// model is the expected content of a Draft, as a plain tree.
type model struct {
	root  *modelNode
	nodes map[edit.Number]*modelNode
	// base is the newest file. A node that was made again has its new number there as well, as long as
	// it is there; again has the number that it had.
	base  *model
	again map[edit.Number]edit.Number
}

// modelNode has its children in the order of the file, apart from the order by names and
// keys.
type modelNode struct {
	number  edit.Number
	parent  *modelNode
	name    string
	ordinal uint32
	keys    []string
	flags   datacenter.KeyFlags
	attrs   map[string]modelAttr
	kids    []*modelNode
}

type modelAttr struct {
	value  datacenter.Value
	number edit.Number // 0 if the model does not need it
}

// newModel reads a file with its reader, and numbers the entries.
func newModel(t testing.TB, f *datacenter.File) *model {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	m := &model{nodes: map[edit.Number]*modelNode{}}
	next := edit.Number(0)
	m.root = m.read(t, root, &next)
	return m
}

func (m *model) read(t testing.TB, n datacenter.Node, next *edit.Number) *modelNode {
	t.Helper()
	x := &modelNode{number: *next, name: n.Name(), keys: n.Keys(), flags: n.Flags(), attrs: map[string]modelAttr{}}
	m.nodes[x.number] = x
	*next++
	for a, err := range n.Attributes() {
		if err != nil {
			t.Fatal(err)
		}
		x.attrs[a.Name()] = modelAttr{storedValue(t, a), *next}
		*next++
	}
	ordinals := map[string]uint32{}
	for c, err := range n.Children() {
		if err != nil {
			t.Fatal(err)
		}
		k := m.read(t, c, next)
		k.parent, k.ordinal = x, ordinals[k.name]
		ordinals[k.name]++
		x.kids = append(x.kids, k)
	}
	return x
}

func storedValue(t testing.TB, a datacenter.Attribute) datacenter.Value {
	t.Helper()
	text, err := a.AppendText(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := datacenter.ParseValue(a.Type(), string(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (m *model) clone() *model {
	c := &model{nodes: make(map[edit.Number]*modelNode, len(m.nodes)), again: maps.Clone(m.again)}
	c.root = c.copyOf(m.root, nil)
	if m.base != nil {
		c.base = m.base.clone()
	}
	return c
}

func (m *model) copyOf(n, parent *modelNode) *modelNode {
	x := *n
	x.parent, x.attrs, x.kids = parent, maps.Clone(n.attrs), make([]*modelNode, len(n.kids))
	m.nodes[x.number] = &x
	for i, k := range n.kids {
		x.kids[i] = m.copyOf(k, &x)
	}
	return &x
}

func (m *model) entries() (n int64) {
	for _, x := range m.nodes {
		n += 1 + int64(len(x.attrs))
	}
	return n
}

var errModel = errors.New("cannot be done")

// apply makes one edit, or returns an error if it can't be made.
func (m *model) apply(e edit.Edit) error {
	n, parent := m.nodes[e.Node], m.nodes[e.Parent]
	switch e.Op {
	case edit.AddNode:
		return m.addNode(e)
	case edit.RestoreNode:
		return m.restore(e)
	}
	if n == nil {
		return errModel
	}
	switch e.Op {
	case edit.SetAttribute:
		if n == m.root || e.Name == dctest.RootName || e.Name == dctest.ValueName && e.Value.Type() != datacenter.String {
			return errModel
		}
		n.attrs[e.Name] = modelAttr{e.Value, e.Attr}
	case edit.RemoveAttribute:
		if _, ok := n.attrs[e.Name]; !ok {
			return errModel
		}
		delete(n.attrs, e.Name)
	case edit.RemoveNode:
		if n == m.root {
			return errModel
		}
		n.leave()
		m.forget(n)
	case edit.MoveNode:
		return m.move(n, parent, e)
	case edit.SetKeys:
		if !possibleKeys(e.Keys) {
			return errModel
		}
		n.keys = e.Keys
	case edit.SetFlags:
		n.flags = e.Flags
	}
	return nil
}

func possibleKeys(keys []string) bool {
	return len(keys) <= 4 && !slices.Contains(keys, dctest.ValueName) && !slices.Contains(keys, dctest.RootName)
}

func (m *model) addNode(e edit.Edit) error {
	parent := m.nodes[e.Parent]
	if parent == nil || m.nodes[e.Node] != nil || e.Node <= datacenter.MaxEntries || e.Node == math.MaxUint32 || !possibleKeys(e.Keys) {
		return errModel
	}
	x := &modelNode{number: e.Node, name: e.Name, keys: e.Keys, flags: e.Flags, attrs: map[string]modelAttr{}}
	m.nodes[x.number] = x
	if err := x.join(parent, e); err != nil {
		return err
	}
	if !e.Again {
		return nil
	}
	if was := m.gone(parent, e.Name, e.Ordinal); was != nil { // else it is not in the file that was saved meanwhile
		m.again[x.number] = was.number
		m.base.renumber(was.number, x.number)
	}
	return nil
}

func (m *model) move(n, parent *modelNode, e edit.Edit) error {
	for p := parent; p != nil; p = p.parent {
		if p == n {
			return errModel
		}
	}
	if parent == nil || n == m.root {
		return errModel
	}
	n.leave()
	return n.join(parent, e)
}

// join adds n behind the sibling of its name with the next lower ordinal.
func (n *modelNode) join(parent *modelNode, e edit.Edit) error {
	if e.Name == dctest.RootName || e.Name == dctest.ValueName {
		return errModel
	}
	var before *modelNode
	for _, k := range parent.kids {
		if k.name != e.Name {
			continue
		}
		if k.ordinal == e.Ordinal {
			return errModel
		}
		if k.ordinal < e.Ordinal && (before == nil || k.ordinal > before.ordinal) {
			before = k
		}
	}
	n.name, n.ordinal, n.parent = e.Name, e.Ordinal, parent
	parent.kids = slices.Insert(parent.kids, slices.Index(parent.kids, before)+1, n)
	return nil
}

func (n *modelNode) leave() {
	i := slices.Index(n.parent.kids, n)
	n.parent.kids = slices.Delete(n.parent.kids, i, i+1)
	n.parent = nil
}

func (m *model) forget(n *modelNode) {
	delete(m.nodes, n.number)
	if was, ok := m.again[n.number]; ok {
		m.base.renumber(n.number, was)
		delete(m.again, n.number)
	}
	for _, k := range n.kids {
		m.forget(k)
	}
}

// sort puts children in the order that the format demands, with names in the order of a
// written file.
func (n *modelNode) sort(names map[string]int) {
	byName := func(x, y *modelNode) int { return cmp.Compare(names[x.name], names[y.name]) }
	slices.SortStableFunc(n.kids, func(x, y *modelNode) int { return cmp.Or(byName(x, y), x.compareSiblings(y)) })
	for _, k := range n.kids {
		k.sort(names)
	}
}

// compareSiblings compares siblings of one name.
func (n *modelNode) compareSiblings(y *modelNode) int {
	units := func(a, b string) int { return slices.Compare(dctest.Units(a), dctest.Units(b)) }
	return cmp.Or(slices.CompareFunc(n.keys, y.keys, units), n.compareKeys(y))
}

// compareKeys compares the values of n's keys.
func (n *modelNode) compareKeys(y *modelNode) int {
	for _, key := range n.keys {
		p, pok := n.attrs[key]
		q, qok := y.attrs[key]
		if c := compareModelValues(p.value, pok, q.value, qok); c != 0 {
			return c
		}
	}
	return 0
}

func compareModelValues(p datacenter.Value, pok bool, q datacenter.Value, qok bool) int {
	switch {
	case !pok && !qok:
		return 0
	case !pok:
		return -1
	case !qok:
		return 1
	case p.Type() != q.Type():
		return cmp.Compare(p.Type(), q.Type())
	case p.Type() == datacenter.String:
		return slices.Compare(dctest.Units(p.Text()), dctest.Units(q.Text()))
	case p.Type() == datacenter.Bool:
		return cmp.Compare(p.Text(), q.Text()) // false, true
	}
	var x, y float64
	for _, s := range []struct {
		v datacenter.Value
		f *float64
	}{{p, &x}, {q, &y}} {
		text := s.v.Text()
		if strings.HasPrefix(text, "NaN") {
			text = "NaN"
		}
		if _, err := fmt.Sscan(text, s.f); err != nil {
			panic(err)
		}
	}
	return cmp.Compare(x, y)
}

func (n *modelNode) sortByNumber() {
	slices.SortFunc(n.kids, func(x, y *modelNode) int { return cmp.Compare(x.number, y.number) })
	for _, k := range n.kids {
		k.sortByNumber()
	}
}

// String returns a text for the tree, with its order.
func (m *model) String() string {
	var b strings.Builder
	m.root.render(&b, 0)
	return b.String()
}

func (n *modelNode) render(b *strings.Builder, depth int) {
	name := n.name
	if depth == 0 {
		name = dctest.RootName
	}
	fmt.Fprintf(b, "%*s%q %q %d", 2*depth, "", name, n.keys, n.flags)
	for _, a := range slices.Sorted(maps.Keys(n.attrs)) {
		v := n.attrs[a].value
		fmt.Fprintf(b, " %q=%v:%q", a, v.Type(), v.Text())
	}
	b.WriteByte('\n')
	for _, k := range n.kids {
		k.render(b, depth+1)
	}
}

// check compares a Draft with the model, in all ways to read it.
func (m *model) check(t testing.TB, d *edit.Draft, f *datacenter.File) {
	t.Helper()
	if got, want := d.Entries(), m.entries(); got != want {
		t.Fatalf("%d entries, want %d", got, want)
	}
	c := draftChecker{t: t, d: d, f: f, seen: map[edit.Number]bool{}}
	if !d.Touched(0) {
		t.Fatal("the root is no draft node")
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	c.node(m.root, root)
}

type draftChecker struct {
	t    testing.TB
	d    *edit.Draft
	f    *datacenter.File
	seen map[edit.Number]bool
}

func (c *draftChecker) number(n edit.Number) {
	c.t.Helper()
	if c.seen[n] {
		c.t.Fatalf("the number %d comes twice", n)
	}
	c.seen[n] = true
}

func (c *draftChecker) node(want *modelNode, stored datacenter.Node) {
	c.t.Helper()
	c.number(want.number)
	if !c.d.Touched(want.number) {
		c.stored(want, stored)
		return
	}
	info, _ := c.d.Node(want.number)
	if info.Name != want.name && want.parent != nil || info.Ordinal != want.ordinal || info.Flags != want.flags ||
		!slices.Equal(info.Keys, want.keys) || info.Attributes != len(want.attrs) || info.Children != len(want.kids) {
		c.t.Fatalf("node %d: %+v, want %+v", want.number, info, want)
	}
	if want.parent != nil && info.Parent != want.parent.number {
		c.t.Fatalf("node %d: parent %d, want %d", want.number, info.Parent, want.parent.number)
	}
	attrs, kids := 0, 0
	for _, e := range c.list(want.number) {
		if e.Attribute {
			attrs++
			c.attribute(want, e)
			continue
		}
		kids++
		i := slices.IndexFunc(want.kids, func(k *modelNode) bool { return k.number == e.Number })
		if i < 0 || want.kids[i].name != e.Name || want.kids[i].ordinal != e.Ordinal {
			c.t.Fatalf("node %d: %q lists the child %+v", want.number, want.name, e)
		}
		if found, ok := c.d.Child(want.number, e.Name, e.Ordinal); !ok || !equalEntries(found, e) {
			c.t.Fatalf("Child gives %+v, List %+v", found, e)
		}
		c.node(want.kids[i], c.base(e))
	}
	if attrs != len(want.attrs) || kids != len(want.kids) {
		c.t.Fatalf("node %d: lists %d attributes and %d children, want %d and %d", want.number, attrs, kids, len(want.attrs), len(want.kids))
	}
}

func equalEntries(x, y edit.Entry) bool { return x == y }

// base returns the file's node of an entry, or the zero Node.
func (c *draftChecker) base(e edit.Entry) datacenter.Node {
	if !e.Stored {
		return datacenter.Node{}
	}
	n, err := c.f.Node(e.Addr)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// list reads a listing in small parts.
func (c *draftChecker) list(n edit.Number) (all []edit.Entry) {
	cursor := uint64(0)
	for {
		part, ok := c.d.List(n, cursor, 3, nil)
		if !ok {
			c.t.Fatalf("nothing to list of %d", n)
		}
		if len(part) == 0 {
			return all
		}
		all = append(all, part...)
		cursor = part[len(part)-1].Next
	}
}

func (c *draftChecker) attribute(want *modelNode, e edit.Entry) {
	c.t.Helper()
	c.number(e.Number)
	a, ok := want.attrs[e.Name]
	if found, there := c.d.Attribute(want.number, e.Name); !ok || !there || !equalEntries(found, e) {
		c.t.Fatalf("node %d: Attribute gives %+v, List %+v", want.number, found, e)
	}
	if a.number != 0 && a.number != e.Number {
		c.t.Fatalf("attribute %q has the number %d, want %d", e.Name, e.Number, a.number)
	}
	v, changed := c.d.Value(e.Number)
	if changed != (e.Value.Type() != 0) || changed && v != e.Value {
		c.t.Fatalf("attribute %q: Value gives %v %v, List %v", e.Name, v, changed, e.Value)
	}
	if !changed {
		stored, err := c.f.Attribute(e.Addr)
		if err != nil {
			c.t.Fatal(err)
		}
		v = storedValue(c.t, stored)
	}
	if v != a.value {
		c.t.Fatalf("attribute %q is %v %q, want %v %q", e.Name, v.Type(), v.Text(), a.value.Type(), a.value.Text())
	}
}

// stored compares a node that must be read from the file alone.
func (c *draftChecker) stored(want *modelNode, n datacenter.Node) {
	c.t.Helper()
	m := &model{nodes: map[edit.Number]*modelNode{}}
	next := want.number
	got := &model{root: m.read(c.t, n, &next)}
	wanted := &model{root: (&model{nodes: map[edit.Number]*modelNode{}}).copyOf(want, nil)}
	wanted.root.sortByNumber() // after a save the model has the order of the new file
	if p, q := got.String(), wanted.String(); p != q {
		c.t.Fatalf("untouched node %d is\n%.2000swant\n%.2000s", want.number, p, q)
	}
	for k, x := range m.nodes {
		if k != want.number {
			c.number(k)
		}
		for _, a := range x.attrs {
			c.number(a.number)
		}
	}
}

// rapidTB passes failures in the helpers of other tests to a property test, so that it
// looks for a smaller example.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (t rapidTB) Helper()                   {}
func (t rapidTB) Error(args ...any)         { t.rt.Error(args...) }
func (t rapidTB) Errorf(s string, a ...any) { t.rt.Errorf(s, a...) }
func (t rapidTB) Fatal(args ...any)         { t.rt.Fatal(args...) }
func (t rapidTB) Fatalf(s string, a ...any) { t.rt.Fatalf(s, a...) }
