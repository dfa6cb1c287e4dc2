package dcsave

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/sheets"
	"lorefs/internal/app/save"
	"lorefs/internal/formats/datacenter/identity"
)

// PatchOf makes a patch of the unsaved edits of a journal from its notes, without the file
// that they belong to. What the notes do not say is no part of the patch: its last lines
// describe it, one for each of missing edits.
func PatchOf(j *save.Journal) (p *patch.Patch, missing int, err error) {
	m := notedPatch{nodes: map[edit.Number]*notedNode{}, p: &patch.Patch{}}
	if err := EditsOf(j, func(e *Edited) error { m.take(e); return nil }); err != nil {
		return nil, 0, err
	}
	if err := m.make(); err != nil {
		return nil, 0, err
	}
	return m.p, m.missing, nil
}

// notedPatch makes a patch of the edits of a journal.
type notedPatch struct {
	nodes map[edit.Number]*notedNode
	// gone are the paths of the nodes that were removed or moved, and spans their numbers with those
	// below them, in their order and none in another.
	gone    map[string]bool
	spans   []span
	p       *patch.Patch
	missing int
}

// span is a range of numbers of nodes: first included, end excluded.
type span struct{ first, end edit.Number }

// notedNode is a node that was edited, as it was and as it is.
type notedNode struct {
	number edit.Number
	base   *Before // nil if nothing is known of it
	// made and moved are set for a node that edits added or moved to parent, with a name and a
	// rank, behind a node of the file, nil if that is not known.
	made, moved, removed bool
	parent               edit.Number
	name                 string
	rank                 uint64
	behind               *Before
	attributes           map[string]*notedValue
	keys, flags          *notedValue
	// kids are the nodes that were added here or moved here.
	kids []*notedNode
}

// notedValue is what an edit changed. lost means that it is not known what was there.
type notedValue struct {
	old, now patch.Value
	lost     bool
}

// node returns a node.
func (m *notedPatch) node(n edit.Number, base *Before) *notedNode {
	x := m.nodes[n]
	if x == nil {
		x = &notedNode{number: n, attributes: map[string]*notedValue{}}
		m.nodes[n] = x
	}
	if x.base == nil && !x.made {
		x.base = base
	}
	return x
}

// take makes an edit.
func (m *notedPatch) take(e *Edited) {
	n := m.node(e.Node, baseOf(&e.On))
	set := func(v **notedValue, old, now patch.Value) {
		if *v == nil {
			*v = &notedValue{old: old, lost: !e.Known}
		}
		(*v).now = now
	}
	switch e.Op {
	case edit.SetAttribute, edit.RemoveAttribute:
		v := n.attributes[e.Name]
		set(&v, patch.Value{Attribute: e.Old}, patch.Value{Attribute: e.Value})
		n.attributes[e.Name] = v
	case edit.SetKeys:
		set(&n.keys, patch.Value{Keys: e.OldKeys}, patch.Value{Keys: e.Keys})
	case edit.SetFlags:
		set(&n.flags, patch.Value{Flags: e.OldFlags}, patch.Value{Flags: e.Flags})
	case edit.RemoveNode:
		m.detach(n)
		n.removed = true
	case edit.AddNode, edit.MoveNode:
		m.detach(n)
		if e.Op == edit.AddNode {
			n.made, n.base = true, nil
			n.keys, n.flags = &notedValue{now: patch.Value{Keys: e.Keys}}, &notedValue{now: patch.Value{Flags: e.Flags}}
		}
		n.moved = !n.made
		n.parent, n.name, n.rank, n.behind = e.Parent, e.Name, e.Rank, e.Behind
		parent := m.node(e.Parent, baseOf(&e.Into))
		parent.kids = append(parent.kids, n)
	}
}

// baseOf returns the node of the file at a spot, nil for an added node.
func baseOf(s *Spot) *Before {
	if len(s.Made) > 0 {
		return nil
	}
	return s.Base
}

// detach takes a node from where edits have put it.
func (m *notedPatch) detach(n *notedNode) {
	if parent := m.nodes[n.parent]; parent != nil && (n.made || n.moved) {
		parent.kids = slices.DeleteFunc(parent.kids, func(k *notedNode) bool { return k == n })
	}
	n.moved = false
}

