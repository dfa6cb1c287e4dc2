package edit

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"lorefs/datacenter"
)

// Op is the operation of an Edit.
type Op uint8

// The operations. Their values are part of the record's format.
const (
	// SetAttribute sets the attribute Name of Node to Value.
	SetAttribute Op = iota + 1
	// RemoveAttribute removes the attribute Name of Node.
	RemoveAttribute
	// AddNode adds Node, a number from [Draft.NewNumber], as a child of Parent, with Name,
	// Ordinal, Keys and Flags.
	AddNode
	// RemoveNode removes Node with its subtree.
	RemoveNode
	// MoveNode makes Node a child of Parent, with Name and Ordinal.
	MoveNode
	// SetKeys sets the key definition of Node to Keys.
	SetKeys
	// SetFlags sets the flags of Node to Flags.
	SetFlags
	// RestoreNode brings Node back, which was removed and which the base has as a child of
	// Parent, with everything below it as in the base. Nothing of that may be somewhere else.
	// Only [Draft.Revert] makes such edits.
	RestoreNode
)

// Edit is one change of a [Draft].
type Edit struct {
	Op Op
	// Node is the node that is changed or added. Parent is its new parent.
	Node, Parent Number
	// Name is the name of the attribute or the node, as WTF-8.
	Name string
	// Ordinal distinguishes siblings of one name. It also orders them if their keys do not.
	// It has no other meaning, and there may be gaps.
	Ordinal uint32
	// Rank, if it is not 0, orders a node that AddNode or MoveNode puts among its siblings
	// of one name if their keys do not. To insert the node between two siblings, use a
	// number between their ranks. To append it, add RankGap to the last rank. Ordinal is
	// then only a label.
	Rank uint64
	// rank is the rank that the node gets, see rankOf.
	rank uint64
	// spot is the place that Rank meant, for an edit that is made again.
	spot *siblingSpot
	// isBack says that Attr is the number of an attribute that was removed. It gets another one
	// if that is taken by now.
	isBack bool
	// Again says that AddNode makes again what was removed from Parent at Name and Ordinal, if the
	// base has that: Node is then that node of the base, in its place and with its keys and flags, but
	// with nothing in it. What is put there is compared with what the base has.
	Again bool
	// again is the node that is made again, or nil. isSettled says that Keys and Flags are what Node got
	// when the edit was first made, of what it may be that the base was another one.
	again     *goneNode
	isSettled bool
	// replayed says that the ordinal may be taken. It comes from a Draft that had other
	// siblings of the name, so another ordinal will do.
	replayed bool
	Value    datacenter.Value
	// Attr is the number for the attribute that SetAttribute sets. With 0 the attribute
	// keeps its number or, if it is new, gets a new one. Attr is not part of the record.
	Attr  Number
	Keys  datacenter.KeyDefinition
	Flags datacenter.KeyFlags
}

// Apply makes all the edits, or none if one of them can't be made. When it returns without
// an error, they are logged. A concurrent reader may see the first edits without the
// others.
//
// Errors match [datacenter.ErrValue] for what no data center can hold,
// [datacenter.ErrTooLarge] for what exceeds a limit, and [ErrGone] for a number that does
// not exist. Other errors come from the file, the log or ctx, or report mistakes such as
// two children of one name and ordinal.
func (d *Draft) Apply(ctx context.Context, edits ...Edit) error {
	return d.ApplyPlan(ctx, nil, func() ([]Edit, error) { return edits, nil })
}

// script yields edits, each time it is called. An error is yielded last.
type script = iter.Seq2[Edit, error]

