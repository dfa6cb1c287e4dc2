package plan

import (
	"cmp"
	"slices"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/align"
)

// order adds the edits that make new siblings, and that put the others in order. A node that
// stays in its place keeps its rank. A node that goes between two others gets a rank between
// theirs. taken says which of ys are not new.
func (p *planner) order(s *siblings, taken []bool) error {
	o := ordering{p: p, s: s, from: make([]int32, len(s.ys))}
	for j := range o.from {
		o.from[j] = align.None
	}
	inOrder, last, fresh := true, int32(align.None), false
	for i, j := range s.to {
		if j != align.None {
			o.from[j] = int32(i)
			inOrder = inOrder && j > last
			last = j
		}
	}
	for _, there := range taken {
		fresh = fresh || !there
	}
	if inOrder && !fresh && !s.rekeyed {
		return nil
	}
	if err := o.ranks(); err != nil {
		return err
	}
	if s.classes == nil {
		all := make([]int32, len(s.ys))
		for j := range all {
			all[j] = int32(j)
		}
		return o.class(all)
	}
	for _, class := range o.byKeys() {
		if err := o.class(class); err != nil {
			return err
		}
	}
	return nil
}

// ordering gives ranks to siblings.
type ordering struct {
	p *planner
	s *siblings
	// from is the inverse of to.
	from []int32
	// old has the ordinal and the rank of each of xs. byRank has their places sorted by
	// rank, which may differ from the order of xs if keys have changed.
	old    []slot
	byRank []int32
	// last is the highest rank in use, and ordinal the next free ordinal.
	last    uint64
	ordinal uint32
	types   *pathTypes
}

// ranks sets old, byRank and last.
func (o *ordering) ranks() error {
	if len(o.s.xs) == 0 {
		return nil
	}
	places, err := o.p.places(o.s)
	if err != nil {
		return err
	}
	for _, x := range o.s.xs {
		at := places[x.number]
		o.old = append(o.old, at)
		o.last = max(o.last, at.rank)
		o.ordinal = max(o.ordinal, at.ordinal+1)
	}
	order := make([]int32, len(o.old))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(o.old[a].rank, o.old[b].rank) })
	o.byRank = make([]int32, len(order))
	for n, i := range order {
		o.byRank[i] = int32(n)
	}
	return nil
}

// places returns the ordinals and ranks of siblings, by their numbers.
func (p *planner) places(s *siblings) (map[edit.Number]slot, error) {
	entries, err := p.children(s.parent)
	if err != nil {
		return nil, err
	}
	removed, err := s.removed()
	if err != nil {
		return nil, err
	}
	places := make(map[edit.Number]slot, len(entries))
	for i := range entries {
		places[entries[i].Number] = slot{ordinal: entries[i].Ordinal, rank: entries[i].Rank}
	}
	for _, k := range removed[s.name] {
		places[k.number] = k.slot
	}
	return places, nil
}

// children returns the children of a node, with their places.
func (p *planner) children(o oldNode) ([]edit.Entry, error) {
	if o.removed && !o.touched {
		return p.draft.SavedChildren(o.number, o.node)
	}
	if !o.removed {
		if err := p.draft.Open(o.number); err != nil {
			return nil, err
		}
	}
	entries, ok, err := p.reader(o).OrderedChildren(o.number)
	if err == nil && !ok {
		err = gone(o.number)
	}
	return entries, err
}

// byKeys returns the classes of ys whose order counts.
func (o *ordering) byKeys() [][]int32 {
	var classes [][]int32
	places := map[uint64]int{}
	for j, h := range o.s.classes {
		i, ok := places[h]
		if !ok {
			i = len(classes)
			places[h] = i
			classes = append(classes, nil)
		}
		classes[i] = append(classes[i], int32(j))
	}
	return classes
}

// class puts a class of ys in order.
func (o *ordering) class(ys []int32) error {
	from := make([]int32, len(ys))
	for k, j := range ys {
		if from[k] = o.from[j]; from[k] != align.None {
			from[k] = o.byRank[from[k]]
		}
	}
	stays := align.Ascending(from)
	low := uint64(0)
	for k := 0; k < len(ys); {
		end := k
		for end < len(ys) && !stays[end] {
			end++
		}
		high := uint64(0) // no node follows
		if end < len(ys) {
			high = o.old[o.from[ys[end]]].rank
		}
		step, ok := room(low, high, end-k)
		if !ok { // append all that follow
			clear(stays[k:])
			continue
		}
		for ; k < end; k++ {
			if high == 0 {
				o.last += edit.RankGap
				low = o.last
			} else {
				low += step
			}
			if err := o.put(ys[k], low); err != nil {
				return err
			}
		}
		low = high
		k++
	}
	return nil
}

// room returns the step between n ranks that go between two others. high 0 means that there
// is no upper limit. ok is false if they do not fit.
func room(low, high uint64, n int) (step uint64, ok bool) {
	if high == 0 || n == 0 {
		return 0, true
	}
	if high <= low {
		return 0, false
	}
	step = (high - low) / uint64(n+1)
	return step, step > 0
}

// put adds a sibling with a rank, or changes the rank of one.
func (o *ordering) put(j int32, rank uint64) error {
	p, s := o.p, o.s
	if i := o.from[j]; i != align.None {
		p.edits = append(p.edits, edit.Edit{
			Op: edit.MoveNode, Node: s.xs[i].number, Parent: s.parent.number,
			Name: p.names.name(s.xs[i].name), Ordinal: o.old[i].ordinal, Rank: rank,
		})
		return nil
	}
	if o.types == nil {
		o.types = p.typesHere()
	}
	at := slot{parent: s.parent.number, ordinal: o.ordinal, rank: rank}
	o.ordinal++
	return p.add(at, s.ys[j].newRef, o.types)
}
