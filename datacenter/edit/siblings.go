package edit

import (
	"cmp"
	"slices"
	"sort"
)

// siblingOrder finds neighbours among the children of one name of a draft node. To look at all of them
// for each node that is added would take long for the last of 60,000. It is made when a neighbour is
// first looked for. Only edits use it, which hold editing.
type siblingOrder struct {
	name uint16
	// known says how many of the node's children were looked at. Others were added since.
	known int
	// byRank and byOrdinal have the places of the children in the node, dead ones included.
	byRank, byOrdinal []int32
	// passed counts the dead ones that searches had to pass. Once they are as many as the others,
	// the order is made again without them, and isPurged is set.
	passed   int
	isPurged bool
}

// order returns the order of the children of a name, the last added ones included.
func (n *draftNode) order(name uint16) *siblingOrder {
	o := n.orders[name]
	if o != nil && o.passed > len(o.byRank) {
		o = &siblingOrder{name: name, isPurged: true}
		n.keepOrder(o)
	}
	if o == nil {
		o = &siblingOrder{name: name}
		n.keepOrder(o)
	}
	o.learn(n.kids)
	return o
}

func (n *draftNode) keepOrder(o *siblingOrder) {
	if n.orders == nil {
		n.orders = map[uint16]*siblingOrder{}
	}
	n.orders[o.name] = o
}

// revived must be called when a dead child lives again: an order may have forgotten it.
func (n *draftNode) revived(name uint16) {
	if o := n.orders[name]; o != nil && o.isPurged {
		delete(n.orders, name)
	}
}

// forgetFrom must be called when the children from a place on become fewer.
func (n *draftNode) forgetFrom(place int) {
	for _, o := range n.orders {
		gone := func(i int32) bool { return int(i) >= place }
		o.byRank, o.byOrdinal = slices.DeleteFunc(o.byRank, gone), slices.DeleteFunc(o.byOrdinal, gone)
		o.known = min(o.known, place)
	}
}

// learn adds the children that are not known.
func (o *siblingOrder) learn(kids []draftChild) {
	var added []int32
	for i := o.known; i < len(kids); i++ {
		if k := &kids[i]; k.name == o.name && (!k.dead || !o.isPurged) {
			added = append(added, int32(i))
		}
	}
	o.known = len(kids)
	o.byRank = merge(o.byRank, added, func(x, y int32) int { return cmp.Compare(kids[x].rank, kids[y].rank) })
	o.byOrdinal = merge(o.byOrdinal, added, func(x, y int32) int { return cmp.Compare(kids[x].ordinal, kids[y].ordinal) })
}

// merge adds places to a list in order. Of those that compare equal, the first one stays first.
func merge(list, added []int32, compare func(x, y int32) int) []int32 {
	if len(added) > 1 {
		list = append(list, added...)
		slices.SortStableFunc(list, compare)
		return list
	}
	for _, x := range added {
		i := sort.Search(len(list), func(i int) bool { return compare(list[i], x) > 0 })
		list = slices.Insert(list, i, x)
	}
	return list
}

// neighbours returns the children in a list before and after a place that isBehind tells: the last one
// that it refuses, and the first one that it accepts. It passes the dead ones and the one numbered
// but. A neighbour is nil if there is none.
func (o *siblingOrder) neighbours(kids []draftChild, list []int32, but Number, isBehind func(*draftChild) bool) (before, after *draftChild) {
	at := sort.Search(len(list), func(i int) bool { return isBehind(&kids[list[i]]) })
	for i := at - 1; i >= 0 && before == nil; i-- {
		before = o.live(&kids[list[i]], but)
	}
	for i := at; i < len(list) && after == nil; i++ {
		after = o.live(&kids[list[i]], but)
	}
	return before, after
}

// live returns a child, or nil if it has to be passed.
func (o *siblingOrder) live(k *draftChild, but Number) *draftChild {
	if k.dead {
		o.passed++
		return nil
	}
	if k.number == but {
		return nil
	}
	return k
}

// around returns the neighbours of a rank among the siblings of a name, except the one numbered but:
// the last sibling with a lower rank, and the first of the others. Each is nil if there is none.
func (n *draftNode) around(name uint16, but Number, rank uint64) (before, after *draftChild) {
	o := n.order(name)
	return o.neighbours(n.kids, o.byRank, but, func(k *draftChild) bool { return k.rank >= rank })
}

// below returns the sibling of a name with the next lower ordinal, except the one numbered but.
func (n *draftNode) below(name uint16, but Number, ordinal uint32) *draftChild {
	o := n.order(name)
	before, _ := o.neighbours(n.kids, o.byOrdinal, but, func(k *draftChild) bool { return k.ordinal >= ordinal })
	return before
}

// sibling returns the live child of a name with a number, or nil.
func (d *Draft) sibling(parent *draftNode, name uint16, number Number) *draftChild {
	if x := d.nodes[number]; x != nil && x.parent == parent && x.name == name {
		return &parent.kids[parent.kidAt[childKey{name, x.ordinal}]]
	}
	is := func(k draftChild) bool { return k.number == number && k.name == name && !k.dead }
	home := parent.kids[:parent.homeKids]
	at := sort.Search(len(home), func(i int) bool { return home[i].number >= number })
	if at < len(home) && is(home[at]) {
		return &home[at]
	}
	if i := slices.IndexFunc(parent.kids, is); i >= 0 {
		return &parent.kids[i]
	}
	return nil
}
