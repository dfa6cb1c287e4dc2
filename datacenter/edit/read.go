package edit

import (
	"sort"

	"lorefs/datacenter"
)

// Entry is an attribute or a child of a draft node.
type Entry struct {
	Number Number
	// Attribute says that it is an attribute, not a node.
	Attribute bool
	// NameIndex is the index of Name in the file's names. A higher index than those belongs
	// to a new name.
	Name      string
	NameIndex uint16
	// Ordinal distinguishes a node from its siblings of the same name.
	Ordinal uint32
	// Rank orders a node among its siblings of the same name, see [Edit].
	Rank uint64
	// Stored says that the first file has the entry, at Addr. The value of an attribute is
	// there, too, unless Value has a type: then it is in Value.
	Stored bool
	Addr   datacenter.Address
	Value  datacenter.Value
	// Added says that the node did not have the entry in the first file.
	Added bool
	// Next is the cursor behind the entry.
	Next uint64
}

// Read returns the value of an attribute. first is the file on which the draft began.
func (e *Entry) Read(first *datacenter.File) (datacenter.Value, error) {
	if e.Value.Type() != 0 {
		return e.Value, nil
	}
	return storedValue(first, e.Addr)
}

// addedCursor is the first cursor of added entries. The entries of the first file have the
// same cursors as in a listing of that file: the place among the attributes, or the number
// of attributes plus the place among the children.
const addedCursor = 1 << 32

// Touched reports whether a number has a draft node. If not, the node is as in the first
// file.
func (d *Draft) Touched(n Number) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	_, ok := d.nodes[n]
	return ok
}

// Node describes a draft node.
type Node struct {
	Name    string
	Ordinal uint32
	// Parent is 0 for the root as well.
	Parent     Number
	Keys       datacenter.KeyDefinition
	Flags      datacenter.KeyFlags
	Attributes int
	Children   int
	// Base is the node in the first file, if Stored.
	Base   datacenter.Node
	Stored bool
}

// Node describes a draft node. ok is false if there is none with the number.
func (d *Draft) Node(n Number) (info Node, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x, ok := d.nodes[n]
	if !ok {
		return info, false
	}
	info = Node{
		Name: d.name(x.name), Ordinal: x.ordinal, Keys: d.definition(x.key), Flags: x.flags,
		Base: x.home, Stored: !isNone(x.home),
	}
	if x.parent != nil {
		info.Parent = x.parent.number
	}
	info.Attributes, info.Children = x.counts()
	return info, true
}

// Attribute returns an attribute of a draft node.
func (d *Draft) Attribute(n Number, name string) (Entry, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x, known := d.nodes[n], d.index[name]
	if x == nil || known == 0 {
		return Entry{}, false
	}
	i := x.attribute(known)
	if i < 0 {
		return Entry{}, false
	}
	return d.attributeEntry(x, &x.nodeState, i), true
}

// Attributes returns the attributes of a draft node. ok is false if there is no such node.
func (d *Draft) Attributes(n Number) (attributes []Entry, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x := d.nodes[n]
	if x == nil {
		return nil, false
	}
	return d.attributeEntries(x, &x.nodeState), true
}

// Child returns a child of a draft node.
func (d *Draft) Child(n Number, name string, ordinal uint32) (Entry, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x, known := d.nodes[n], d.index[name]
	if x == nil || known == 0 {
		return Entry{}, false
	}
	i, ok := x.kidAt[childKey{known, ordinal}]
	if !ok {
		return Entry{}, false
	}
	return d.childEntry(x, &x.nodeState, i), true
}

// Value returns the value of an attribute whose value is not the first file's.
func (d *Draft) Value(n Number) (datacenter.Value, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x := d.owners[n]
	if x == nil {
		return datacenter.Value{}, false
	}
	i := x.numbered(n)
	if i < 0 {
		return datacenter.Value{}, false
	}
	return x.attrs[i].value, true
}

// Holder returns the node and the name of an attribute. It may read the file.
func (d *Draft) Holder(n Number) (node Number, name string, err error) {
	d.editing.Lock()
	defer d.editing.Unlock()
	x, i, err := d.owner(n)
	if err != nil {
		return 0, "", err
	}
	return x.number, d.name(x.attrs[i].name), nil
}

