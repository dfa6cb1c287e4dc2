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
	if len(n.kids) == n.homeKids {
		return -1
	}
	if i, ok := n.stored().numbers[number]; ok && is(n.kids[i]) {
		return i
	}
	return -1
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
	_, taken := parent.kidAt[childKey{k.name, k.ordinal}]
	// The first file doesn't lead to a child that is in no place of home.
	if n == nil && (taken || i >= parent.homeKids) {
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
	twice := d.twice(&k, n, nil)
	if err := d.reviveNode(parent, i, n, entries, u); err != nil {
		return err
	}
	for _, number := range twice {
		if err := d.renumber(n, number, u); err != nil {
			return err
		}
	}
	return nil
}

// reviveNode makes the removed child k live again, as n if that is not nil.
func (d *Draft) reviveNode(parent *draftNode, i int, n *draftNode, entries int64, u *undoList) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n == nil {
		d.revive(parent, i, nil)
		u.add(func() { d.unrevive(parent, i) })
	} else {
		k := &parent.kids[i]
		if err := d.attach(parent, n, Edit{Ordinal: k.ordinal, rank: k.rank, replayed: true}); err != nil {
			return err
		}
		u.add(func() {
			below := d.below(n, []*draftNode{n})
			d.unattach(n)
			for _, x := range below {
				d.hide(x)
			}
		})
		for _, x := range d.below(n, []*draftNode{n}) {
			d.nodes[x.number] = x
			for i := range x.attrs {
				if a := &x.attrs[i]; a.edited && !a.dead && d.owners[a.number] == nil {
					d.owners[a.number] = x
				}
			}
		}
	}
	d.entries += entries
	u.add(func() { d.entries -= entries })
	return nil
}

// twice appends the numbers of attributes below a removed child, or its draft node n, that
// other attributes have by now.
func (d *Draft) twice(k *draftChild, n *draftNode, dst []Number) []Number {
	if n == nil {
		from, _ := slices.BinarySearch(d.away.attrs, k.number)
		to, _ := slices.BinarySearch(d.away.attrs, k.number+Number(d.first.Entries(k.home)))
		return append(dst, d.away.attrs[from:to]...)
	}
	for i := range n.attrs {
		if a := &n.attrs[i]; !a.dead && d.owners[a.number] != nil {
			dst = append(dst, a.number)
		}
	}
	for i := range n.kids {
		if c := &n.kids[i]; !c.dead {
			dst = d.twice(c, c.node, dst)
		}
	}
	return dst
}

// renumber gives the attribute with a number, in n or in the first file, another one.
func (d *Draft) renumber(n *draftNode, old Number, u *undoList) error {
	x, i := n.holder(old)
	if x == nil {
		at, steps, last, err := d.trace(old)
		if err == nil {
			x, err = d.descend(at, steps)
		}
		if err != nil {
			return err
		}
		if i = x.numbered(old); i < 0 || x.number != last.number {
			return fmt.Errorf("datacenter: BUG: the attribute %d is not below what came back", old)
		}
	}
	a := x.attrs[i]
	if !a.edited {
		var err error
		if a.value, err = storedValue(d.first, a.home); err != nil {
			return err
		}
	}
	if a.number = d.NewNumber(); a.number == 0 {
		return fmt.Errorf("no number is left: %w", datacenter.ErrTooLarge)
	}
	a.edited, a.home = true, datacenter.Address{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(x)
	before := x.attrs[i]
	x.attrs[i] = a
	u.add(func() { x.attrs[i] = before })
	d.own(a.number, x, u)
	return nil
}

// holder returns the draft node, n or below, that has a live attribute with a number.
func (n *draftNode) holder(number Number) (*draftNode, int) {
	if n == nil {
		return nil, 0
	}
	if i := n.numbered(number); i >= 0 {
		return n, i
	}
	for i := range n.kids {
		if x, i := n.kids[i].node.holder(number); x != nil {
			return x, i
		}
	}
	return nil, 0
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
	parent.revived(k.name)
	parent.kidAt[childKey{k.name, k.ordinal}] = i
}

// unrevive undoes revive. The caller holds mu.
func (d *Draft) unrevive(parent *draftNode, i int) {
	k := &parent.kids[i]
	n := k.node // it may have been made since
	k.dead, k.node = true, nil
	delete(parent.kidAt, childKey{k.name, k.ordinal})
	if n != nil {
		n.parent = nil
		for _, x := range d.below(n, []*draftNode{n}) {
			d.hide(x)
		}
	}
}

// away has the nodes and attributes that are not where the base has them. It is right if
// known.
type away struct {
	known bool
	// nodes are numbers in the base, and attrs are labels. Both ascend.
	nodes, attrs []Number
}

// isAway reports whether n does not have the attribute with a number in the first file, but another
// node may.
func (n *draftNode) isAway(attribute Number) bool {
	return attribute <= datacenter.MaxEntries && (attribute <= n.number || attribute > n.number+Number(n.homeAttrs))
}

// checkAway returns an error if some node that the base has below a removed one is somewhere
// else. If that came back, the node would be there twice.
func (d *Draft) checkAway(k *draftChild) error {
	if !d.away.known {
		if err := d.findAway(); err != nil {
			return err
		}
	}
	number, err := d.labels.number(d, k.number)
	if err != nil {
		return err
	}
	i, _ := slices.BinarySearch(d.away.nodes, number)
	if i < len(d.away.nodes) && d.away.nodes[i] < number+Number(d.base.Entries(k.addr)) {
		return fmt.Errorf("datacenter: a part of node %d is somewhere else", k.number)
	}
	return nil
}

func (d *Draft) findAway() error {
	d.away.nodes, d.away.attrs = d.away.nodes[:0], d.away.attrs[:0]
	for _, n := range d.nodes {
		if isNone(n.base) || n.parent == nil || n.parent.kids[n.parent.kidAt[childKey{n.name, n.ordinal}]].stored {
			continue
		}
		number, err := d.labels.number(d, n.number)
		if err != nil {
			return err
		}
		d.away.nodes = append(d.away.nodes, number)
	}
	for number, n := range d.owners {
		if n.isAway(number) {
			d.away.attrs = append(d.away.attrs, number)
		}
	}
	slices.Sort(d.away.nodes)
	slices.Sort(d.away.attrs)
	d.away.known = true
	return nil
}
