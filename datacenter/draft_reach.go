package datacenter

import (
	"fmt"
	"sort"
)

// How the draft nodes come about: from the file, on the way to what is edited.

// expand makes the draft node of a node of the file. It changes nothing.
func (d *Draft) expand(base Node, number, saved Number) (*draftNode, error) {
	n := &draftNode{
		number: number, saved: saved, base: base, epoch: d.epochs.now,
		nodeState: nodeState{name: base.raw.name, key: base.raw.key, flags: KeyFlags(base.raw.flags)},
		baseAttrs: base.AttributeCount(), baseKids: base.ChildCount(),
		kidAt: make(map[childKey]int, base.ChildCount()),
	}
	if int(n.key) >= len(d.file.keys) {
		n.key = d.keyIndex[keyNames{}] // as a repacker has it
	}
	n.seq = uint32(n.baseAttrs + n.baseKids)
	n.attrs = make([]draftAttribute, 0, n.baseAttrs)
	for a, err := range base.Attributes() {
		if err != nil {
			return nil, err
		}
		n.attrs = append(n.attrs, draftAttribute{
			number: number + 1 + Number(len(n.attrs)), name: a.name, addr: a.addr,
		})
	}
	if err := d.expandChildren(n); err != nil {
		return nil, err
	}
	return n, nil
}

// expandChildren lists the children of n's base, placeholders as dead ones.
func (d *Draft) expandChildren(n *draftNode) error {
	n.kids = make([]draftChild, 0, n.baseKids)
	ordinals := map[uint16]uint32{}
	number := n.number + 1 + Number(n.baseAttrs)
	for c, err := range n.base.Children() {
		if err != nil {
			return err
		}
		i := n.base.ChildIndex(c)
		n.skipTo(i, number)
		ordinal := ordinals[c.raw.name]
		ordinals[c.raw.name]++
		n.kids = append(n.kids, draftChild{
			number: number, saved: number, name: c.raw.name, ordinal: ordinal, rank: rankOf(ordinal), addr: c.addr,
		})
		n.kidAt[childKey{c.raw.name, ordinal}] = i
		number += Number(c.Entries())
	}
	n.skipTo(n.baseKids, number)
	if d.commits > 0 {
		return d.savedNumbers(n)
	}
	return nil
}

// skipTo puts dead children in the places of placeholders, up to the place i.
// They have the number of what follows, so that the numbers ascend.
func (n *draftNode) skipTo(i int, number Number) {
	for len(n.kids) < i {
		n.kids = append(n.kids, draftChild{dead: true, number: number})
	}
}

// step is one node of the file on the way to another.
type step struct {
	base   Node
	number Number
	// place is that among the children of the step before.
	place int
}

// reach gives the draft node that a number stands for. All on the way to it
// become draft nodes, too. The caller holds editing.
func (d *Draft) reach(n Number) (*draftNode, error) {
	if x, ok := d.nodes[n]; ok {
		return x, nil
	}
	at, steps, last, err := d.trace(n)
	if err != nil {
		return nil, err
	}
	if last.number != n {
		return nil, goneError(n)
	}
	return d.descend(at, steps)
}

// owner gives the node that has the attribute with a number, and its place.
func (d *Draft) owner(n Number) (*draftNode, int, error) {
	node, ok := d.owners[n]
	if !ok {
		at, steps, last, err := d.trace(n)
		if err != nil {
			return nil, 0, err
		}
		if last.number == n {
			return nil, 0, goneError(n) // a node
		}
		if node, err = d.descend(at, steps); err != nil {
			return nil, 0, err
		}
	}
	i := node.numbered(n)
	if i < 0 {
		return nil, 0, goneError(n)
	}
	return node, i, nil
}

func goneError(n Number) error { return fmt.Errorf("datacenter: entry %d: %w", n, ErrGone) }

// trace follows the file, as it is, from the root to the node that has a number,
// or to the owner of the attribute that has it: last. It tells the lowest draft
// node on the way, and the steps below that.
func (d *Draft) trace(n Number) (at *draftNode, steps []step, last step, err error) {
	if n > MaxEntries || uint32(n) >= d.file.entries[0] {
		return nil, nil, last, goneError(n)
	}
	at = d.root
	last = step{base: d.root.base}
	for n > last.number+Number(last.base.AttributeCount()) {
		if len(steps) == 0 {
			last, err = at.childHolding(n)
		} else {
			last, err = childHolding(last, n)
		}
		if err != nil {
			return nil, nil, last, err
		}
		if x, ok := d.nodes[last.number]; ok {
			at, steps = x, steps[:0]
			continue
		}
		steps = append(steps, last)
	}
	return at, steps, last, nil
}

// childHolding finds the child that n's base has in whose subtree an entry is,
// which must be below n.
func (n *draftNode) childHolding(entry Number) (step, error) {
	// The last child that begins at the entry or before it.
	i := sort.Search(n.baseKids, func(i int) bool { return n.kids[i].number > entry }) - 1
	if i < 0 {
		return step{}, goneError(entry)
	}
	c, err := n.base.child(i)
	return step{base: c, number: n.kids[i].number, place: i}, err
}

// childHolding finds the child of s in whose subtree the entry n is.
func childHolding(s step, n Number) (step, error) {
	f := s.base.file
	number := s.number + 1 + Number(s.base.AttributeCount())
	first := f.number(s.base.raw.childAddr)
	for i := range s.base.ChildCount() {
		entries := Number(f.entries[first+uint32(i)])
		if n < number+entries {
			c, err := s.base.child(i)
			return step{base: c, number: number, place: i}, err
		}
		number += entries
	}
	return s, goneError(n)
}

// descend makes draft nodes of what lies on the way down from at.
func (d *Draft) descend(at *draftNode, steps []step) (*draftNode, error) {
	for _, s := range steps {
		if s.place >= len(at.kids) || at.kids[s.place].dead || at.kids[s.place].number != s.number {
			return nil, goneError(s.number)
		}
		k := at.kids[s.place]
		n, err := d.expand(s.base, k.number, k.saved)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		d.touch(at)
		n.parent, n.ordinal = at, k.ordinal
		at.kids[s.place].node = n
		d.nodes[n.number] = n
		d.mu.Unlock()
		at = n
	}
	return at, nil
}
