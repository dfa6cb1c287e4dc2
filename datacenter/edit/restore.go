package edit

import (
	"fmt"
	"slices"
	"sort"

	"lorefs/datacenter"
)

// Bringing back removed nodes of the base. A node that is as in the first file needs no
// draft node. For others, draft nodes keep the state that they have in the base, since
// nobody can tell from a newer file which numbers its entries had.

// keepSaved keeps the state of a draft node that it has in the base, before its first
// change.
func (n *draftNode) keepSaved() {
	if n.differs && n.saved == nil {
		saved := n.nodeState
		saved.attrs, saved.kids = slices.Clone(n.attrs), slices.Clone(n.kids)
		n.saved = &saved
	}
}

// savedState returns the state that a draft node has in the base, which differs from the
// first file's.
func (n *draftNode) savedState() *nodeState {
	if n.saved != nil {
		return n.saved
	}
	return &n.nodeState
}

// savedNumber returns the number that an attribute of a name had when the base was saved. It
// is 0 if the base does not have it.
func (n *draftNode) savedNumber(name uint16) Number {
	if n.differs {
		for _, a := range n.savedState().attrs {
			if a.name == name && !a.dead {
				return a.number
			}
		}
		return 0
	}
	for i := range n.homeAttrs {
		if n.attrs[i].name == name {
			return n.number + 1 + Number(i)
		}
	}
	return 0
}

// asSaved makes a draft node, with those below it, as old was in the base.
func (d *Draft) asSaved(old *draftNode) *draftNode {
	n := &draftNode{
		number: old.number, home: old.home, base: old.base, nodeState: *old.savedState(), epoch: d.epochs.now,
		homeAttrs: old.homeAttrs, homeKids: old.homeKids, differs: true,
	}
	n.attrs, n.kids = slices.Clone(n.attrs), slices.Clone(n.kids)
	n.kidAt = make(map[childKey]int, len(n.kids))
	n.place(0)
	for i := range n.kids {
		k := &n.kids[i]
		n.ranked = n.ranked || !k.dead && k.rank != rankOf(k.ordinal)
		if k.node != nil {
			k.node = d.asSaved(k.node)
			k.node.parent = n
		}
	}
	return n
}

// removed returns the place of a child that the base has and that is not there any more, or
// -1.
func (n *draftNode) removed(number Number) int {
	is := func(k draftChild) bool { return k.number == number && k.stored && k.dead }
	// Placeholders have the number of the child behind them.
	at := sort.Search(n.homeKids, func(i int) bool { return n.kids[i].number >= number })
	for i := at; i < n.homeKids && n.kids[i].number == number; i++ {
		if is(n.kids[i]) {
			return i
		}
	}
	i := slices.IndexFunc(n.kids[n.homeKids:], is)
	if i < 0 {
		return -1
	}
	return n.homeKids + i
}

// restoreNode brings a removed node back, see [RestoreNode].
func (d *Draft) restoreNode(e Edit, u *undoList) error {
	parent, err := d.reach(e.Parent)
	if err != nil {
		return err
	}
	i := parent.removed(e.Node)
	if i < 0 {
		return fmt.Errorf("datacenter: node %d was not removed from node %d: %w", e.Node, e.Parent, ErrGone)
	}
	k := parent.kids[i]
	if err := d.checkAway(&k); err != nil {
		return err
	}
	n := d.lost(parent, e.Node)
	if _, taken := parent.kidAt[childKey{k.name, k.ordinal}]; taken && n == nil {
		if n, err = d.restored(&k); err != nil {
			return err
		}
	}
	entries := int64(d.first.Entries(k.home))
	if n != nil {
		entries = d.count(n)
	}
	if err := d.roomForNode(parent, &k, n, entries); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries += entries
	u.add(func() { d.entries -= entries })
	if n == nil {
		d.revive(parent, i, nil)
		u.add(func() { d.unrevive(parent, i) })
		return nil
	}
	if err := d.attach(parent, n, Edit{Ordinal: k.ordinal, rank: k.rank, replayed: true}); err != nil {
		return err
	}
	below := d.below(n, []*draftNode{n})
	for _, x := range below {
		d.nodes[x.number] = x
		d.showAttributes(x)
	}
	u.add(func() {
		d.unattach(n)
		for _, x := range below {
			d.hide(x)
		}
	})
	return nil
}

// lost returns a draft node for a removed child of parent, if it is not as in the first
// file.
func (d *Draft) lost(parent *draftNode, number Number) *draftNode {
	if parent.saved == nil {
		return nil
	}
	for i := range parent.saved.kids {
		if k := &parent.saved.kids[i]; k.number == number && k.node != nil {
			return d.asSaved(k.node)
		}
	}
	return nil
}

// restored returns a draft node for a removed child that is as in the first file.
func (d *Draft) restored(k *draftChild) (*draftNode, error) {
	home, err := d.first.Node(k.home)
	if err != nil {
		return nil, err
	}
	base, err := d.base.Node(k.addr)
	if err != nil {
		return nil, err
	}
	return d.expand(k.number, home, base)
}

// roomForNode returns an error if there is no room for a child that comes back.
func (d *Draft) roomForNode(parent *draftNode, k *draftChild, n *draftNode, entries int64) error {
	if d.entries+entries > datacenter.MaxEntries {
		return fmt.Errorf("more than %d nodes and attributes: %w", datacenter.MaxEntries, datacenter.ErrTooLarge)
	}
	var height int
	var err error
	if n != nil {
		height, err = d.height(n)
	} else {
		height, err = d.storedHeight(k.home)
	}
	if err != nil {
		return err
	}
	return d.roomFor(parent, height)
}

// revive makes a removed child live again, in its place. The caller holds mu.
func (d *Draft) revive(parent *draftNode, i int, n *draftNode) {
	d.touch(parent)
	k := &parent.kids[i]
	k.dead, k.node = false, n
	parent.kidAt[childKey{k.name, k.ordinal}] = i
}

// unrevive undoes revive. The caller holds mu.
func (d *Draft) unrevive(parent *draftNode, i int) {
	k := &parent.kids[i]
	k.dead, k.node = true, nil
	delete(parent.kidAt, childKey{k.name, k.ordinal})
}

// checkAway returns an error if some node that the base has below a removed one is somewhere
// else. If that came back, the node would be there twice.
func (d *Draft) checkAway(k *draftChild) error {
	if !d.awayKnown {
		if err := d.findAway(); err != nil {
			return err
		}
	}
	number, err := d.labels.number(d, k.number)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearch(d.away, number)
	if found || i < len(d.away) && d.away[i] < number+Number(d.base.Entries(k.addr)) {
		return fmt.Errorf("datacenter: a part of node %d is somewhere else", k.number)
	}
	return nil
}

// findAway finds the nodes that are not where the base has them.
func (d *Draft) findAway() error {
	d.away, d.awayKnown = d.away[:0], true
	for _, n := range d.nodes {
		if isNone(n.base) || n.parent == nil || n.parent.kids[n.parent.kidAt[childKey{n.name, n.ordinal}]].stored {
			continue
		}
		number, err := d.labels.number(d, n.number)
		if err != nil {
			d.awayKnown = false
			return err
		}
		d.away = append(d.away, number)
	}
	slices.Sort(d.away)
	return nil
}