// Open makes the node with a number a draft node. It may read the file.
func (d *Draft) Open(n Number) error {
	d.editing.Lock()
	defer d.editing.Unlock()
	_, err := d.reach(n)
	return err
}

// List appends up to limit entries of a draft node to dst: attributes, then children, in
// the first file's order, then added entries in no particular order. Concurrent edits do
// not make it skip or repeat other entries. ok is false if there is no such draft node.
func (d *Draft) List(n Number, cursor uint64, limit int, dst []Entry) (entries []Entry, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	x := d.nodes[n]
	if x == nil {
		return dst, false
	}
	end := len(dst) + limit
	for i := cursor; i < uint64(x.homeAttrs) && len(dst) < end; i++ {
		if !x.attrs[i].dead {
			dst = append(dst, d.attributeEntry(x, &x.nodeState, int(i)))
		}
	}
	first := uint64(x.homeAttrs)
	for i := max(cursor, first); i < first+uint64(x.homeKids) && len(dst) < end; i++ {
		if !x.kids[i-first].dead {
			dst = append(dst, d.childEntry(x, &x.nodeState, int(i-first)))
		}
	}
	if len(dst) < end {
		dst = d.listAdded(x, cursor, end, dst)
	}
	return dst, true
}

// listAdded continues with the added entries, in the order of their cursors. Attributes and
// children are both in that order.
func (d *Draft) listAdded(x *draftNode, cursor uint64, end int, dst []Entry) []Entry {
	seq := max(cursor, addedCursor) - addedCursor
	a := x.homeAttrs + sort.Search(len(x.attrs)-x.homeAttrs, func(i int) bool { return uint64(x.attrs[x.homeAttrs+i].seq) >= seq })
	k := x.homeKids + sort.Search(len(x.kids)-x.homeKids, func(i int) bool { return uint64(x.kids[x.homeKids+i].seq) >= seq })
	for len(dst) < end {
		switch {
		case a < len(x.attrs) && x.attrs[a].dead:
			a++
		case k < len(x.kids) && x.kids[k].dead:
			k++
		case a < len(x.attrs) && (k == len(x.kids) || x.attrs[a].seq < x.kids[k].seq):
			dst = append(dst, d.attributeEntry(x, &x.nodeState, a))
			a++
		case k < len(x.kids):
			dst = append(dst, d.childEntry(x, &x.nodeState, k))
			k++
		default:
			return dst
		}
	}
	return dst
}

// attributeEntries describes all attributes of a node in a state.
func (t *nameTexts) attributeEntries(n *draftNode, x *nodeState) (list []Entry) {
	for i := range x.attrs {
		if !x.attrs[i].dead {
			list = append(list, t.attributeEntry(n, x, i))
		}
	}
	return list
}

// attributeEntry describes an attribute of a node in a state.
func (t *nameTexts) attributeEntry(n *draftNode, x *nodeState, i int) Entry {
	a := &x.attrs[i]
	e := Entry{
		Number: a.number, Attribute: true, Name: t.name(a.name), NameIndex: a.name,
		Stored: a.number <= datacenter.MaxEntries, Addr: a.home, Added: i >= n.homeAttrs, Next: uint64(i) + 1,
	}
	if a.edited {
		e.Value = a.value
	}
	if e.Added {
		e.Next = addedCursor + uint64(a.seq) + 1
	}
	return e
}

// childEntry describes a child of a node in a state.
func (t *nameTexts) childEntry(n *draftNode, x *nodeState, i int) Entry {
	k := &x.kids[i]
	e := Entry{
		Number: k.number, Name: t.name(k.name), NameIndex: k.name, Ordinal: k.ordinal, Rank: k.rank,
		Stored: k.number <= datacenter.MaxEntries, Addr: k.home, Added: i >= n.homeKids, Next: uint64(n.homeAttrs+i) + 1,
	}
	if k.node != nil && e.Stored {
		e.Addr = k.node.home.Address()
	}
	if e.Added {
		e.Next = addedCursor + uint64(k.seq) + 1
	}
	return e
}