func asScript(edits []Edit) script {
	return func(yield func(Edit, error) bool) {
		for _, e := range edits {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Values of the parameter logged.
const (
	logged   = true
	unlogged = false
)

// apply makes edits. The caller holds editing.
func (d *Draft) apply(ctx context.Context, edits script, logged bool, seen *effects) error {
	if err := d.sweepFor(edits); err != nil {
		return err
	}
	var undo undoList
	count, err := d.all(ctx, edits, logged, &undo, seen)
	if err == nil && logged {
		err = d.log(d.scratch)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		for _, f := range slices.Backward(undo) {
			f()
		}
	} else {
		d.made += count
		d.epochs.note(d.batch)
	}
	for _, n := range d.shrunk {
		n.compact()
	}
	d.shrunk = d.shrunk[:0]
	d.changes.changed()
	return err
}

// all makes edits. If they are to be logged, it writes their record to scratch.
func (d *Draft) all(ctx context.Context, edits script, logged bool, u *undoList, seen *effects) (count int64, err error) {
	d.scratch, d.batch = d.scratch[:0], nil
	for e, err := range edits {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && logged {
			err = d.record(&e)
		}
		if err == nil {
			err = d.noted(e, u, seen)
		}
		if err != nil {
			return count, err
		}
		if d.epochs.snapshots > 0 {
			d.batch = append(d.batch, d.again(e))
		}
		count++
	}
	return count, ctx.Err()
}

// again returns an edit that was made in the form in which it can be made again: with the
// number of its attribute.
func (d *Draft) again(e Edit) Edit {
	if e.Op == SetAttribute {
		n := d.nodes[e.Node]
		e.Attr, e.isBack = n.attrs[n.attribute(d.index[e.Name])].number, false
	}
	if e.Again {
		e.Again, e.again, e.isSettled = e.again != nil, nil, true
	}
	return e
}

// undoList has the functions that undo edits. They must run in reverse order, with mu held.
type undoList []func()

func (u *undoList) add(f func()) { *u = append(*u, f) }

// one makes one edit.
func (d *Draft) one(e Edit, u *undoList) error {
	switch e.Op {
	case AddNode:
		return d.addNode(e, u)
	case RestoreNode:
		return d.restoreNode(e, u)
	}
	n, err := d.reach(e.Node)
	if err != nil {
		return err
	}
	switch e.Op {
	case SetAttribute:
		return d.setAttribute(n, e, u)
	case RemoveAttribute:
		return d.removeAttribute(n, e, u)
	case RemoveNode:
		return d.removeNode(n, u)
	case MoveNode:
		return d.moveNode(n, e, u)
	case SetKeys:
		return d.setKeys(n, e.Keys, u)
	case SetFlags:
		return d.setFlags(n, e.Flags, u)
	}
	return fmt.Errorf("datacenter: BUG: edit %d is none", e.Op)
}

func (d *Draft) setAttribute(n *draftNode, e Edit, u *undoList) error {
	switch {
	case n == d.root:
		return fmt.Errorf("%w: the root has no attributes", datacenter.ErrValue)
	case e.Value.Type() == 0:
		return fmt.Errorf("datacenter: BUG: an attribute without value")
	case e.Name == datacenter.ValueName && e.Value.Type() != datacenter.String:
		return fmt.Errorf("%w: %s is a string", datacenter.ErrValue, datacenter.ValueName)
	}
	name, err := d.nameIndex(e.Name, u)
	if err != nil {
		return err
	}
	i := n.attribute(name)
	if e.isBack && (i >= 0 || d.owners[e.Attr] != nil) {
		e.Attr = 0
	}
	if i >= 0 {
		return d.replaceAttribute(n, i, e, u)
	}
	if attrs, _ := n.counts(); attrs >= datacenter.MaxRun {
		return fmt.Errorf("more than %d attributes of a node: %w", datacenter.MaxRun, datacenter.ErrTooLarge)
	}
	if err := d.roomForEntry(); err != nil {
		return err
	}
	if i := d.removedAttribute(n, name, e); i >= 0 {
		return d.returnAttribute(n, i, e, u)
	}
	if e.Attr == 0 {
		if e.Attr = d.NewNumber(); e.Attr == 0 {
			return fmt.Errorf("no number is left: %w", datacenter.ErrTooLarge)
		}
	}
	home, err := d.placeOf(e.Attr)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	before, changed, seq := len(n.attrs), n.changed, n.seq
	n.attrs = append(n.attrs, draftAttribute{
		number: e.Attr, name: name, home: home, edited: true, value: e.Value, seq: n.seq, changed: true,
	})
	n.seq++
	n.changed = true
	d.entries++
	u.add(func() {
		n.attrs, n.changed, n.seq = n.attrs[:before], changed, seq
		d.entries--
	})
	d.own(e.Attr, n, u)
	return nil
}

// removedAttribute returns the place of the attribute that was removed and that e sets again
// under its number, or -1. When edits are replayed nobody remembers the number that it had
// in between, so it gets its own.
func (d *Draft) removedAttribute(n *draftNode, name uint16, e Edit) int {
	return slices.IndexFunc(n.attrs, func(a draftAttribute) bool {
		if !a.dead || !a.stored || a.name != name {
			return false
		}
		if e.Attr == 0 {
			return e.replayed && d.owners[a.number] == nil
		}
		return e.isBack || a.number == e.Attr
	})
}

// returnAttribute sets an attribute again that was removed.
func (d *Draft) returnAttribute(n *draftNode, i int, e Edit, u *undoList) error {
	old, changed := n.attrs[i], n.changed
	a, err := d.revalued(old, e)
	if err != nil {
		return err
	}
	a.dead = false
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	n.attrs[i], n.changed = a, true
	d.entries++
	u.add(func() {
		n.attrs[i], n.changed = old, changed
		d.entries--
	})
	d.own(a.number, n, u)
	return nil
}

// roomForEntry returns an error if there can't be one more node or attribute.
func (d *Draft) roomForEntry() error {
	if d.entries >= datacenter.MaxEntries {
		return fmt.Errorf("more than %d nodes and attributes: %w", datacenter.MaxEntries, datacenter.ErrTooLarge)
	}
	return nil
}

// own records that n has the attribute with a number. The caller holds mu.
func (d *Draft) own(number Number, n *draftNode, u *undoList) {
	d.away.known = d.away.known && !n.isAway(number)
	before, had := d.owners[number]
	d.owners[number] = n
	u.add(func() {
		if delete(d.owners, number); had {
			d.owners[number] = before
		}
	})
}

// disown records that n has lost the attribute with a number. Another node may own it by
// now: to move an attribute, an edit sets it there and another one removes it here. The
// caller holds mu.
func (d *Draft) disown(number Number, n *draftNode, u *undoList) {
	if d.owners[number] != n || n.numbered(number) >= 0 {
		return
	}
	delete(d.owners, number)
	u.add(func() { d.owners[number] = n })
}

// revalued returns an attribute with the value and the number that an edit gives it.
func (d *Draft) revalued(a draftAttribute, e Edit) (draftAttribute, error) {
	a.edited, a.changed, a.value = true, true, e.Value
	if e.Attr == 0 {
		return a, nil
	}
	a.number = e.Attr
	var err error
	a.home, err = d.placeOf(e.Attr)
	return a, err
}

// replaceAttribute sets the value of an existing attribute.
func (d *Draft) replaceAttribute(n *draftNode, i int, e Edit, u *undoList) error {
	old, changed := n.attrs[i], n.changed
	a, err := d.revalued(old, e)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	n.attrs[i], n.changed = a, true
	u.add(func() { n.attrs[i], n.changed = old, changed })
	d.disown(old.number, n, u)
	d.own(a.number, n, u)
	return nil
}

// placeOf returns the address of the attribute in the first file, or the zero Address if
// that does not have it.
func (d *Draft) placeOf(n Number) (datacenter.Address, error) {
	if n > datacenter.MaxEntries {
		return datacenter.Address{}, nil
	}
	_, _, last, err := d.trace(n)
	if err != nil {
		return datacenter.Address{}, err
	}
	if n == last.number {
		return datacenter.Address{}, fmt.Errorf("datacenter: BUG: the entry %d is a node, not an attribute", n)
	}
	return last.home.AttributeAddress(int(n - last.number - 1)), nil
}

func (d *Draft) removeAttribute(n *draftNode, e Edit, u *undoList) error {
	name, ok := d.index[e.Name]
	i := -1
	if ok {
		i = n.attribute(name)
	}
	if i < 0 {
		return fmt.Errorf("datacenter: the attribute %q: %w", e.Name, ErrGone)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	changed, added := n.changed, 0
	if i >= n.homeAttrs && !n.attrs[i].stored {
		added = 1
		d.shrunk = append(d.shrunk, n)
	}
	n.attrs[i].dead, n.changed = true, true
	n.deadAttrs += added
	d.entries--
	u.add(func() {
		n.attrs[i].dead, n.changed = false, changed
		n.deadAttrs -= added
		d.entries++
	})
	d.disown(n.attrs[i].number, n, u)
	return nil
}

func (d *Draft) setKeys(n *draftNode, def datacenter.KeyDefinition, u *undoList) error {
	key, err := d.keyOf(def, u)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	old := n.key
	n.key = key
	u.add(func() { n.key = old })
	return nil
}

func (d *Draft) setFlags(n *draftNode, flags datacenter.KeyFlags, u *undoList) error {
	if err := checkFlags(flags); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(n)
	old := n.flags
	n.flags = flags
	u.add(func() { n.flags = old })
	return nil
}

// checkFlags returns an error if the four bits of a node can't hold the flags.
func checkFlags(flags datacenter.KeyFlags) error {
	const most = 1<<4 - 1
	if flags > most {
		return fmt.Errorf("%w: flags %d: want 0 to %d", datacenter.ErrValue, flags, most)
	}
	return nil
}
