package query

import "slices"

// path is a path of an expression, from the root or, in a predicate, from a node.
type path []step

// step is one step of a path.
type step struct {
	// attribute is set for a step for attributes; else it is for nodes.
	attribute bool
	// deep is set if // is before the step.
	deep bool
	// any is set for a step for all names; else it is for name.
	any        bool
	name       string
	predicates []*condition
	// nth is the place among all that the path so far leads to; 0 is all of them.
	nth int
}

// operator is the operator of a condition.
type operator uint8

const (
	opAnd operator = iota // all of kids
	opOr                  // any of kids
	opNot                 // not its one kid
	opExists
	opCompare
	opContains
	opStartsWith
	opPosition // the position compares to number
	opLast     // the position compares to that of the last
)

// condition is a predicate, or a part of one.
type condition struct {
	op      operator
	kids    []*condition
	path    path       // of opExists to opStartsWith
	compare comparison // of opCompare, opPosition, opLast
	value   literal    // of opCompare to opStartsWith
	number  int        // of opPosition
}

// uses reports whether any part of a condition has one of the operators.
func (c *condition) uses(ops ...operator) bool {
	return slices.Contains(ops, c.op) ||
		slices.ContainsFunc(c.kids, func(kid *condition) bool { return kid.uses(ops...) })
}
