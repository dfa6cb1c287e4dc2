package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Target says what Revert takes back.
type Target struct {
	// Node is a number in the Draft.
	Node Number
	// Attribute is the name of an attribute of the node. If it is empty, the node and
	// everything below it is meant. Node 0 is then the whole Draft.
	Attribute string
}

// ErrPart means that a Target is only a part of something that was added.
var ErrPart = errors.New("it is part of what was added")

// Revert makes what targets name as it is in the base, with everything that is below it in
// the Draft or in the base, and returns how many changes there are less. It makes ordinary
// edits, which are logged as others are, and watchers find by in [Applied.By].
//
// A removed node comes back with its number, its ordinal and its place, and all that is
// below it is as in the base. If another sibling has the ordinal by now, the node gets
// another one. If a target is below a removed node, that node comes back, since neither is
// there without the other. A node that was added is removed, and nodes of the base that were
// moved below it go back to their places; but the error matches [ErrPart] if the target is
// only a part of what was added, and [ErrGone] if neither the Draft nor the base has it.
//
// All edits are made, or none. If their record is too large for a log, they are made in a
// few steps, each of which leaves a valid Draft.
//
// Revert must not be called between a Snapshot and the Rebase on what was written of it: a
// node that comes back is not in that file.
func (d *Draft) Revert(ctx context.Context, by any, what []Target) (taken int64, err error) {
	taken, err = d.revert(ctx, by, what)
	d.watched.tell()
	return taken, err
}

// revert is Revert without calling the watchers.
func (d *Draft) revert(ctx context.Context, by any, what []Target) (taken int64, err error) {
	d.planning.Lock()
	defer d.planning.Unlock()
	before := d.Pending()
	edits, err := d.planRevert(what)
	if err != nil {
		return 0, err
	}
	for len(edits) > 0 {
		n := stepLen(edits)
		if err := d.make(ctx, by, edits[:n]); err != nil {
			return before - d.Pending(), err
		}
		edits = edits[n:]
	}
	return before - d.Pending(), ctx.Err()
}

// Settle calls drop, and blocks edits meanwhile, if there are no changes. drop may drop the
// records of all edits: what they have left in the Draft, such as the ordinals of nodes that
// were moved and moved back, is taken back before. ok is false if there are changes.
func (d *Draft) Settle(ctx context.Context, drop func() error) (ok bool, err error) {
	ok, err = d.settle(ctx, drop)
	d.watched.tell()
	return ok, err
}

// settle is Settle without calling the watchers.
func (d *Draft) settle(ctx context.Context, drop func() error) (ok bool, err error) {
	d.planning.Lock()
	defer d.planning.Unlock()
	if d.Pending() > 0 {
		return false, nil
	}
	edits, err := d.planRevert([]Target{{}})
	for len(edits) > 0 && err == nil {
		n := stepLen(edits)
		err = d.make(ctx, nil, edits[:n])
		edits = edits[n:]
	}
	if err != nil {
		return true, err
	}
	d.editing.Lock()
	defer d.editing.Unlock()
	return true, drop()
}

// stepLen returns how many edits fit in one record.
func stepLen(edits []Edit) int {
	const most = 16 << 20
	size := int64(0)
	for i := range edits {
		if size += RecordBound(edits[i : i+1]); size > most && i > 0 {
			return i
		}
	}
	return len(edits)
}

// planRevert returns the edits that take targets back.
func (d *Draft) planRevert(what []Target) ([]Edit, error) {
	d.editing.Lock()
	defer d.editing.Unlock()
	v := newSurvey(d.present())
	r := reverter{d: d, survey: v, in: make([]bool, len(v.nodes)), goes: make([]fate, len(v.nodes))}
	if err := r.findSpans(); err != nil {
		return nil, err
	}
	for _, t := range what {
		if err := r.target(t); err != nil {
			return nil, err
		}
	}
	return r.plan()
}

