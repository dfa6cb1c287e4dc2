package query

import (
	"context"
	"math/bits"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/treepath"
)

// evaluation is a query that is evaluated over a file.
type evaluation struct {
	ctx     context.Context
	file    *datacenter.File
	names   *treepath.Names
	scratch scratch
	memos   int // how many may still be made
	err     error
}

// stepSet is a set of steps of a searcher, as bits. A step in the set of a node is looked
// for among its children or, if it is for attributes, at the node.
type stepSet uint64

func (s stepSet) has(i int) bool { return s>>i&1 != 0 }

// first returns the lowest step of a set that is not empty.
func (s stepSet) first() int { return bits.TrailingZeros64(uint64(s)) }

// boundStep is a step with the name's index in the file.
type boundStep struct {
	any        bool
	name       uint16
	predicates []boundPredicate
	// nth is as in the step, and came counts what it found so far.
	nth, came int
}

func (s *boundStep) fits(name uint16) bool { return s.any || s.name == name }

// boundPredicate is a predicate, and the index of its counter of positions in a level.
// positions and last say whether it uses them.
type boundPredicate struct {
	*test
	counter         int
	positions, last bool
}

// searcher finds what some paths lead to, from one node on. The steps of all paths are in
// one list, each path's in order.
type searcher struct {
	*evaluation
	steps []boundStep
	// begin are the first steps of all paths, end the last ones, attributes those for
	// attributes, and deep those with // before them.
	begin, end, attributes, deep stepSet
	// counted are the steps of which the number of all matches is counted.
	counted  stepSet
	counters int
	// onNode and onAttribute are called with what was found. They count what counts in
	// found, and return false if that is enough.
	onNode      func(n datacenter.Node) bool
	onAttribute func(n datacenter.Node, a datacenter.Attribute) bool
	found       int64

	path   *treepath.Path // nil if not needed
	levels []*level
	memo   []memo
}

// searcher makes the searcher of paths.
func (r *evaluation) searcher(paths []path) *searcher {
	s := &searcher{evaluation: r}
	for _, p := range paths {
		if r.leadsNowhere(p) {
			continue
		}
		begin := len(s.steps)
		s.begin |= 1 << begin
		for _, st := range p {
			s.bind(st)
			if st.nth > 0 {
				s.counted |= 1<<len(s.steps) - 1<<begin
			}
		}
		s.end |= 1 << (len(s.steps) - 1)
	}
	return s
}

// leadsNowhere reports whether a path has a name that the file lacks.
func (r *evaluation) leadsNowhere(p path) bool {
	return slices.ContainsFunc(p, func(st step) bool { return !st.any && r.names.Index(st.name) == 0 })
}

func (s *searcher) bind(st step) {
	bit := stepSet(1) << len(s.steps)
	if st.attribute {
		s.attributes |= bit
	}
	if st.deep {
		s.deep |= bit
	}
	b := boundStep{any: st.any, nth: st.nth}
	if !st.any {
		b.name = s.names.Index(st.name)
	}
	for _, c := range st.predicates {
		b.predicates = append(b.predicates, boundPredicate{
			test: s.test(c), counter: s.counters,
			positions: c.uses(opPosition, opLast), last: c.uses(opLast),
		})
		s.counters++
	}
	s.steps = append(s.steps, b)
}

// named returns the names of the children that a set of steps selects, ascending. ok is
// false if it selects children of any name.
func (s *searcher) named(set stepSet, dst []uint16) (names []uint16, ok bool) {
	for ; set != 0; set &= set - 1 {
		i := set.first()
		if s.steps[i].any || s.deep.has(i) {
			return nil, false
		}
		if name := s.steps[i].name; !slices.Contains(dst, name) {
			dst = append(dst, name)
		}
	}
	slices.Sort(dst)
	return dst, true
}

// test is a condition with the indexes of its names.
type test struct {
	op   operator
	kids []*test
	// search finds what the path leads to, unless that is an attribute of the node itself:
	// then attribute is its index, 0 if the file does not have the name.
	search    *searcher
	attribute uint16
	compare   comparison
	value     literal
	number    int
	text      uint16 // the index of __value__; 0 if the file has no texts
}

func (r *evaluation) test(c *condition) *test {
	t := &test{op: c.op, compare: c.compare, value: c.value, number: c.number, text: r.names.Index(textName)}
	for _, kid := range c.kids {
		t.kids = append(t.kids, r.test(kid))
	}
	if len(c.path) == 0 {
		return t
	}
	if st := c.path[0]; len(c.path) == 1 && st.attribute && !st.any && !st.deep {
		t.attribute = r.names.Index(st.name)
		return t
	}
	t.search = r.searcher([]path{c.path})
	t.search.onNode = func(n datacenter.Node) bool {
		ok, err := t.nodeHolds(r, n)
		return t.note(r, ok, err)
	}
	t.search.onAttribute = func(_ datacenter.Node, a datacenter.Attribute) bool {
		ok, err := t.attributeHolds(r, a)
		return t.note(r, ok, err)
	}
	return t
}
