package edit

import (
	"slices"

	"lorefs/datacenter"
)

// Making removed nodes of the base again. Programs that write files anew remove a directory and
// make it again, with what was in it. The new directory is another one, since somebody may still
// have the old one open, so the node gets another number. But it is the node of the base, so that
// what comes into it is compared with what the base has there.

// goneNode is a node of the base that was removed from parent.
type goneNode struct {
	parent *draftNode
	// kid is the child of parent as it is when it is removed.
	kid draftChild
	// was is the node as the base has it. It has only what the base has.
	was *draftNode
}

// goneAt returns the node that was removed from a place among the children of parent. It is nil if
// there is none that can be brought back.
func (d *Draft) goneAt(parent *draftNode, name string, ordinal uint32) (*goneNode, error) {
	k := childKey{d.index[name], ordinal}
	i, ok := parent.stored().places[k]
	if !ok || !d.mayReturn(parent, i) {
		return nil, nil //nolint:nilnil // there is none
	}
	if _, taken := parent.kidAt[k]; taken {
		return nil, nil //nolint:nilnil // the place has another node
	}
	kid := parent.kids[i]
	was := d.lost(parent, kid.number)
	if was == nil {
		var err error
		if was, err = d.restored(&kid); err != nil {
			return nil, err
		}
	}
	was.attrs = slices.DeleteFunc(was.attrs, func(a draftAttribute) bool { return !a.stored || a.dead })
	was.kids = slices.DeleteFunc(was.kids, func(k draftChild) bool { return !k.stored || k.dead })
	return &goneNode{parent, kid, was}, nil
}

// mayReturn reports whether a child was removed and can be brought back as a whole.
func (d *Draft) mayReturn(parent *draftNode, i int) bool {
	k := &parent.kids[i]
	return k.dead && k.stored && d.nodes[k.number] == nil && d.checkAway(k) == nil
}

// isSaved reports whether what is being saved has a child as the base has it. Otherwise it can't come
// back: the Draft will go on with the new file.
func (d *Draft) isSaved(parent *draftNode, i int) bool {
	for _, s := range d.epochs.saves {
		if s.base == d.base && !s.has(parent, i) {
			return false
		}
	}
	return true
}

// has reports whether a Snapshot has a child as the base has it.
func (s *Snapshot) has(parent *draftNode, i int) bool {
	if parent.epoch <= s.epoch {
		return !parent.kids[i].dead
	}
	past := parent.past
	for past != nil && past.epoch > s.epoch {
		past = past.older
	}
	if past == nil {
		return parent.again == nil // then the parent was as the base has it
	}
	number := parent.kids[i].number
	if i >= len(past.kids) || past.kids[i].number != number {
		i = slices.IndexFunc(past.kids, func(k draftChild) bool { return k.number == number })
	}
	return i >= 0 && !past.kids[i].dead && past.kids[i].node == nil
}

// make makes n of the node, without anything in it.
func (g *goneNode) make(n *draftNode) {
	was := g.was
	n.base, n.again, n.differs, n.saved = was.base, g, true, &was.nodeState
	n.attrs, n.kids = slices.Clone(was.attrs), slices.Clone(was.kids)
	for i := range n.attrs {
		n.attrs[i].dead, n.attrs[i].seq = true, n.seq
		n.seq++
	}
	for i := range n.kids {
		n.kids[i].dead, n.kids[i].node, n.kids[i].seq = true, nil, n.seq
		n.seq++
	}
}

// takeOver makes n the child that the base has in its place, instead of the removed one. The caller
// holds mu.
func (d *Draft) takeOver(n *draftNode) {
	g := n.again
	p := g.parent
	d.touch(p)
	had := p.stored()
	k := childKey{g.kid.name, g.kid.ordinal}
	i := had.numbers[g.kid.number]
	j, ok := had.numbers[n.number]
	if !ok {
		j = p.kidAt[k]
		had.numbers[n.number] = j
	}
	p.kids[i].stored, p.kids[i].replaced = false, true
	p.kids[j].stored, p.kids[j].addr = true, g.kid.addr
	if p.kids[j].dead {
		p.deadKids--
	}
	had.places[k] = j
}

