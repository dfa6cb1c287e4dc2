package edit

import (
	"fmt"
	"math"

	"lorefs/datacenter"
)

// Edits of whole nodes.

func (d *Draft) addNode(e Edit, u *undoList) error {
	parent, err := d.reach(e.Parent)
	if err != nil {
		return err
	}
	name, err := d.nodeName(e.Name, u)
	if err != nil {
		return err
	}
	key, err := d.keyOf(e.Keys, u)
	if err != nil {
		return err
	}
	if err := d.checkNew(parent, e); err != nil {
		return err
	}
	n := &draftNode{
		number: e.Node, kidAt: map[childKey]int{}, epoch: d.epochs.now,
		nodeState: nodeState{name: name, key: key, flags: e.Flags, changed: true},
	}
	if e.again != nil {
		e.again.make(n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.away.known
	if err := d.attach(parent, n, e); err != nil {
		return err
	}
	if d.next > 0 {
		d.next = max(d.next, e.Node+1)
	}
	d.entries++
	u.add(func() {
		d.unattach(n)
		d.entries--
	})
	if n.again != nil {
		d.labels.again[n.number] = n.again.kid.number
		d.takeOver(n)
		d.away.known = known // it is in its place now
		u.add(func() { d.giveBack(n) })
	}
	return nil
}

// checkNew returns an error if a node can't be made.
func (d *Draft) checkNew(parent *draftNode, e Edit) error {
	if e.Node == 0 {
		return fmt.Errorf("no number is left: %w", datacenter.ErrTooLarge)
	}
	if _, there := d.nodes[e.Node]; there || e.Node <= datacenter.MaxEntries || e.Node == math.MaxUint32 {
		return fmt.Errorf("datacenter: %d is no number for a new node", e.Node)
	}
	if err := checkFlags(e.Flags); err != nil {
		return err
	}
	if err := d.roomForEntry(); err != nil {
		return err
	}
	return d.roomFor(parent, 0)
}

// nodeName is nameIndex for a node.
func (d *Draft) nodeName(name string, u *undoList) (uint16, error) {
	if name == datacenter.ValueName {
		return 0, fmt.Errorf("%w: %s is an attribute, not a node", datacenter.ErrValue, datacenter.ValueName)
	}
	return d.nameIndex(name, u)
}

// roomFor returns an error if parent can't take one more child with height levels below it.
func (d *Draft) roomFor(parent *draftNode, height int) error {
	if len(parent.kidAt) >= datacenter.MaxRun {
		return fmt.Errorf("more than %d children of a node: %w", datacenter.MaxRun, datacenter.ErrTooLarge)
	}
	if parent.depth()+1+height > datacenter.MaxDepth {
		return fmt.Errorf("nested deeper than %d: %w", datacenter.MaxDepth, datacenter.ErrTooLarge)
	}
	return nil
}

// attach makes n a child of parent, with e's ordinal and rank. If the base has it just there,
// it gets its place in the listing back. The caller holds mu.
func (d *Draft) attach(parent, n *draftNode, e Edit) error {
	d.away.known = d.away.known && isNone(n.base)
	k := childKey{n.name, e.Ordinal}
	if _, there := parent.kidAt[k]; there {
		if !e.replayed {
			return fmt.Errorf("datacenter: there is a child %q with the ordinal %d", d.name(n.name), e.Ordinal)
		}
		k.ordinal = parent.spareOrdinal(n.name)
	}
	d.touch(parent)
	d.touch(n)
	n.parent, n.ordinal = parent, k.ordinal
	d.nodes[n.number] = n
	if !isNone(n.base) {
		if i := parent.removed(n.number); i >= 0 && parent.kids[i].is(n, e.rank) {
			d.revive(parent, i, n)
			return nil
		}
	}
	parent.kidAt[k] = len(parent.kids)
	parent.kids = append(parent.kids, draftChild{
		number: n.number, name: n.name, ordinal: k.ordinal, rank: e.rank, node: n, seq: parent.seq,
	})
	parent.ranked = parent.ranked || e.rank != rankOf(k.ordinal)
	parent.seq++
	return nil
}

// is reports whether n, with a rank, is just what the base has as this child.
func (k *draftChild) is(n *draftNode, rank uint64) bool {
	return k.name == n.name && k.ordinal == n.ordinal && k.rank == rank
}

// spareOrdinal returns an ordinal that no child called name has.
func (n *draftNode) spareOrdinal(name uint16) uint32 {
	for n.spare = max(n.spare, uint32(len(n.kidAt))); ; n.spare++ {
		if _, taken := n.kidAt[childKey{name, n.spare}]; !taken {
			return n.spare
		}
	}
}

// unattach undoes attach, if nothing happened in between. The caller holds mu.
func (d *Draft) unattach(n *draftNode) {
	parent := n.parent
	place := d.detach(n)
	if parent.kids[place].stored { // it was there before
		return
	}
	parent.kids = parent.kids[:place]
	if parent.had != nil {
		delete(parent.had.numbers, n.number)
	}
	parent.forgetFrom(place)
	parent.deadKids--
	parent.seq--
}

// detach removes n, with its subtree, from its parent only. The caller holds mu.
func (d *Draft) detach(n *draftNode) (place int) {
	d.away.known = d.away.known && len(d.away.nodes)+len(d.away.attrs) == 0
	d.touch(n.parent)
	k := childKey{n.name, n.ordinal}
	place = n.parent.kidAt[k]
	delete(n.parent.kidAt, k)
	n.parent.kids[place].dead = true
	n.parent.kids[place].node = nil
	if place >= n.parent.homeKids && !n.parent.kids[place].stored {
		n.parent.deadKids++
		d.shrunk = append(d.shrunk, n.parent)
	}
	n.parent = nil
	delete(d.nodes, n.number)
	return place
}

// restore undoes detach. The caller holds mu.
func (d *Draft) restore(parent, n *draftNode, place int) {
	d.away.known = false
	parent.kids[place].dead, parent.kids[place].node = false, n
	parent.revived(n.name)
	if place >= parent.homeKids && !parent.kids[place].stored {
		parent.deadKids--
	}
	parent.kidAt[childKey{n.name, n.ordinal}] = place
	n.parent = parent
	d.nodes[n.number] = n
}

func (d *Draft) removeNode(n *draftNode, u *undoList) error {
	if n == d.root {
		return fmt.Errorf("%w: the root can't be removed", datacenter.ErrValue)
	}
	entries, below := d.count(n), d.below(n, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	parent := n.parent
	place := d.detach(n)
	for _, x := range below {
		d.hide(x)
	}
	d.hideAttributes(n)
	d.entries -= entries
	for _, x := range append(below, n) {
		if x.again != nil {
			d.giveBack(x)
			u.add(func() { d.takeOver(x) })
		}
	}
	u.add(func() {
		d.restore(parent, n, place)
		for _, x := range below {
			d.nodes[x.number] = x
			d.showAttributes(x)
		}
		d.showAttributes(n)
		d.entries += entries
	})
	return nil
}

// below collects the draft nodes below n.
func (d *Draft) below(n *draftNode, dst []*draftNode) []*draftNode {
	for i := range n.kids {
		if x := n.kids[i].node; x != nil {
			dst = d.below(x, append(dst, x))
		}
	}
	return dst
}

func (d *Draft) hide(n *draftNode) {
	delete(d.nodes, n.number)
	d.hideAttributes(n)
}

// hideAttributes makes the edited attributes of n unreachable.
func (d *Draft) hideAttributes(n *draftNode) {
	for i := range n.attrs {
		if a := &n.attrs[i]; a.edited && !a.dead && d.owners[a.number] == n {
			delete(d.owners, a.number)
		}
	}
}

func (d *Draft) showAttributes(n *draftNode) {
	for i := range n.attrs {
		if a := &n.attrs[i]; a.edited && !a.dead {
			d.owners[a.number] = n
		}
	}
}

// count returns the number of entries in n's subtree, n included.
func (d *Draft) count(n *draftNode) int64 {
	attrs, _ := n.counts()
	sum := 1 + int64(attrs)
	for i := range n.kids {
		switch k := &n.kids[i]; {
		case k.dead:
		case k.node != nil:
			sum += d.count(k.node)
		default:
			sum += int64(d.first.Entries(k.home))
		}
	}
	return sum
}

func (d *Draft) moveNode(n *draftNode, e Edit, u *undoList) error {
	parent, err := d.reach(e.Parent)
	if err != nil {
		return err
	}
	name, err := d.nodeName(e.Name, u)
	if err != nil {
		return err
	}
	if err := d.checkMove(n, parent); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	oldParent, oldName, oldOrdinal := n.parent, n.name, n.ordinal
	place := d.detach(n)
	n.name = name
	if err := d.attach(parent, n, e); err != nil {
		n.name = oldName
		d.restore(oldParent, n, place)
		return err
	}
	u.add(func() {
		d.unattach(n)
		n.name, n.ordinal = oldName, oldOrdinal
		d.restore(oldParent, n, place)
	})
	return nil
}

// checkMove returns an error if n can't become a child of parent.
func (d *Draft) checkMove(n, parent *draftNode) error {
	if n == d.root {
		return fmt.Errorf("%w: the root can't be moved", datacenter.ErrValue)
	}
	for p := parent; p != nil; p = p.parent {
		if p == n {
			return fmt.Errorf("%w: a node can't be moved below itself", datacenter.ErrValue)
		}
	}
	if parent == n.parent {
		return nil
	}
	height, err := d.height(n)
	if err != nil {
		return err
	}
	return d.roomFor(parent, height)
}

// height returns the number of levels below n.
func (d *Draft) height(n *draftNode) (int, error) {
	height := 0
	for i := range n.kids {
		k := &n.kids[i]
		if k.dead {
			continue
		}
		var below int
		var err error
		if k.node != nil {
			below, err = d.height(k.node)
		} else {
			below, err = d.storedHeight(k.home)
		}
		if err != nil {
			return 0, err
		}
		height = max(height, below+1)
	}
	return height, nil
}

// storedHeight is height for a node of the first file. It remembers the results.
func (d *Draft) storedHeight(addr datacenter.Address) (int, error) {
	if h, ok := d.heights[addr]; ok {
		return h, nil
	}
	n, err := d.first.Node(addr)
	if err != nil {
		return 0, err
	}
	height := 0
	for c, err := range n.Children() {
		if err != nil {
			return 0, err
		}
		if c.ChildCount() == 0 {
			height = max(height, 1)
			continue
		}
		below, err := d.storedHeight(c.Address())
		if err != nil {
			return 0, err
		}
		height = max(height, below+1)
	}
	d.heights[addr] = height
	return height, nil
}