// make makes the blocks, in the order of the file.
func (m *notedPatch) make() error {
	m.gone = map[string]bool{}
	numbers := slices.Sorted(maps.Keys(m.nodes))
	for _, number := range numbers {
		n := m.nodes[number]
		if !n.removed && !n.moved || n.base == nil {
			continue
		}
		if n.base.Path != "" {
			m.gone[n.base.Path] = true
		}
		if s := (span{number, number + edit.Number(n.base.Entries)}); len(m.spans) == 0 || m.spans[len(m.spans)-1].end <= number {
			m.spans = append(m.spans, s)
		}
	}
	for _, number := range numbers {
		n := m.nodes[number]
		if n.made || m.goneWith(n) {
			continue
		}
		if err := m.blocks(n); err != nil {
			return err
		}
	}
	return nil
}

// goneWith reports whether a node is below one that was removed or moved, whose block has it.
func (m *notedPatch) goneWith(n *notedNode) bool {
	i, at := slices.BinarySearchFunc(m.spans, n.number, func(s span, n edit.Number) int { return cmp.Compare(s.first, n) })
	if !at && i > 0 && n.number < m.spans[i-1].end {
		return true
	}
	if n.base == nil {
		return false
	}
	for i, c := range n.base.Path {
		if c == '/' && m.gone[n.base.Path[:i]] {
			return true
		}
	}
	return false
}

// blocks adds the blocks of a node of the file.
func (m *notedPatch) blocks(n *notedNode) error {
	switch {
	case n.base == nil || n.base.Path == "":
		m.lost(n, "its path is not known")
		return nil
	case !n.removed && !n.moved:
		if err := m.change(n); err != nil {
			return err
		}
		return m.adds(n)
	case !n.base.Taken:
		m.lost(n, "what it held is not known")
		return nil
	}
	path, guards, err := guarded(n.base.Path, n.base.Guards)
	if err != nil {
		return err
	}
	b := patch.Block{Kind: patch.Remove, Path: path, Contexts: guards, Node: n.base.Element}
	if b.Node == nil {
		b.Node, b.Hash, b.Size = &sheets.Element{Name: n.base.Name}, patch.HashOf(n.base.Hash), n.base.Entries
	}
	m.p.Blocks = append(m.p.Blocks, b)
	return nil
}

// change adds the block of a node whose attributes, keys or flags are other ones.
func (m *notedPatch) change(n *notedNode) error {
	var lines []patch.Line
	add := func(what patch.What, name string, v *notedValue) {
		line := patch.Line{What: what, Name: name, Old: v.old, New: v.now}
		switch {
		case v.lost:
			m.comment(n, fmt.Sprintf("%s: what it was is not known", line.String()))
		case !line.Old.Equal(&line.New):
			lines = append(lines, line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.attributes)) {
		add(patch.Attribute, name, n.attributes[name])
	}
	if n.keys != nil {
		add(patch.Keys, "", n.keys)
	}
	if n.flags != nil {
		add(patch.Flags, "", n.flags)
	}
	if len(lines) == 0 {
		return nil
	}
	path, guards, err := guarded(n.base.Path, n.base.Guards)
	m.p.Blocks = append(m.p.Blocks, patch.Block{Kind: patch.Change, Path: path, Contexts: guards, Lines: lines})
	return err
}

// adds adds the blocks of the nodes that were put below a node of the file.
func (m *notedPatch) adds(n *notedNode) error {
	for _, k := range inOrder(n.kids) {
		e, why := m.element(k, 0)
		if why != "" {
			m.lost(k, why)
			continue
		}
		b := patch.Block{Kind: patch.Add, Node: e}
		var err error
		if k.behind != nil && k.behind.Path != "" && !m.leaves(k.behind) {
			var sibling patch.Path
			if sibling, b.Contexts, err = guarded(k.behind.Path, k.behind.Guards); err != nil {
				return err
			}
			b.Path, b.Beside = sibling.Parent()
			for i := range b.Contexts {
				if c := &b.Contexts[i]; c.At == len(b.Path.Steps) {
					c.At = patch.BesideStep
				}
			}
		} else if b.Path, b.Contexts, err = guarded(n.base.Path, n.base.Guards); err != nil {
			return err
		}
		m.p.Blocks = append(m.p.Blocks, b)
	}
	return nil
}

// leaves reports whether a node of the file was removed or moved.
func (m *notedPatch) leaves(b *Before) bool {
	n := m.nodes[b.Number]
	return n != nil && (n.removed || n.moved)
}

// inOrder returns nodes in the order of their names and ranks.
func inOrder(kids []*notedNode) []*notedNode {
	return slices.SortedStableFunc(slices.Values(kids), func(x, y *notedNode) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.rank, y.rank))
	})
}

// element returns an added or moved node with all below it, or why that is not known.
func (m *notedPatch) element(n *notedNode, depth int) (e *sheets.Element, why string) {
	base := &sheets.Element{}
	if n.moved {
		if n.base == nil || n.base.Element == nil {
			return nil, "what it held when it was moved is not known, or was too large for the journal"
		}
		base = n.base.Element
	}
	e, why = m.edited(n.number, base, depth)
	e.Name = n.name
	return e, why
}

