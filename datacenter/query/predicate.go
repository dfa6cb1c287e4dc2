package query

import "lorefs/datacenter"

// place is the position of a child among those that come to a predicate.
type place struct{ position, last int }

// holds reports whether a test is true of a node.
func (t *test) holds(r *evaluation, n datacenter.Node, at place) (bool, error) {
	switch t.op {
	case opAnd, opOr:
		for _, kid := range t.kids {
			ok, err := kid.holds(r, n, at)
			if err != nil || ok == (t.op == opOr) {
				return ok, err
			}
		}
		return t.op == opAnd, nil
	case opNot:
		ok, err := t.kids[0].holds(r, n, at)
		return !ok, err
	case opPosition:
		return holds(t.compare, at.position, t.number), nil
	case opLast:
		return holds(t.compare, at.position, at.last), nil
	}
	if t.search == nil {
		return t.ownHolds(r, n, t.attribute)
	}
	t.search.found = 0
	t.search.start(n)
	return t.search.found > 0, r.err
}

// attributeHolds reports whether a test is true of an attribute that its path leads to.
func (t *test) attributeHolds(r *evaluation, a datacenter.Attribute) (bool, error) {
	switch t.op {
	case opCompare:
		return matches(&r.scratch, a, t.compare, &t.value)
	case opContains:
		return r.scratch.contains(a, &t.value)
	case opStartsWith:
		return r.scratch.startsWith(a, &t.value)
	}
	return true, nil
}

// nodeHolds is attributeHolds for a node. Unless the operator is opExists it tests the
// node's text.
func (t *test) nodeHolds(r *evaluation, n datacenter.Node) (bool, error) {
	if t.op == opExists {
		return true, nil
	}
	return t.ownHolds(r, n, t.text)
}

// ownHolds is attributeHolds for n's attribute with a name.
func (t *test) ownHolds(r *evaluation, n datacenter.Node, name uint16) (bool, error) {
	if name == 0 {
		return false, nil
	}
	a, ok, err := attributeNamed(n, name)
	if err != nil || !ok {
		return false, err
	}
	return t.attributeHolds(r, a)
}

// note takes a result of t's search. It returns false when one is true, which is enough.
func (t *test) note(r *evaluation, ok bool, err error) (more bool) {
	if err != nil {
		r.err = err
		return false
	}
	if ok {
		t.search.found++
	}
	return !ok
}

// attributeNamed finds the attribute of n with a name index. Going through a short run
// reads it once, while a binary search reads each step.
func attributeNamed(n datacenter.Node, name uint16) (datacenter.Attribute, bool, error) {
	const short = 32
	if n.AttributeCount() > short {
		return n.Attribute(name)
	}
	for a, err := range n.Attributes() {
		if err != nil || a.NameIndex() == name {
			return a, err == nil, err
		}
	}
	return datacenter.Attribute{}, false, nil
}
