package edit

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"lorefs/datacenter"
)

// Op says what an Edit does.
type Op uint8

// What an Edit can do. The values are those of the record's format.
const (
	// SetAttribute gives Node the attribute Name, or another Value if it has one.
	SetAttribute Op = iota + 1
	// RemoveAttribute takes the attribute Name from Node.
	RemoveAttribute
	// AddNode makes Node, a number from [Draft.NewNumber], a child of Parent,
	// with Name, Ordinal, Keys and Flags.
	AddNode
	// RemoveNode takes Node away, with all below it.
	RemoveNode
	// MoveNode makes Node a child of Parent called Name, with Ordinal.
	MoveNode
	// SetKeys gives Node the key definition Keys.
	SetKeys
	// SetFlags gives Node the flags Flags.
	SetFlags
)

// Edit is one change of a [Draft].
type Edit struct {
	Op Op
	// Node is what is changed or made, Parent where it goes.
	Node, Parent Number
	// Name is the attribute's or the node's, as WTF-8.
	Name string
	// Ordinal tells siblings of one name apart and orders them, as far as their
	// keys do not. It has no other meaning: there may be gaps.
	Ordinal uint32
	// Rank orders a node that AddNode or MoveNode puts somewhere among its siblings of
	// one name, as far as their keys do not, if it is not 0. It is one between the
	// ranks of two of them, or RankGap above the last, and Ordinal is but a label then.
	Rank uint64
	// rank is what orders the node among its siblings, see rankOf.
	rank uint64
	// spot is where a Rank put the node, of an edit that is made again.
	spot *siblingSpot
	// replayed tells that the ordinal need not be free: it is that of a Draft
	// that had other siblings of the name, and another one will do.
	replayed bool
	Value    datacenter.Value
	// Attr is the number of the attribute that SetAttribute sets; 0 keeps the one
	// that it has, or gives it a new one. It is not part of the record.
	Attr  Number
	Keys  datacenter.KeyDefinition
	Flags datacenter.KeyFlags
}

// Apply makes all the edits or, if one of them can't be made, none. When it
// returns they are logged. Who reads meanwhile may see the first of them without
// the others.
//
// Errors match [datacenter.ErrValue] for what no data center can hold, [datacenter.ErrTooLarge] for
// what is too much, and [ErrGone] if a number stands for nothing; others are of
// the file, the log or ctx, or mistakes such as two children of one name and
// ordinal.
func (d *Draft) Apply(ctx context.Context, edits ...Edit) error {
	return d.ApplyPlan(ctx, nil, func() ([]Edit, error) { return edits, nil })
}

// script gives edits, as often as it is asked. An error is the last.
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

// Whether edits are logged.
const (
	logged   = true
	unlogged = false
)

// apply is for the holder of editing.
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
		d.edits += count
		d.epochs.note(d.batch)
	}
	for _, n := range d.shrunk {
		n.compact()
	}
	d.shrunk = d.shrunk[:0]
	return err
}

// all makes edits and, if they are to be logged, their record in scratch.
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

// again is an edit that was made as it can be made again: what was left open is not any more.
func (d *Draft) again(e Edit) Edit {
	if e.Op == SetAttribute {
		n := d.nodes[e.Node]
		e.Attr = n.attrs[n.attribute(d.index[e.Name])].number
	}
	return e
}

// undoList holds what takes edits back, the last first. Whoever runs that
// holds mu.
type undoList []func()

func (u *undoList) add(f func()) { *u = append(*u, f) }

// one makes one edit.
func (d *Draft) one(e Edit, u *undoList) error {
	if e.Op == AddNode {
		return d.addNode(e, u)
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
	if i := n.attribute(name); i >= 0 {
		return d.replaceAttribute(n, i, e, u)
	}
	if attrs, _ := n.counts(); attrs >= datacenter.MaxRun {
		return fmt.Errorf("more than %d attributes of a node: %w", datacenter.MaxRun, datacenter.ErrTooLarge)
	}
	if err := d.roomForEntry(); err != nil {
		return err
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

// roomForEntry tells whether there can be one more node or attribute.
func (d *Draft) roomForEntry() error {
	if d.entries >= datacenter.MaxEntries {
		return fmt.Errorf("more than %d nodes and attributes: %w", datacenter.MaxEntries, datacenter.ErrTooLarge)
	}
	return nil
}

// own notes that n has the attribute with a number. The caller holds mu.
func (d *Draft) own(number Number, n *draftNode, u *undoList) {
	before, had := d.owners[number]
	d.owners[number] = n
	u.add(func() {
		if delete(d.owners, number); had {
			d.owners[number] = before
		}
	})
}

// disown notes that n has lost the attribute with a number. Another may have
// it by now, as when an attribute is moved: it is set there and removed here.
// The caller holds mu.
func (d *Draft) disown(number Number, n *draftNode, u *undoList) {
	if d.owners[number] != n || n.numbered(number) >= 0 {
		return
	}
	delete(d.owners, number)
	u.add(func() { d.owners[number] = n })
}

// replaceAttribute sets the value of an attribute that is there.
func (d *Draft) replaceAttribute(n *draftNode, i int, e Edit, u *undoList) error {
	old, changed := n.attrs[i], n.changed
	a := old
	a.edited, a.changed, a.value = true, true, e.Value
	if e.Attr != 0 {
		var err error
		if a.home, err = d.placeOf(e.Attr); err != nil {
			return err
		}
		a.number = e.Attr
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

// placeOf is where the first file has the attribute with a number, if it has it.
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

// checkFlags tells whether the four bits of a node hold flags.
func checkFlags(flags datacenter.KeyFlags) error {
	const most = 1<<4 - 1
	if flags > most {
		return fmt.Errorf("%w: flags %d: want 0 to %d", datacenter.ErrValue, flags, most)
	}
	return nil
}