// edited returns a node of the file, with all below it, as the edits make it, or why that is not
// known. number is that of the node.
func (m *notedPatch) edited(number edit.Number, base *sheets.Element, depth int) (e *sheets.Element, why string) {
	e = &sheets.Element{Name: base.Name, Keys: base.Keys, Flags: base.Flags, Attributes: slices.Clone(base.Attributes)}
	if depth > datacenter.MaxDepth {
		return e, "it is nested too deep"
	}
	n := m.nodes[number]
	if n != nil {
		n.set(e)
	}
	type child struct {
		*sheets.Element
		rank uint64
	}
	var children []child
	add := func(c *sheets.Element, rank uint64, whyNot string) {
		children = append(children, child{c, rank})
		if why == "" {
			why = whyNot
		}
	}
	next, ranks := number+1+edit.Number(len(base.Attributes)), map[string]uint64{}
	for _, c := range base.Children {
		ranks[c.Name] += edit.RankGap
		if k := m.nodes[next]; k == nil || !k.removed && !k.moved {
			x, whyNot := m.edited(next, c, depth+1)
			add(x, ranks[c.Name], whyNot)
		}
		next += edit.Number(c.Entries())
	}
	if n != nil {
		for _, k := range n.kids {
			x, whyNot := m.element(k, depth+1)
			add(x, k.rank, whyNot)
		}
	}
	if why != "" {
		return e, why
	}
	slices.SortStableFunc(children, func(x, y child) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.rank, y.rank))
	})
	for _, c := range children {
		e.Children = append(e.Children, c.Element)
	}
	return e, ""
}

// set gives a node the attributes, keys and flags that edits gave it.
func (n *notedNode) set(e *sheets.Element) {
	for name, v := range n.attributes {
		e.Attributes = slices.DeleteFunc(e.Attributes, func(a sheets.ElementAttribute) bool { return a.Name == name })
		if v.now.Attribute.Type() != 0 {
			e.Attributes = append(e.Attributes, sheets.ElementAttribute{Name: name, Value: v.now.Attribute})
		}
	}
	slices.SortFunc(e.Attributes, func(a, b sheets.ElementAttribute) int { return strings.Compare(a.Name, b.Name) })
	if n.keys != nil {
		e.Keys = n.keys.now.Keys
	}
	if n.flags != nil {
		e.Flags = n.flags.now.Flags
	}
}

// lost describes all edits of a node that are no part of the patch.
func (m *notedPatch) lost(n *notedNode, why string) {
	switch {
	case n.removed:
		m.comment(n, "it was removed: "+why)
	case n.made:
		m.comment(n, "it was added: "+why)
	case n.moved:
		m.comment(n, "it was moved: "+why)
	}
	for _, name := range slices.Sorted(maps.Keys(n.attributes)) {
		l := patch.Line{Name: name, Old: n.attributes[name].old, New: n.attributes[name].now}
		m.comment(n, l.String()+": "+why)
	}
	if n.keys != nil && !n.made {
		m.comment(n, (&patch.Line{What: patch.Keys, New: n.keys.now}).String()+": "+why)
	}
	if n.flags != nil && !n.made {
		m.comment(n, (&patch.Line{What: patch.Flags, New: n.flags.now}).String()+": "+why)
	}
	for _, k := range n.kids {
		if k.made {
			m.lost(k, why)
		}
	}
}

// comment describes an edit that is no part of the patch.
func (m *notedPatch) comment(n *notedNode, what string) {
	m.missing++
	at := fmt.Sprintf("node %d", n.number)
	switch {
	case n.base != nil && n.base.Path != "":
		at = n.base.Path
	case n.made || n.moved:
		at += " called " + n.name
	}
	m.p.Notes = append(m.p.Notes, "# not in the patch: "+oneLine(at+": "+what))
}

// guarded returns a path with contexts of its places, for places of which only is known what was there
// before the patch. Such a context is good as long as all siblings are as they were.
func guarded(expr string, places []identity.Place) (patch.Path, []patch.Context, error) {
	path, err := patch.ParsePath(expr)
	if err != nil {
		return path, nil, err
	}
	var contexts []patch.Context
	for _, p := range places {
		if p.Step < len(path.Steps) {
			sum := patch.SumOf(p.Group)
			contexts = append(contexts, patch.Context{At: p.Step, N: p.N, Of: p.Of, NewN: p.N, NewOf: p.Of, Sum: sum, NewSum: sum})
		}
	}
	return path, contexts, nil
}
