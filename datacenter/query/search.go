package query

import (
	"lorefs/datacenter"
	"lorefs/datacenter/treepath"
)

// level is the state of a walk over the children of one node.
type level struct {
	siblings treepath.Siblings
	// positions counts, for each predicate, the children that came to it so far. lasts
	// counts all that do; 0 is not known yet.
	positions, lasts []int
}

// start searches from n on.
func (s *searcher) start(n datacenter.Node) { s.visit(n, s.begin, 0) }

// visit searches the attributes and the children of n for a set of steps. It returns false
// if the search is over.
func (s *searcher) visit(n datacenter.Node, set stepSet, depth int) bool {
	if here := set & s.attributes; here != 0 {
		if !s.visitAttributes(n, here) {
			return false
		}
		set &^= s.attributes &^ s.deep
	}
	if set == 0 || n.ChildCount() == 0 {
		return true
	}
	run, forget := n.ChildRun(), set&s.counted != 0
	if !forget && s.barren(run, set) {
		return true
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return false
	}
	before := s.found
	if !s.visitChildren(n, set, depth) {
		return false
	}
	if !forget && s.found == before {
		s.noteBarren(run, set)
	}
	return true
}

func (s *searcher) visitAttributes(n datacenter.Node, set stepSet) bool {
	if set&(set-1) == 0 && !s.steps[set.first()].any {
		a, ok, err := attributeNamed(n, s.steps[set.first()].name)
		if s.err = err; err != nil {
			return false
		}
		return !ok || s.onAttribute(n, a)
	}
	for a, err := range n.Attributes() {
		if s.err = err; err != nil {
			return false
		}
		for m := set; m != 0; m &= m - 1 {
			if s.steps[m.first()].fits(a.NameIndex()) {
				if !s.onAttribute(n, a) {
					return false
				}
				break
			}
		}
	}
	return true
}

func (s *searcher) visitChildren(n datacenter.Node, set stepSet, depth int) bool {
	l := s.level(depth)
	l.siblings.Begin(n)
	more := true
	err := s.eachChild(n, set, func(c datacenter.Node) bool {
		more = s.visitChild(n, c, set, l, depth)
		return more
	})
	if err != nil {
		s.err = err
	}
	return more && err == nil
}

// eachChild visits the children of n that a set of steps may select, in order.
func (s *searcher) eachChild(n datacenter.Node, set stepSet, visit func(c datacenter.Node) bool) error {
	var room [maxSteps]uint16
	names, ok := s.named(set, room[:0])
	if !ok || !n.Sorted() {
		for c, err := range n.Children() {
			if err != nil {
				return err
			}
			if !visit(c) {
				break
			}
		}
		return nil
	}
	for _, name := range names {
		first, ok, err := n.ChildNamed(name, 0)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for c, err := range n.ChildrenFrom(n.ChildIndex(first)) {
			if err != nil {
				return err
			}
			if c.NameIndex() != name {
				break
			}
			if !visit(c) {
				return nil
			}
		}
	}
	return nil
}

// visitChild searches c, a child of n, and below.
func (s *searcher) visitChild(n, c datacenter.Node, set stepSet, l *level, depth int) bool {
	ordinal := 0
	if s.path != nil {
		ordinal = l.siblings.Next(c)
	}
	next, found := set&s.deep, false
	for m := set &^ s.attributes; m != 0; m &= m - 1 {
		i := m.first()
		if !s.steps[i].fits(c.NameIndex()) {
			continue
		}
		switch ok, err := s.chosen(n, c, i, l); {
		case err != nil:
			s.err = err
			return false
		case ok && s.end.has(i):
			found = true
		case ok:
			next |= 1 << (i + 1)
		}
	}
	if !found && next == 0 {
		return true
	}
	if s.path != nil {
		s.path.Push(c.NameIndex(), ordinal)
		defer s.path.Pop()
	}
	if found && !s.onNode(c) {
		return false
	}
	return next == 0 || s.visit(c, next, depth+1)
}

// chosen reports whether c, whose name fits step i, passes the step's predicates.
func (s *searcher) chosen(n, c datacenter.Node, i int, l *level) (bool, error) {
	st := &s.steps[i]
	for k := range st.predicates {
		p := &st.predicates[k]
		at := place{}
		if p.positions {
			l.positions[p.counter]++
			at.position = l.positions[p.counter]
		}
		if p.last {
			if err := s.findLast(n, i, k, l); err != nil {
				return false, err
			}
			at.last = l.lasts[p.counter]
		}
		if ok, err := p.holds(s.evaluation, c, at); !ok || err != nil {
			return false, err
		}
	}
	if st.nth == 0 {
		return true, nil
	}
	st.came++
	return st.came == st.nth, nil
}

// findLast counts the children of n that come to predicate k of step i: those that pass the
// predicates before it.
func (s *searcher) findLast(n datacenter.Node, i, k int, l *level) error {
	st := &s.steps[i]
	last := &l.lasts[st.predicates[k].counter]
	if *last != 0 {
		return nil
	}
	var positions [maxPredicates]int
	var failed error
	count := 0
	err := s.eachChild(n, 1<<i, func(c datacenter.Node) bool {
		if !st.fits(c.NameIndex()) {
			return true
		}
		for j := range k {
			p := &st.predicates[j]
			positions[j]++
			// The predicates before have been tested for c's siblings already, so lasts is
			// known.
			ok, err := p.holds(s.evaluation, c, place{positions[j], l.lasts[p.counter]})
			if failed = err; err != nil || !ok {
				return err == nil
			}
		}
		count++
		return true
	})
	*last = count
	if failed != nil {
		return failed
	}
	return err
}

// level returns the level of a depth, ready for other children.
func (s *searcher) level(depth int) *level {
	if depth == len(s.levels) {
		s.levels = append(s.levels, &level{positions: make([]int, s.counters), lasts: make([]int, s.counters)})
	}
	l := s.levels[depth]
	clear(l.positions)
	clear(l.lasts)
	return l
}
