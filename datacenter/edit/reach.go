package edit

import (
	"fmt"
	"sort"

	"lorefs/datacenter"
)

// Making draft nodes from the file, for an edited node and its ancestors.

// expand makes the draft node of an unedited node of the first file. base is the same node
// in the base. It does not change the Draft.
func (d *Draft) expand(number Number, home, base datacenter.Node) (*draftNode, error) {
	n := &draftNode{
		number: number, home: home, base: base, epoch: d.epochs.now,
		nodeState: nodeState{name: home.NameIndex(), key: home.KeyIndex(), flags: home.Flags()},
		homeAttrs: home.AttributeCount(), homeKids: home.ChildCount(),
		kidAt: make(map[childKey]int, home.ChildCount()),
	}
	if int(n.key) >= len(d.first.KeyNames()) {
		n.key = d.keyIndex[datacenter.KeyNames{}] // as a Rewriter has it
	}
	n.seq = uint32(n.homeAttrs + n.homeKids)
	n.attrs = make([]draftAttribute, 0, n.homeAttrs)
	for a, err := range home.Attributes() {
		if err != nil {
			return nil, err
		}
		n.attrs = append(n.attrs, draftAttribute{
			number: number + 1 + Number(len(n.attrs)), name: a.NameIndex(), home: a.Address(), stored: true, addr: a.Address(),
		})
	}
	if err := d.expandChildren(n); err != nil || d.base == d.first {
		return n, err
	}
	order, err := d.labels.order(home)
	if err != nil {
		return nil, err
	}
	return n, n.rest(d.base, d.labels.names, order, func(*draftChild, Number) error { return nil })
}

// expandChildren lists the children of n's home, with dead children for placeholders.
func (d *Draft) expandChildren(n *draftNode) error {
	n.kids = make([]draftChild, 0, n.homeKids)
	ordinals := map[uint16]uint32{}
	number := n.number + 1 + Number(n.homeAttrs)
	for c, err := range n.home.Children() {
		if err != nil {
			return err
		}
		i := n.home.ChildIndex(c)
		n.skipTo(i, number)
		name, addr := c.NameIndex(), c.Address()
		ordinal := ordinals[name]
		ordinals[name]++
		n.kids = append(n.kids, draftChild{
			number: number, name: name, ordinal: ordinal, rank: rankOf(ordinal), home: addr, stored: true, addr: addr,
		})
		n.kidAt[childKey{name, ordinal}] = i
		number += Number(c.Entries())
	}
	n.skipTo(n.homeKids, number)
	return nil
}

// skipTo adds dead children for placeholders, up to place i. They get the number of the
// next child, so that the numbers ascend.
func (n *draftNode) skipTo(i int, number Number) {
	for len(n.kids) < i {
		n.kids = append(n.kids, draftChild{dead: true, number: number})
	}
}

// step is one node of the first file on the path to another.
type step struct {
	home   datacenter.Node
	number Number
	// place is the place among the children of the step before.
	place int
}

// reach returns the draft node with a number. It makes draft nodes of all nodes on the path
// to it, too. The caller holds editing.
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

// owner returns the node that has the attribute with a number, and the attribute's place.
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

// trace follows the first file from the root to the node with a number, or to the node that
// has the attribute with the number. That node is last. It also returns the lowest draft
// node on the path, and the steps below that.
func (d *Draft) trace(n Number) (at *draftNode, steps []step, last step, err error) {
	if n > datacenter.MaxEntries || int64(n) >= entriesOf(d.first) {
		return nil, nil, last, goneError(n)
	}
	at = d.root
	last = step{home: d.root.home}
	for n > last.number+Number(last.home.AttributeCount()) {
		if len(steps) == 0 {
			last, err = at.childHolding(n)
		} else {
			last, err = childHolding(d.first, last, n)
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

// childHolding returns the child of n's home whose subtree has an entry. The entry must be
// below n.
func (n *draftNode) childHolding(entry Number) (step, error) {
	// The last child whose number is at most the entry's.
	i := sort.Search(n.homeKids, func(i int) bool { return n.kids[i].number > entry }) - 1
	if i < 0 {
		return step{}, goneError(entry)
	}
	c, err := n.home.ChildAt(i)
	return step{home: c, number: n.kids[i].number, place: i}, err
}

// childHolding returns the child of s whose subtree has the entry n.
func childHolding(f *datacenter.File, s step, n Number) (step, error) {
	number := s.number + 1 + Number(s.home.AttributeCount())
	addr := s.home.ChildAddress(0)
	for i := range s.home.ChildCount() {
		entries := Number(f.Entries(addr))
		addr.Element++
		if n < number+entries {
			c, err := s.home.ChildAt(i)
			return step{home: c, number: number, place: i}, err
		}
		number += entries
	}
	return s, goneError(n)
}

// descend makes draft nodes of the steps down from at.
func (d *Draft) descend(at *draftNode, steps []step) (*draftNode, error) {
	for _, s := range steps {
		if s.place >= len(at.kids) || at.kids[s.place].dead || at.kids[s.place].number != s.number {
			return nil, goneError(s.number)
		}
		k := at.kids[s.place]
		base, err := d.base.Node(k.addr)
		if err != nil {
			return nil, err
		}
		n, err := d.expand(k.number, s.home, base)
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
