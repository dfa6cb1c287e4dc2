package edit

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"lorefs/datacenter"
)

// Applied describes edits that were made.
type Applied struct {
	// By is the argument by of [Draft.ApplyPlan]. It is nil for edits by Apply.
	By any
	// Sheets are the sheets that changed.
	Sheets []SheetChange
	// Effects are the effects of the edits, in their order. Effects within a new node are
	// left out, since nobody can have read it before.
	Effects []Effect
}

// Effect tells what one edit did.
type Effect struct {
	// Kind is also NodeMoved for a node that only got another Rank.
	Kind ChangeKind
	// Before and After are the attribute or the node before and after the edit. An entry
	// that did not exist then has no Name.
	Before, After EntryAt
	// Values belong to NodeGone. They are the attributes of the removed subtree whose
	// values are not in the first file, so that open files can still be read.
	Values []Entry
}

// EntryAt is an attribute or a node with its parent.
type EntryAt struct {
	Entry
	// Parent is 0 for the root as well. ParentAddr is its address, if the first file has
	// it.
	Parent     Number
	ParentAddr datacenter.Address
}

// watched has the watchers of a Draft, and what they have not been told yet.
type watched struct {
	// telling is held while the watchers are called.
	telling sync.Mutex
	// mu guards the fields below. No other lock is taken while it is held.
	mu       sync.Mutex
	watchers []*watcher
	untold   []*Applied
}

type watcher struct{ told func(*Applied) }

// look returns the watchers, and takes what they have not been told.
func (w *watched) look() ([]*watcher, []*Applied) {
	w.mu.Lock()
	defer w.mu.Unlock()
	untold := w.untold
	w.untold = nil
	return slices.Clone(w.watchers), untold
}

func (w *watched) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.watchers) > 0
}

// note adds something to tell.
func (w *watched) note(a *Applied) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.untold = append(w.untold, a)
}

// tell calls the watchers with what was noted, in its order. When it returns, all calls for
// what was noted before it have returned, also those that another tell made.
func (w *watched) tell() {
	w.telling.Lock()
	defer w.telling.Unlock()
	watchers, untold := w.look()
	for _, a := range untold {
		for _, w := range watchers {
			w.told(a)
		}
	}
}

// Watch calls told for each Apply and ApplyPlan that makes edits, in the order in which
// they are made, until end is called. There may be several watchers. They all get the same
// Applied and must not change it.
//
// The Draft calls told before Apply returns, but without a lock that an edit or a reader
// needs. told may read the Draft. It must not edit it, nor wait for a lock that is held
// during edits of the Draft: put work that needs such a lock in a queue.
func (d *Draft) Watch(told func(*Applied)) (end func()) {
	x, w := &watcher{told}, &d.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watchers = append(w.watchers, x)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.watchers = slices.DeleteFunc(w.watchers, func(y *watcher) bool { return x == y })
	}
}

// ApplyPlan makes the edits that plan returns, as Apply does. Watchers find by in
// [Applied.By]. No other edit is made from the call of plan until its edits are made. plan may
// read the Draft, but must neither edit nor watch it.
func (d *Draft) ApplyPlan(ctx context.Context, by any, plan func() ([]Edit, error)) error {
	err := d.applyPlan(ctx, by, plan)
	d.watched.tell()
	return err
}

// applyPlan is ApplyPlan without calling the watchers.
func (d *Draft) applyPlan(ctx context.Context, by any, plan func() ([]Edit, error)) error {
	d.planning.Lock()
	defer d.planning.Unlock()
	edits, err := plan()
	if err != nil || len(edits) == 0 {
		return cmp.Or(err, ctx.Err())
	}
	return d.make(ctx, by, edits)
}

// make makes edits, and notes them for the watchers. The caller holds planning.
func (d *Draft) make(ctx context.Context, by any, edits []Edit) error {
	d.editing.Lock()
	defer d.editing.Unlock()
	var seen *effects
	if d.watched.any() {
		seen = &effects{d: d, made: map[Number]bool{}}
	}
	since := d.changes.next
	if err := d.apply(ctx, asScript(edits), logged, seen); err != nil || seen == nil {
		return err
	}
	d.watched.note(&Applied{By: by, Sheets: d.ChangedSince(since), Effects: seen.list})
	return nil
}

// effects collects the effects of one Apply. Its user holds editing, so it reads without
// mu. A nil effects collects nothing.
type effects struct {
	d    *Draft
	made map[Number]bool // new nodes
	list []Effect
}

// of makes an edit by calling do, and adds its effect.
func (s *effects) of(e *Edit, do func() error) error {
	if s == nil {
		return do()
	}
	within := s.within(e)
	if e.Op == AddNode {
		s.made[e.Node] = true
	}
	if within {
		return do()
	}
	effect := Effect{Kind: kindOf(e.Op), Before: s.look(e)}
	if e.Op == RemoveNode {
		effect.Values = s.values(s.d.nodes[e.Node], nil)
	}
	if err := do(); err != nil {
		return err
	}
	effect.After = s.look(e)
	s.list = append(s.list, effect)
	return nil
}

// within reports whether an edit changes something in a new node.
func (s *effects) within(e *Edit) bool {
	switch e.Op {
	case AddNode:
		return s.made[e.Parent]
	case RemoveNode, MoveNode:
		return false
	default:
		return s.made[e.Node]
	}
}

// kindOf returns the kind of an effect.
func kindOf(op Op) ChangeKind {
	switch op {
	case SetAttribute:
		return AttributeSet
	case RemoveAttribute:
		return AttributeGone
	case AddNode, RestoreNode:
		return NodeMade
	case RemoveNode:
		return NodeGone
	case MoveNode:
		return NodeMoved
	case SetKeys:
		return KeysSet
	default:
		return FlagsSet
	}
}

// look returns the present entry that an edit is about.
func (s *effects) look(e *Edit) (at EntryAt) {
	if e.Op == RestoreNode {
		return s.restored(e)
	}
	n := s.d.nodes[e.Node]
	if n == nil {
		return at
	}
	switch e.Op {
	case SetAttribute, RemoveAttribute:
		if i := n.attribute(s.d.index[e.Name]); i >= 0 {
			at.Entry = s.d.attributeEntry(n, &n.nodeState, i)
			at.in(n)
		}
	default:
		if p := n.parent; p != nil {
			at.Entry = s.d.childEntry(p, &p.nodeState, p.kidAt[childKey{n.name, n.ordinal}])
			at.in(p)
		}
	}
	return at
}

// restored returns the entry of a node that has come back.
func (s *effects) restored(e *Edit) (at EntryAt) {
	p := s.d.nodes[e.Parent]
	if p == nil {
		return at
	}
	i, ok := p.stored().numbers[e.Node]
	if n := s.d.nodes[e.Node]; n != nil && n.parent == p {
		i, ok = p.kidAt[childKey{n.name, n.ordinal}]
	}
	if ok && !p.kids[i].dead {
		at.Entry = s.d.childEntry(p, &p.nodeState, i)
		at.in(p)
	}
	return at
}

func (at *EntryAt) in(n *draftNode) { at.Parent, at.ParentAddr = n.number, n.home.Address() }

// values appends the attributes of n and below whose values are not in the first file.
func (s *effects) values(n *draftNode, dst []Entry) []Entry {
	if n == nil {
		return dst
	}
	for i := range n.attrs {
		if a := &n.attrs[i]; a.edited && !a.dead {
			dst = append(dst, s.d.attributeEntry(n, &n.nodeState, i))
		}
	}
	for i := range n.kids {
		dst = s.values(n.kids[i].node, dst)
	}
	return dst
}
