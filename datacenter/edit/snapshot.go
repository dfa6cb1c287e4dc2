package edit

import (
	"iter"
	"slices"

	"lorefs/datacenter"
)

// Snapshot is a Draft as it was at one moment, for saving it. Later edits don't change it:
// the first later edit of a draft node keeps the old state for the Snapshot and changes a
// copy. So the cost of taking a Snapshot does not depend on the number of edits. Its
// methods are safe for concurrent use.
//
// A save has three steps, which are independent of each other's internals: write the file
// ([Snapshot.Write]), check it ([Written.Compare]), and continue with it ([Draft.Rebase]).
type Snapshot struct {
	d *Draft
	// base was the Draft's base.
	base  *datacenter.File
	root  *draftNode
	epoch int64
	// entries and made are the Draft's counts at that moment.
	entries, made int64
	// nameTable is a copy of the Draft's, without the inverses.
	nameTable
	// labels are the Draft's: what belongs to base.
	labels labels
	// since is the place in epochs.since of the first edit after the Snapshot.
	since int
}

// nodeState is the part of a draft node that edits change.
type nodeState struct {
	name    uint16
	key     uint16
	flags   datacenter.KeyFlags
	ordinal uint32
	// The first homeAttrs and homeKids are those of home, at the same places; removed ones
	// are dead. Added ones follow in any order.
	attrs []draftAttribute
	kids  []draftChild
	// seq counts the added entries, for listings.
	seq uint32
	// changed is set once the attributes differ from base's.
	changed bool
}

// pastState is a former state of a draft node. It is what Snapshots see whose epoch is this
// one or later, but before the epoch of the next state.
type pastState struct {
	nodeState
	epoch int64
	older *pastState
}

// epochs tell a Draft which states of nodes its Snapshots may still read.
type epochs struct {
	// now is the epoch of edits. It is higher than the epochs of all Snapshots.
	now int64
	// snapshots counts the open Snapshots. past has the nodes that keep former states for
	// them.
	snapshots int
	past      []*draftNode
	// saves has the open Snapshots that may be saved.
	saves []*Snapshot
	// since has the edits made while a Snapshot is open, in the form in which they can be
	// made again.
	since [][]Edit
}

// note keeps edits that an open Snapshot does not have.
func (e *epochs) note(edits []Edit) {
	if e.snapshots > 0 {
		e.since = append(e.since, edits)
	}
}

// Snapshot returns the Draft as it is now. It must be closed.
func (d *Draft) Snapshot() *Snapshot {
	d.editing.Lock()
	defer d.editing.Unlock()
	s := d.take()
	d.epochs.saves = append(d.epochs.saves, s)
	return s
}

// View returns a Snapshot only for looking: the Draft will not go on with what is written of it. What
// the Snapshot does not have any more can come back while it is open.
func (d *Draft) View() *Snapshot {
	d.editing.Lock()
	defer d.editing.Unlock()
	return d.take()
}

// take returns a Snapshot. The caller holds editing.
func (d *Draft) take() *Snapshot {
	s := d.present()
	s.nameTable = d.copied()
	d.epochs.now++
	d.epochs.snapshots++
	return s
}

// present returns a Snapshot that lasts until the next edit. The caller holds editing.
func (d *Draft) present() *Snapshot {
	return &Snapshot{
		d: d, base: d.base, root: d.root, epoch: d.epochs.now, entries: d.entries, made: d.made,
		nameTable: d.nameTable, labels: d.labels, since: len(d.epochs.since),
	}
}

// Close releases what the Draft keeps for the Snapshot. Neither the Snapshot nor its
// Written may be used afterwards.
func (s *Snapshot) Close() {
	d := s.d
	d.editing.Lock()
	defer d.editing.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.epochs.saves = slices.DeleteFunc(d.epochs.saves, func(x *Snapshot) bool { return x.epoch == s.epoch })
	if d.epochs.snapshots--; d.epochs.snapshots > 0 {
		return
	}
	for _, n := range d.epochs.past {
		n.past = nil
	}
	d.epochs.past, d.epochs.since = nil, nil
}

// touch must be called before the state of a draft node is changed. The caller holds mu and
// editing.
func (d *Draft) touch(n *draftNode) {
	n.keepSaved()
	if n.epoch == d.epochs.now {
		return
	}
	if d.epochs.snapshots > 0 {
		n.past = &pastState{nodeState: n.nodeState, epoch: n.epoch, older: n.past}
		n.attrs, n.kids = slices.Clone(n.attrs), slices.Clone(n.kids)
		d.epochs.past = append(d.epochs.past, n)
	}
	n.epoch = d.epochs.now
}

// at returns the state that a draft node had.
func (s *Snapshot) at(n *draftNode) nodeState {
	s.d.mu.RLock()
	defer s.d.mu.RUnlock()
	if n.epoch <= s.epoch {
		return n.nodeState
	}
	past := n.past
	for past.epoch > s.epoch {
		past = past.older
	}
	return past.nodeState
}

// states yields the states of a draft node and of all draft nodes below it.
func (s *Snapshot) states(n *draftNode) iter.Seq[*nodeState] {
	return func(yield func(*nodeState) bool) { s.eachState(n, yield) }
}

func (s *Snapshot) eachState(n *draftNode, yield func(*nodeState) bool) bool {
	state := s.at(n)
	if !yield(&state) {
		return false
	}
	for i := range state.kids {
		if x := state.kids[i].node; x != nil && !s.eachState(x, yield) {
			return false
		}
	}
	return true
}

// attrCount returns the number of live attributes.
func (x *nodeState) attrCount() (count int) {
	for i := range x.attrs {
		if !x.attrs[i].dead {
			count++
		}
	}
	return count
}