// reverter plans the edits that make nodes as they are in the base.
type reverter struct {
	d *Draft
	*survey
	// in says which nodes are to be as in the base, and todo has those of them whose
	// relatives are still to be looked at.
	in   []bool
	todo []int
	// attrs are the attributes of other nodes that are to be as in the base.
	attrs []attributeOf
	// spans are the removed nodes and the strays. gone finds the former and strayed the
	// latter.
	spans   []span
	gone    map[kidAt]int
	strayed map[int]int
	goes    []fate
}

type attributeOf struct {
	node int
	name string
}

// span is the numbers of a node of the base and of all that is below it there. The node was
// removed, or it is a stray: it is somewhere else, and the parent that it has in the base
// was removed.
type span struct {
	first, end Number
	// removed is the place that the node has in the base, unless it is a stray.
	removed kidAt
	stray   int // the place in nodes, or -1
	// up is the span that this one is in, or -1, and strays are those in this one.
	up     int
	strays []int
	// back says that the node comes back.
	back bool
}

// fate says whether a node that is to be as in the base goes. New nodes do. Strays do, too:
// they come back with the node below which the base has them.
type fate uint8

const (
	unknown fate = iota
	staying
	going
)

// findSpans finds the removed nodes and the strays.
func (r *reverter) findSpans() error {
	r.gone, r.strayed = map[kidAt]int{}, map[int]int{}
	for i := range r.nodes {
		x := &r.nodes[i]
		if !r.isNew(i) && !r.inPlace(i) {
			if _, ok := r.homes[x.n.number]; !ok {
				if err := r.addSpan(x.n.number, int64(x.n.base.Entries()), span{stray: i}); err != nil {
					return err
				}
			}
		}
		for k := range x.kids {
			if r.isGone(x, k) {
				c := &x.kids[k]
				if err := r.addSpan(c.number, int64(r.s.base.Entries(c.addr)), span{removed: kidAt{i, k}, stray: -1}); err != nil {
					return err
				}
			}
		}
	}
	slices.SortFunc(r.spans, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(y.end, x.end))
	})
	for i := range r.spans {
		s := &r.spans[i]
		s.up = r.holding(s.first, i-1)
		if s.stray < 0 {
			r.gone[s.removed] = i
			continue
		}
		r.strayed[s.stray] = i
		if s.up >= 0 {
			r.spans[s.up].strays = append(r.spans[s.up].strays, s.stray)
		}
	}
	return nil
}

func (r *reverter) addSpan(n Number, entries int64, s span) error {
	number, err := r.s.numberOf(n)
	if err != nil {
		return err
	}
	s.first, s.end = number, number+Number(entries)
	r.spans = append(r.spans, s)
	return nil
}

// holding returns the smallest span that has a number, of those up to a place, or -1.
func (r *reverter) holding(n Number, upTo int) int {
	i := upTo
	for i >= 0 && (n < r.spans[i].first || n >= r.spans[i].end) {
		i = r.spans[i].up
	}
	return i
}

// target adds what is to be as in the base.
func (r *reverter) target(t Target) error {
	i, there := r.at(t.Node)
	if !there { // another node may have been made of it
		if i = slices.IndexFunc(r.nodes, func(x surveyed) bool { return x.n.again != nil && x.n.again.kid.number == t.Node }); i >= 0 {
			there = true
		}
	}
	switch {
	case !there:
		return r.untouched(t.Node)
	case r.isNew(i) && (t.Attribute != "" || r.isNew(r.nodes[i].parent)):
		return fmt.Errorf("datacenter: node %d: %w", t.Node, ErrPart)
	case t.Attribute != "":
		r.attrs = append(r.attrs, attributeOf{i, t.Attribute})
	default:
		r.include(i)
	}
	r.follow()
	return nil
}

