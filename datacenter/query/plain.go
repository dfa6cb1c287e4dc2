package query

import (
	"strconv"

	"lorefs/datacenter"
)

// PlainStep is a step of a plain path: one that leads from the root by / alone and asks for
// nothing but values of attributes and places. Such paths can be followed by other means
// than [Query.Run], many of them at once and in what is no file.
type PlainStep struct {
	Name string
	// Conditions are on attributes of the node, all of which have to hold.
	Conditions []PlainCondition
	// Nth is the place among those children of one parent for which they do; 0 is any.
	Nth int
	// NthOfAll is the place among all that the path so far leads to; 0 is any.
	NthOfAll int
}

// PlainCondition asks whether an attribute equals a value.
type PlainCondition struct {
	Name  string
	value literal
}

// NewPlainCondition asks for a value that an attribute has.
func NewPlainCondition(name string, v datacenter.Value) PlainCondition {
	return PlainCondition{name, newLiteral(v.Text(), v.Type() != datacenter.String && v.Type() != datacenter.Bool)}
}

// Text is the value as it is spelled, without quotes.
func (c *PlainCondition) Text() string { return c.value.text }

// Holds tells whether the attribute has the value, if v is what it has.
func (c *PlainCondition) Holds(v datacenter.Value) bool {
	var s scratch
	ok, err := matches(&s, plainValue{v}, equal, &c.value)
	return ok && err == nil
}

// plainValue is a value that is compared like an attribute.
type plainValue struct{ datacenter.Value }

// AppendText appends the spelling of the value.
func (v plainValue) AppendText(dst []byte) ([]byte, error) { return append(dst, v.Text()...), nil }

// Plain gives the steps of a query that is one plain path, if ok.
func (q *Query) Plain() (steps []PlainStep, ok bool) {
	if len(q.paths) != 1 {
		return nil, false
	}
	for _, st := range q.paths[0] {
		p := PlainStep{Name: st.name, NthOfAll: st.nth}
		if st.attribute || st.deep || st.any {
			return nil, false
		}
		for _, c := range st.predicates {
			if p.Nth > 0 || !p.take(c) {
				return nil, false
			}
		}
		steps = append(steps, p)
	}
	return steps, true
}

// take adds what a predicate asks for; it is false if that is not plain.
func (p *PlainStep) take(c *condition) bool {
	switch c.op {
	case opPosition:
		p.Nth = c.number
		return c.compare == equal
	case opAnd:
		for _, kid := range c.kids {
			if kid.op == opPosition || !p.take(kid) {
				return false
			}
		}
		return true
	case opCompare:
		if len(c.path) != 1 || !c.path[0].attribute || c.path[0].any || c.path[0].deep || c.compare != equal {
			return false
		}
		p.Conditions = append(p.Conditions, PlainCondition{c.path[0].name, c.value})
		return true
	}
	return false
}

// AppendPlain spells a plain path, as [Compile] reads it.
func AppendPlain(dst []byte, steps []PlainStep) []byte {
	from := len(dst)
	for i := range steps {
		s := &steps[i]
		dst = append(dst, '/')
		dst = s.Append(dst)
		if s.NthOfAll > 0 {
			path := string(dst[from:])
			dst = append(append(append(dst[:from], '('), path...), ')')
			dst = appendNth(dst, s.NthOfAll)
		}
	}
	return dst
}

// Append spells a step, without NthOfAll.
func (p *PlainStep) Append(dst []byte) []byte {
	dst = AppendName(dst, p.Name)
	for i := range p.Conditions {
		c := &p.Conditions[i]
		if i == 0 {
			dst = append(dst, '[')
		} else {
			dst = append(dst, " and "...)
		}
		dst = append(dst, '@')
		dst = AppendName(dst, c.Name)
		dst = append(dst, '=')
		if c.value.bare {
			dst = append(dst, c.value.text...)
		} else {
			dst = AppendText(dst, c.value.text)
		}
	}
	if len(p.Conditions) > 0 {
		dst = append(dst, ']')
	}
	if p.Nth > 0 {
		dst = appendNth(dst, p.Nth)
	}
	return dst
}

func appendNth(dst []byte, n int) []byte {
	dst = append(dst, '[')
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, ']')
}

// Holders returns a query for the nodes that may have the attribute that q finds, and the attribute's name, if q
// is one path to attributes of one name that its nodes have themselves.
func (q *Query) Holders() (holders *Query, name string, ok bool) {
	if len(q.paths) != 1 {
		return nil, "", false
	}
	p := q.paths[0]
	last := p[len(p)-1]
	if len(p) == 1 || !last.attribute || last.any || last.deep || last.nth > 0 {
		return nil, "", false
	}
	return &Query{paths: []path{p[:len(p)-1]}}, last.name, true
}
