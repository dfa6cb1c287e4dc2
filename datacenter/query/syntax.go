package query

import "slices"

// path is a path of an expression, from the root or, in a predicate, from a node.
type path []step

// step is one step of a path.
type step struct {
	// attribute tells that the step is for attributes, else for nodes.
	attribute bool
	// deep tells that // is before it.
	deep bool
	// any tells that it is for all names, else for name.
	any        bool
	name       string
	predicates []*condition
	// nth is the place among all that the path so far leads to; 0 is all of them.
	nth int
}

// operator tells what a condition is.
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

// uses tells whether any part of a condition is of an operator that is asked for.
func (c *condition) uses(ops ...operator) bool {
	return slices.Contains(ops, c.op) ||
		slices.ContainsFunc(c.kids, func(kid *condition) bool { return kid.uses(ops...) })
}
