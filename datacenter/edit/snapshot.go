package edit

import (
	"iter"
	"slices"

	"lorefs/datacenter"
)

// Snapshot is a Draft as it was at one moment, for saving it. Edits go on meanwhile and
// don't change it: the first one of a draft node since then leaves the Snapshot what the
// node was, and writes to a copy. So to take a Snapshot costs the same however much was
// edited. Its methods may be called from many goroutines at once.
//
// A save is made of three steps that need nothing of each other's insides: to write
// ([Snapshot.Write]), to check what was written ([Written.Compare]), and to go on with the
// new file ([Draft.Rebase]).
type Snapshot struct {
	d *Draft
	// draftBase was the Draft's, and base is what the Snapshot is on top of: that too, or the
	// first file.
	draftBase, base *datacenter.File
	root            *draftNode
	epoch           int64
	// entries and edits are how many there were.
	entries, edits int64
	// nameTable is the Draft's, without its inverses.
	nameTable
	// sorted is as in labels.
	sorted *datacenter.SiblingOrder
	// since is where edits begin that the Snapshot has not, in epochs.since.
	since int
}

// nodeState is what edits change of a draft node.
type nodeState struct {
	name    uint16
	key     uint16
	flags   datacenter.KeyFlags
	ordinal uint32
	// The first homeAttrs and homeKids are those of home, at the same places;
	// those that were removed are dead. Added ones follow in any order.
	attrs []draftAttribute
	kids  []draftChild
	// seq counts what was added, for listings.
	seq uint32
	// changed is set once the attributes differ from base's.
	changed bool
}

// pastState is what a draft node was, as Snapshots see it that are of its epoch or a later
// one, but of an earlier one than what came next.
type pastState struct {
	nodeState
	epoch int64
	older *pastState
}

// epochs tell a Draft which nodes a Snapshot may be looking at.
type epochs struct {
	// now is that of edits: higher than those of all Snapshots.
	now int64
	// snapshots counts those that are open, and past are nodes that keep for them what
	// they were.
	snapshots int
	past      []*draftNode
	// since are the edits that were made while there were any, as they can be made again.
	since [][]Edit
}

// note keeps edits that a Snapshot has not.
func (e *epochs) note(edits []Edit) {
	if e.snapshots > 0 {
		e.since = append(e.since, edits)
	}
}

// Snapshot gives the Draft as it is. It has to be closed.
func (d *Draft) Snapshot() *Snapshot {
	d.editing.Lock()
	defer d.editing.Unlock()
	s := &Snapshot{
		d: d, draftBase: d.base, base: d.base, root: d.root, epoch: d.epochs.now, entries: d.entries, edits: d.edits,
		nameTable: d.copied(), sorted: d.labels.sorted, since: len(d.epochs.since),
	}
	d.epochs.now++
	d.epochs.snapshots++
	return s
}

// Close gives up what is kept for the Snapshot. It must not be used any more, nor what it
// has written.
func (s *Snapshot) Close() {
	d := s.d
	d.editing.Lock()
	defer d.editing.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.epochs.snapshots--; d.epochs.snapshots > 0 {
		return
	}
	for _, n := range d.epochs.past {
		n.past = nil
	}
	d.epochs.past, d.epochs.since = nil, nil
}

// Pending is how many edits the Snapshot has that are in no file yet.
func (s *Snapshot) Pending() int64 { return s.edits }

// touch has to be called before the state of a draft node is changed. The caller holds mu
// and editing.
func (d *Draft) touch(n *draftNode) {
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

// OnFirst is the same Snapshot on top of the first file. Once the base can't be read any more,
// all that was edited since the Draft was made can still be written as long as that one can.
// It lasts until the Snapshot is closed.
func (s *Snapshot) OnFirst() *Snapshot {
	x := *s
	x.base = s.d.first
	return &x
}

// baseOf is what a draft node is in the Snapshot's base.
func (s *Snapshot) baseOf(n *draftNode) datacenter.Node {
	if s.base != s.draftBase {
		return n.home
	}
	return n.base
}

// at is the state that a draft node had.
func (s *Snapshot) at(n *draftNode) nodeState {
	state := s.stateOf(n)
	if s.base != s.draftBase {
		state.moveHome(n)
	}
	return state
}

// moveHome tells how a node differs from the first file, instead of the base.
func (x *nodeState) moveHome(n *draftNode) {
	x.attrs, x.kids, x.changed = slices.Clone(x.attrs), slices.Clone(x.kids), isNone(n.home)
	for i := range x.attrs {
		a := &x.attrs[i]
		a.stored, a.addr, a.changed = i < n.homeAttrs, a.home, a.edited
		x.changed = x.changed || a.edited || a.stored == a.dead
	}
	for i := range x.kids {
		k := &x.kids[i]
		k.stored, k.addr = i < n.homeKids, k.home
	}
}

func (s *Snapshot) stateOf(n *draftNode) nodeState {
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

// states gives those of a draft node and of all below it.
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

// attrCount counts the attributes that are there.
func (x *nodeState) attrCount() (count int) {
	for i := range x.attrs {
		if !x.attrs[i].dead {
			count++
		}
	}
	return count
}