// giveBack undoes takeOver: the removed child is the one that the base has. The caller holds mu.
func (d *Draft) giveBack(n *draftNode) {
	g := n.again
	p := g.parent
	d.touch(p)
	had := p.stored()
	i, j := had.numbers[g.kid.number], had.numbers[n.number]
	p.kids[i].stored, p.kids[i].replaced = true, false
	p.kids[j].stored, p.kids[j].addr = false, datacenter.Address{}
	if p.kids[j].dead {
		p.deadKids++
	}
	had.places[childKey{g.kid.name, g.kid.ordinal}] = i
}

// storedKids finds children that the base has.
type storedKids struct {
	places map[childKey]int
	// numbers also has the children that were replaced.
	numbers map[Number]int
}

// stored returns the children that the base has. They are collected when somebody asks, since to
// look at all of them for each child that comes back would take long for the last of 60,000.
func (n *draftNode) stored() *storedKids {
	if n.had != nil {
		return n.had
	}
	n.had = &storedKids{places: map[childKey]int{}, numbers: map[Number]int{}}
	for i := range n.kids {
		k := &n.kids[i]
		if k.stored {
			n.had.places[childKey{k.name, k.ordinal}] = i
		}
		if k.stored || k.replaced {
			n.had.numbers[k.number] = i
		}
	}
	return n.had
}

// Removed returns the children of a draft node that the base has, that were removed, and that
// RestoreNode can bring back with all that the base has below them.
func (d *Draft) Removed(n Number) (removed []Entry) {
	d.editing.Lock()
	defer d.editing.Unlock()
	x := d.nodes[n]
	if x == nil {
		return nil
	}
	for i := range x.kids {
		if d.mayReturn(x, i) && d.isSaved(x, i) {
			removed = append(removed, d.childEntry(x, &x.nodeState, i))
		}
	}
	return removed
}

// RemovedAttribute returns an attribute that the base has of a draft node, and that was removed.
func (d *Draft) RemovedAttribute(n Number, name string) (Entry, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x, known := d.nodes[n], d.index[name]
	if x == nil || known == 0 {
		return Entry{}, false
	}
	i := slices.IndexFunc(x.attrs, func(a draftAttribute) bool { return a.name == known && a.dead && a.stored })
	if i < 0 {
		return Entry{}, false
	}
	return d.attributeEntry(x, &x.nodeState, i), true
}

// Saved returns a Reader of what the base has, by the Draft's numbers: also of what was removed since.
// Nothing may be edited meanwhile.
func (d *Draft) Saved() *Reader {
	d.editing.Lock()
	defer d.editing.Unlock()
	s := d.present()
	nodes := map[Number]readNode{}
	if d.base != d.first {
		s.readNodes(nodes, d.asSaved(d.root), 0)
	}
	return &Reader{s: s, nameTable: d.nameTable, nodes: func() map[Number]readNode { return nodes }}
}

// SavedChildren returns the children of a node of the first file that has no draft node in
// [Draft.Saved], with their places in the base.
func (d *Draft) SavedChildren(n Number, home datacenter.Node) (children []Entry, err error) {
	d.editing.Lock()
	defer d.editing.Unlock()
	x := &draftNode{number: n, home: home, homeAttrs: home.AttributeCount(), homeKids: home.ChildCount(), kidAt: map[childKey]int{}}
	if err := d.expandChildren(x); err != nil {
		return nil, err
	}
	order, err := d.labels.order(home)
	if err != nil {
		return nil, err
	}
	ordinals := map[uint16]uint32{}
	for _, i := range order {
		k := &x.kids[i]
		k.rank = rankOf(ordinals[k.name])
		ordinals[k.name]++
		children = append(children, d.childEntry(x, &x.nodeState, i))
	}
	return children, nil
}
