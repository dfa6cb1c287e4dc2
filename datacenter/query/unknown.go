package query

import "slices"

// Unknown returns the names in q that are not among some, such as those of a file that q finds
// nothing in. Each comes once.
func (q *Query) Unknown(some []string) (unknown []string) {
	known := make(map[string]bool, len(some))
	for _, name := range some {
		known[name] = true
	}
	look := func(s *step) {
		if !s.any && !known[s.name] && !slices.Contains(unknown, s.name) {
			unknown = append(unknown, s.name)
		}
	}
	for _, p := range q.paths {
		p.each(look)
	}
	return unknown
}

// each calls visit for the steps of a path, and of the paths in its predicates.
func (p path) each(visit func(*step)) {
	for i := range p {
		visit(&p[i])
		for _, c := range p[i].predicates {
			c.each(visit)
		}
	}
}

func (c *condition) each(visit func(*step)) {
	c.path.each(visit)
	for _, kid := range c.kids {
		kid.each(visit)
	}
}
