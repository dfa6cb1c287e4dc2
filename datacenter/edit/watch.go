package edit

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"lorefs/datacenter"
)

// Applied is what a watcher is told of edits that were made.
type Applied struct {
	// By is who made them, as [Draft.ApplyPlan] was told; nil if it was not.
	By any
	// Sheets are those that changed.
	Sheets []SheetChange
	// Effects are what the edits did, in their order. What they did within a node
	// that is as new is left out: nobody can have looked at that.
	Effects []Effect
}

// Effect is what one edit did.
type Effect struct {
	// Kind is NodeMoved also for a node that has but another Rank now.
	Kind ChangeKind
	// Before and After are the attribute or the node as it was and as it is. One that
	// was not there, or is not there any more, has no Name.
	Before, After EntryAt
	// Values are of NodeGone: the attributes in the node and below whose values the
	// first file has not, so that who has one open can go on reading it.
	Values []Entry
}

// EntryAt is an attribute or a node, and the node that has it.
type EntryAt struct {
	Entry
	// Parent is 0 for the root as well. If a file holds it, ParentAddr is where.
	Parent     Number
	ParentAddr datacenter.Address
}

// watched is who watches a Draft, and what they were not told so far.
type watched struct {
	// telling is held by who tells them.
	telling sync.Mutex
	// mu guards what follows. Nothing else is taken under it.
	mu       sync.Mutex
	watchers []*watcher
	untold   []*Applied
}

type watcher struct{ told func(*Applied) }

// look gives who watches, and takes what they were not told.
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

// note keeps what is to be told.
func (w *watched) note(a *Applied) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.untold = append(w.untold, a)
}

// tell tells what was noted, in its order. When it returns, nobody else is still telling
// something of it.
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

// Watch has told called for each Apply and ApplyPlan that makes edits, in the order in
// which they are made; end stops that. Several may watch. All are given the same
// Applied, which they must not change.
//
// The Draft calls it before that Apply returns, but holds no lock that an edit or a reader
// needs. It may read the Draft, but neither edit it nor wait for a lock that somebody holds
// who edits it: what needs such a lock is put into a queue.
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

// ApplyPlan makes the edits that plan gives, as Apply does, and tells watchers that they
// are by somebody. Nothing else is edited from before plan is called until they are made:
// it may read the Draft, but neither edit it nor watch it.
func (d *Draft) ApplyPlan(ctx context.Context, by any, plan func() ([]Edit, error)) error {
	err := d.applyPlan(ctx, by, plan)
	d.watched.tell()
	return err
}

// applyPlan is ApplyPlan, but leaves what watchers are to be told.
func (d *Draft) applyPlan(ctx context.Context, by any, plan func() ([]Edit, error)) error {
	d.planning.Lock()
	defer d.planning.Unlock()
	edits, err := plan()
	if err != nil || len(edits) == 0 {
		return cmp.Or(err, ctx.Err())
	}
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

// effects collects what the edits of one Apply do. It holds editing, so it reads
// without mu. A nil one collects nothing.
type effects struct {
	d    *Draft
	made map[Number]bool // nodes that are new
	list []Effect
}

// of makes an edit by do, and notes what it does.
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

// within tells whether an edit is of what is in a new node.
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

// kindOf is what an edit does, as it is told.
func kindOf(op Op) ChangeKind {
	switch op {
	case SetAttribute:
		return AttributeSet
	case RemoveAttribute:
		return AttributeGone
	case AddNode:
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

// look gives what an edit is about, as it is now.
func (s *effects) look(e *Edit) (at EntryAt) {
	n := s.d.nodes[e.Node]
	if n == nil {
		return at
	}
	switch e.Op {
	case SetAttribute, RemoveAttribute:
		if i := n.attribute(s.d.index[e.Name]); i >= 0 {
			at.Entry = s.d.attributeEntry(n, i)
			at.in(n)
		}
	default:
		if p := n.parent; p != nil {
			at.Entry = s.d.childEntry(p, p.kidAt[childKey{n.name, n.ordinal}])
			at.in(p)
		}
	}
	return at
}

func (at *EntryAt) in(n *draftNode) { at.Parent, at.ParentAddr = n.number, n.home.Address() }

// values appends the attributes in n and below whose values no file has.
func (s *effects) values(n *draftNode, dst []Entry) []Entry {
	if n == nil {
		return dst
	}
	for i := range n.attrs {
		if a := &n.attrs[i]; a.edited && !a.dead {
			dst = append(dst, s.d.attributeEntry(n, i))
		}
	}
	for i := range n.kids {
		dst = s.values(n.kids[i].node, dst)
	}
	return dst
}
