package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/siblings"
)

// Rebase continues with g, the file to which a Snapshot was written. g must have been
// opened anew from that and compared by [Written.Compare]. Afterwards the Draft's base is
// g: records and the next Snapshot, with its changes, refer to g and its numbers. [Draft.Pending]
// counts only what was edited since this Snapshot. g has to stay open as long as
// it is the base, and until all Snapshots of it are closed. Its index is used as it is.
//
// Rebase first makes the edits since the Snapshot, which must still be open, again on top
// of g. New edits have to wait only while the last few of them are made again, and during
// publish. publish gets the records of all of them, in their order, as a Draft of g replays
// them. It can write them to a new journal, and make sure that this journal and the new
// file take effect together. If it returns an error, or if ctx ends before that, the Draft
// stays unchanged. publish must not call the Draft.
//
// Readers of the Draft notice nothing. Numbers, ordinals, cursors of listings and addresses
// still refer to the first file, which therefore has to stay open. Unchanged entries are
// read from it, and for all others the Draft knows how they differ.
func (d *Draft) Rebase(ctx context.Context, w *Written, g *datacenter.File, publish func(later [][]byte) error) error {
	if w.forked == nil || w.forked.g != g {
		if err := w.PrepareRebase(g); err != nil {
			return err
		}
	}
	r := w.forked
	w.forked = nil // it must not be used again after an error
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	d.planning.Lock()
	defer d.planning.Unlock()
	d.editing.Lock()
	defer d.editing.Unlock()
	if d.base != w.s.base {
		return errors.New("datacenter: BUG: the Draft has another base by now")
	}
	if err := r.again(ctx, d.epochs.since[r.done:]); err != nil {
		return err
	}
	if err := publish(r.later); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.draftTree = r.to.draftTree
	d.away.known = false
	d.made++
	d.rebases++
	return nil
}

// PrepareRebase does the part of Rebase that needs no edit but those of the Snapshot: for who has
// something else to do at the same time. g need not be checked yet.
func (w *Written) PrepareRebase(g *datacenter.File) error {
	r := &rebaser{w: w, g: g}
	if err := r.fork(); err != nil {
		return err
	}
	w.forked = r
	return nil
}

// rebaser makes a Draft from a Snapshot, with the file to which it was written as the base.
type rebaser struct {
	w    *Written
	g    *datacenter.File
	tree draftTree
	// to is that Draft, and later has the records of the edits made again on it. done is
	// the place in the first Draft's epochs.since of the edits to make next.
	to    *Draft
	later [][]byte
	done  int
}

// catchUp makes edits again until only a few are left. The caller makes those with editing
// held.
func (r *rebaser) catchUp(ctx context.Context) error {
	const few, rounds = 16, 10
	d := r.w.s.d
	for range rounds {
		d.editing.Lock()
		since := d.epochs.since[r.done:]
		d.editing.Unlock()
		if len(since) < few {
			break
		}
		if err := r.again(ctx, since); err != nil {
			return err
		}
	}
	return nil
}

// again makes edits again.
func (r *rebaser) again(ctx context.Context, since [][]Edit) error {
	for _, edits := range since {
		if err := r.to.apply(ctx, asScript(edits), logged, nil); err != nil {
			return fmt.Errorf("datacenter: what was edited meanwhile can't be done to the new file: %w", err)
		}
		r.done++
	}
	return nil
}

// fork makes the new Draft. It shares nothing with the old one that an edit changes.
func (r *rebaser) fork() error {
	s := r.w.s
	r.tree = draftTree{
		base: r.g, labels: labels{sorted: s.labels.sorted, again: map[Number]Number{}},
		nodes: map[Number]*draftNode{}, owners: map[Number]*draftNode{}, entries: s.entries,
		nameTable: s.indexed(),
	}
	if r.w.reordered && s.labels.sorted == nil {
		r.tree.labels.sorted = siblings.NewSiblingOrder(s.d.first)
	}
	r.tree.labels.names = make([]uint16, len(r.g.Names())+1)
	for i, name := range r.g.Names() {
		r.tree.labels.names[i+1] = r.tree.index[name]
	}
	root, err := r.g.Root()
	if err != nil {
		return err
	}
	if r.tree.root, err = r.node(s.root, root, 0); err != nil {
		return err
	}
	r.tree.labels.index()
	r.done = s.since
	r.to = &Draft{first: s.d.first, next: datacenter.MaxEntries + 1, heights: map[datacenter.Address]int{}, draftTree: r.tree}
	r.to.log = func(record []byte) error {
		r.later = append(r.later, bytes.Clone(record))
		return nil
	}
	return nil
}