// untouched adds a node that is no draft node: one that was removed, or one that is as in
// the base.
func (r *reverter) untouched(n Number) error {
	number, ok, err := r.d.labels.own(r.d, n) // a node that was made again is gone when it is removed again
	if err != nil {
		return err
	}
	if !ok {
		return goneError(n)
	}
	last, _ := slices.BinarySearchFunc(r.spans, number+1, func(s span, n Number) int { return cmp.Compare(s.first, n) })
	if i := r.holding(number, last-1); i >= 0 && r.spans[i].stray < 0 {
		r.bring(i)
	}
	r.follow()
	return nil
}

func (r *reverter) include(i int) {
	if !r.in[i] {
		r.in[i] = true
		r.todo = append(r.todo, i)
	}
}

// bring brings a removed node back. What the base has below it comes with it, so that must
// not be somewhere else.
func (r *reverter) bring(i int) {
	s := &r.spans[i]
	if s.back {
		return
	}
	s.back = true
	for _, stray := range s.strays {
		r.include(stray)
	}
}

// follow adds what has to be as in the base with the nodes in todo: all that is below them,
// now or in the base, and what their places depend on.
func (r *reverter) follow() {
	for len(r.todo) > 0 {
		i := r.todo[len(r.todo)-1]
		r.todo = r.todo[:len(r.todo)-1]
		x := &r.nodes[i]
		if s, ok := r.strayed[i]; ok && r.spans[s].up >= 0 {
			r.bringOuter(r.spans[s].up)
		}
		for k := range x.kids {
			c := &x.kids[k]
			if n, there := r.at(c.number); there && (c.node != nil || c.dead && c.stored) {
				r.include(n)
			}
			if g, ok := r.gone[kidAt{i, k}]; ok {
				r.bring(g)
			}
		}
	}
}

// bringOuter brings the removed node back that a stray belongs below.
func (r *reverter) bringOuter(i int) {
	for i >= 0 && r.spans[i].stray >= 0 {
		r.include(r.spans[i].stray)
		i = r.spans[i].up
	}
	if i >= 0 {
		r.bring(i)
	}
}

// fateOf returns the fate of a node that is to be as in the base.
func (r *reverter) fateOf(i int) fate {
	if !r.in[i] {
		return staying
	}
	if r.goes[i] == unknown {
		r.goes[i] = r.findFate(i)
	}
	return r.goes[i]
}

func (r *reverter) findFate(i int) fate {
	x := &r.nodes[i]
	switch _, stray := r.strayed[i]; {
	case r.isNew(i) || stray:
		return going
	case x.parent < 0:
		return staying
	case r.inPlace(i):
		return r.fateOf(x.parent)
	}
	return r.fateOf(r.homes[x.n.number].parent)
}

// plan returns the edits. Nodes that are new go first where nothing has to be moved out of
// them, to make room. Nodes are moved from the top of the base down, so that none has to go
// below itself.
func (r *reverter) plan() ([]Edit, error) {
	removals, sets, err := r.contents()
	if err != nil {
		return nil, err
	}
	early, late := r.nodeRemovals()
	edits := slices.Concat(removals, early, r.moves(early), late)
	for i := range r.spans {
		s := &r.spans[i]
		if s.back && r.fateOf(s.removed.parent) == staying {
			p := &r.nodes[s.removed.parent]
			edits = append(edits, Edit{Op: RestoreNode, Node: p.kids[s.removed.kid].number, Parent: p.n.number})
		}
	}
	return append(edits, sets...), nil
}

// nodeRemovals returns the removals of what goes: early where nothing below stays.
func (r *reverter) nodeRemovals() (early, late []Edit) {
	stay := make([]int, len(r.nodes)+1) // how many of the nodes before stay
	for i := range r.nodes {
		stay[i+1] = stay[i]
		if r.fateOf(i) == staying {
			stay[i+1]++
		}
	}
	for i := range r.nodes {
		x := &r.nodes[i]
		if r.fateOf(i) == staying || r.fateOf(x.parent) == going {
			continue
		}
		if e := (Edit{Op: RemoveNode, Node: x.n.number}); stay[x.end] == stay[i] {
			early = append(early, e)
		} else {
			late = append(late, e)
		}
	}
	return early, late
}

