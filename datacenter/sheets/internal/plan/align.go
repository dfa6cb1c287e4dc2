package plan

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/internal/align"
	"lorefs/datacenter/sheets/internal/vocab"
)

// siblings are the children of a node that have one name: xs as they are, and ys as the text
// wants them.
type siblings struct {
	parent oldNode
	name   vocab.NameID
	xs     []oldKid
	ys     []newKid
	// removed returns the children that were removed from parent. Those that come back join xs.
	removed func() (map[vocab.NameID][]removedKid, error)
	// to has the place in ys of the node that belongs to each of xs.
	to []int32
	// classes has a class for each of ys. The order counts only within a class: if keys
	// order siblings, a class has equal keys. If it is nil, the order counts among all.
	classes []uint64
	// rekeyed says that nodes which belong together have different keys.
	rekeyed bool
}

// diffSiblings adds the edits of siblings.
func (p *planner) diffSiblings(s siblings) error {
	if s.unchanged() {
		return nil
	}
	if err := p.align(&s); err != nil {
		return err
	}
	taken := make([]bool, len(s.ys))
	for i, j := range s.to {
		if j == align.None {
			p.remove(s.parent, edit.Edit{Op: edit.RemoveNode, Node: s.xs[i].number})
			continue
		}
		taken[j] = true
		if err := p.diff(s.xs[i].oldNode, s.ys[j].newRef); err != nil {
			return err
		}
	}
	return p.order(&s, taken)
}

// unchanged is a quick check for siblings that are all equal.
func (s *siblings) unchanged() bool {
	if len(s.xs) != len(s.ys) {
		return false
	}
	for i, x := range s.xs {
		if y := s.ys[i]; y.at >= 0 || y.old.number != x.number {
			return false
		}
	}
	return true
}

// align matches xs with ys: equal nodes, then by the rules of package identity, and then
// nodes in the same place, since a text may give a node other keys.
func (p *planner) align(s *siblings) error {
	s.to = make([]int32, len(s.xs))
	for i := range s.to {
		s.to[i] = align.None
	}
	s.alignEqual()
	keys, err := p.keysOf(s)
	if err == nil {
		err = p.bringBack(s, keys)
	}
	if err != nil {
		return err
	}
	old := identity.Siblings[newRef]{Contents: p.contents}
	for _, x := range s.xs {
		old.Nodes = append(old.Nodes, newRef{at: -1, old: x.oldNode})
	}
	text := identity.Siblings[newRef]{Contents: p.contents}
	for _, y := range s.ys {
		text.Nodes = append(text.Nodes, y.newRef)
	}
	if len(keys) > 0 {
		s.classes = make([]uint64, len(s.ys))
		for j, y := range text.Nodes {
			if s.classes[j], _, err = identity.HashValues(tree{p}, y, keys); err != nil {
				return err
			}
		}
	}
	if err := identity.Match(old, text, keys, s.to); err != nil {
		return err
	}
	s.rekeyed = align.FillGaps(s.to, len(s.ys)) > 0 && len(keys) > 0
	return nil
}

// alignEqual matches nodes that were found to be equal while the text was read.
func (s *siblings) alignEqual() {
	var places map[edit.Number]int32
	next := int32(0)
	for j, y := range s.ys {
		if y.at >= 0 {
			continue
		}
		if int(next) < len(s.xs) && s.xs[next].number == y.old.number {
			s.to[next] = int32(j)
			next++
			continue
		}
		if places == nil {
			places = make(map[edit.Number]int32, len(s.xs))
			for i, x := range s.xs {
				places[x.number] = int32(i)
			}
		}
		if i, ok := places[y.old.number]; ok {
			s.to[i] = int32(j)
			next = i + 1
		}
	}
}

// keysOf returns the key definition that orders siblings.
func (p *planner) keysOf(s *siblings) (datacenter.KeyDefinition, error) {
	if len(s.xs) > 0 {
		keys, _, err := p.oldKeys(s.xs[0].oldNode)
		return keys, err
	}
	removed, err := s.removed()
	if err != nil {
		return nil, err
	}
	if kids := removed[s.name]; len(kids) > 0 {
		keys, _, err := p.oldKeys(kids[0].oldNode)
		return keys, err
	}
	keys, has, _, err := p.wantedKeys(s.ys[0].newRef)
	if has || err != nil {
		return keys, err
	}
	return p.typesHere().keys(), nil
}

// tree is an [identity.Tree] of the nodes of the text and of the sheet.
type tree struct{ p *planner }

// Attributes implements [identity.Tree].
func (t tree) Attributes(y newRef, visit func(name string, typ datacenter.Type, text []byte)) error {
	if err := t.p.check(); err != nil {
		return err
	}
	list, err := t.p.wantedAttributes(y)
	for i := range list {
		visit(t.p.names.name(list[i].name), list[i].typ, list[i].text)
	}
	return err
}

// Children implements [identity.Tree].
func (t tree) Children(y newRef, visit func(name string, child newRef)) error {
	kids, err := t.p.wantedKids(y)
	for _, k := range kids {
		visit(t.p.names.name(k.name), k.newRef)
	}
	return err
}

// Run implements [identity.Tree].
func (t tree) Run(y newRef) (datacenter.Run, bool) {
	if y.at >= 0 || y.old.touched {
		return datacenter.Run{}, false
	}
	return y.old.node.ChildRun(), true
}