// node makes the draft node of old, which became base. number is its number there.
func (r *rebaser) node(old *draftNode, base datacenter.Node, number Number) (*draftNode, error) {
	n := &draftNode{
		number: old.number, home: old.home, base: base, nodeState: r.w.s.at(old),
		homeAttrs: old.homeAttrs, homeKids: old.homeKids, differs: true,
	}
	n.attrs, n.kids = slices.Clone(n.attrs), slices.Clone(n.kids)
	r.tree.nodes[n.number] = n
	r.tree.labels.add(labelRun{n.number, number, n.labelCount(), n.home.Address()})
	order := r.w.orders[old]
	if err := r.attributes(n, old); err != nil {
		return nil, err
	}
	if err := n.restChildren(r.g, order, func(k *draftChild, at Number) error {
		at += number
		if k.node == nil {
			first := r.w.s.d.first
			r.tree.labels.add(labelRun{k.number, at, Number(first.Entries(k.home)), k.home})
			return nil
		}
		y, err := r.nodeOf(k)
		if err != nil {
			return err
		}
		if k.node, err = r.node(k.node, y, at); err == nil {
			k.node.parent = n
		}
		return err
	}); err != nil {
		return nil, err
	}
	for i := range n.attrs {
		if a := &n.attrs[i]; a.edited && !a.dead {
			r.tree.owners[a.number] = n
		}
	}
	n.settle()
	n.kidAt = make(map[childKey]int, len(n.kids))
	n.place(0)
	return n, nil
}

// attributes puts the attributes of a draft node on top of its new base. A check of a spliced file
// has found out where they are, so they are not read again.
func (r *rebaser) attributes(n, old *draftNode) error {
	changed := n.changed
	n.changed = false
	if _, found := r.w.became[old]; !found || !changed {
		if found && old.base.Form().HasSameAttributes(n.base.Form()) {
			return nil // they are where they were
		}
		return n.restAttributes(r.tree.labels.names)
	}
	addrs := r.w.stored[old].addrs
	for i := range n.attrs {
		a := &n.attrs[i]
		if a.stored, a.changed = !a.dead, false; a.dead {
			continue
		}
		a.addr, addrs = addrs[0], addrs[1:]
	}
	return nil
}

// nodeOf returns the node of g that a draft node became, which is the child k.
func (r *rebaser) nodeOf(k *draftChild) (datacenter.Node, error) {
	if y, ok := r.w.became[k.node]; ok {
		return y.In(r.g), nil
	}
	return r.g.Node(k.addr)
}

// labelCount returns how many labels, from the node's on, stand for the numbers from its
// number on. The labels of the attributes do if the counts are equal. The attributes may be in
// another order, but their numbers are never used.
func (n *draftNode) labelCount() Number {
	if !isNone(n.home) && n.base.AttributeCount() == n.homeAttrs {
		return 1 + Number(n.homeAttrs)
	}
	return 1
}

// rest puts a draft node on top of its base, a node of f, which must have the same attributes and the
// children in the given order. names are the Draft's name indexes by the base's. rest calls
// child for each child, with the distance of its number there to that of its parent.
func (n *draftNode) rest(f *datacenter.File, names []uint16, order []int, child func(*draftChild, Number) error) error {
	if err := n.restAttributes(names); err != nil {
		return err
	}
	return n.restChildren(f, order, child)
}

// restAttributes is rest for the attributes.
func (n *draftNode) restAttributes(names []uint16) error {
	for i := range n.attrs {
		n.attrs[i].stored, n.attrs[i].changed = false, false
	}
	for a, err := range n.base.Attributes() {
		if err != nil {
			return err
		}
		i := n.attribute(names[a.NameIndex()])
		if i < 0 {
			return fmt.Errorf("%w: %s has come to %s", ErrDiffers, a.Name(), n.base.Name())
		}
		n.attrs[i].stored, n.attrs[i].addr = true, a.Address()
	}
	if slices.ContainsFunc(n.attrs, func(a draftAttribute) bool { return !a.dead && !a.stored }) {
		return fmt.Errorf("%w: attributes of %s are missing", ErrDiffers, n.base.Name())
	}
	return nil
}

// restChildren is rest for the children. It does not read them.
func (n *draftNode) restChildren(f *datacenter.File, order []int, child func(*draftChild, Number) error) error {
	for i := range n.kids {
		n.kids[i].stored, n.kids[i].replaced = false, false
	}
	ordinals, number := map[uint16]uint32{}, 1+Number(n.base.AttributeCount())
	name, ordinal := uint16(0), uint32(0) // siblings of one name are neighbours, but for rare files
	n.ranked = false
	for place, err := range childPlaces(f, n.base) {
		if err != nil {
			return err
		}
		if len(order) == 0 {
			return fmt.Errorf("%w: children have come to %s", ErrDiffers, n.base.Name())
		}
		k := &n.kids[order[0]]
		order = order[1:]
		if k.name != name {
			ordinals[name] = ordinal
			name, ordinal = k.name, ordinals[k.name]
		}
		k.stored, k.addr, k.rank = true, place.addr, rankOf(ordinal)
		ordinal++
		n.ranked = n.ranked || k.rank != rankOf(k.ordinal)
		if err := child(k, number); err != nil {
			return err
		}
		number += Number(place.entries)
	}
	if len(order) > 0 {
		return fmt.Errorf("%w: children of %s are missing", ErrDiffers, n.base.Name())
	}
	return nil
}