// moves returns the moves of nodes back to their places. removed are the removals before.
func (r *reverter) moves(removed []Edit) (edits []Edit) {
	var moved []int
	for i := range r.nodes {
		if r.in[i] && r.fateOf(i) == staying && !r.inPlace(i) {
			moved = append(moved, i)
		}
	}
	depths := map[int]int{}
	for _, i := range moved {
		depths[i] = r.baseDepth(i)
	}
	slices.SortStableFunc(moved, func(x, y int) int { return cmp.Compare(depths[x], depths[y]) })
	away := map[Number]bool{} // nodes that are not where they were
	for _, e := range removed {
		away[e.Node] = true
	}
	spare := uint32(math.MaxUint32)
	for _, i := range moved {
		x := &r.nodes[i]
		home := r.homes[x.n.number]
		p := &r.nodes[home.parent]
		k := &p.kids[home.kid]
		if at, taken := p.n.kidAt[childKey{k.name, k.ordinal}]; taken {
			other := &p.kids[at]
			if o, draft := r.at(other.number); draft && o != i && r.in[o] && !away[other.number] {
				spare--
				edits = append(edits, Edit{
					Op: MoveNode, Node: other.number, Parent: p.n.number, Name: r.s.name(k.name),
					Ordinal: spare, Rank: other.rank, replayed: true,
				})
			}
		}
		edits = append(edits, Edit{
			Op: MoveNode, Node: x.n.number, Parent: p.n.number, Name: r.s.name(k.name),
			Ordinal: k.ordinal, Rank: k.rank, replayed: true,
		})
		away[x.n.number] = true
	}
	return edits
}

// baseDepth returns how many nodes are above a node in the base, or above the stray that it
// is below there.
func (r *reverter) baseDepth(i int) (depth int) {
	for r.nodes[i].parent >= 0 {
		if _, stray := r.strayed[i]; stray {
			break
		}
		if r.inPlace(i) {
			i = r.nodes[i].parent
		} else {
			i = r.homes[r.nodes[i].n.number].parent
		}
		depth++
	}
	return depth
}

// contents returns the edits of the attributes, keys and flags of nodes that stay: first
// the removals.
func (r *reverter) contents() (removals, sets []Edit, err error) {
	for i := range r.nodes {
		if !r.in[i] || r.fateOf(i) == going {
			continue
		}
		x := &r.nodes[i]
		if err := r.attributesOf(x, "", &removals, &sets); err != nil {
			return nil, nil, err
		}
		base := x.n.base
		if keys := base.Keys(); !slices.Equal(keys, r.s.definition(x.key)) {
			sets = append(sets, Edit{Op: SetKeys, Node: x.n.number, Keys: keys})
		}
		if flags := base.Flags(); flags != x.flags {
			sets = append(sets, Edit{Op: SetFlags, Node: x.n.number, Flags: flags})
		}
	}
	for _, a := range r.attrs {
		if !r.in[a.node] {
			if err := r.attributesOf(&r.nodes[a.node], a.name, &removals, &sets); err != nil {
				return nil, nil, err
			}
		}
	}
	return removals, sets, nil
}

// attributesOf appends the edits of the attributes of a node, or of one.
func (r *reverter) attributesOf(x *surveyed, only string, removals, sets *[]Edit) (err error) {
	r.attributes(x, Change{Node: x.n.number}, func(c Change) {
		if only != "" && c.Name != only {
			return
		}
		switch {
		case c.Lost && err == nil:
			err = fmt.Errorf("datacenter: the attribute %q of node %d can't be read any more", c.Name, c.Node)
		case c.Old.Type() == 0:
			*removals = append(*removals, Edit{Op: RemoveAttribute, Node: c.Node, Name: c.Name})
		default:
			*sets = append(*sets, Edit{
				Op: SetAttribute, Node: c.Node, Name: c.Name, Value: c.Old, Attr: x.n.savedNumber(r.d.index[c.Name]), isBack: true,
			})
		}
	})
	return err
}
