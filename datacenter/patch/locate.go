package patch

import (
	"fmt"

	"lorefs/datacenter/query"
)

// located is what a path of a patch leads to.
type located struct {
	found
	// parents are those of the nodes.
	parents []node
	// renamed tells that the path was not found, but one with the values that the patch gives:
	// such a node may be another one, unless it is as the patch makes it.
	renamed bool
	// reason tells why it is not known which node is meant.
	reason string
}

// locate follows a path. Several nodes are left to who asks.
func (r *resolver) locate(steps []query.PlainStep, guards []Guard, traits []Trait) (l located, err error) {
	if err := r.view.ctx.Err(); err != nil {
		return l, err
	}
	if l.found, err = r.root(); err != nil {
		return l, err
	}
	renamed := false
	for i := range steps {
		if l, guards, err = r.locateStep(l.found, steps, i, guards, traitOf(traits, i)); err != nil || len(l.nodes) == 0 {
			return l, err
		}
		renamed = renamed || l.renamed
		l.renamed = renamed
	}
	return l, nil
}

// locateStep follows one step of a path, of whose guards it leaves those behind it.
func (r *resolver) locateStep(at found, steps []query.PlainStep, i int, guards []Guard, trait *Trait) (l located, rest []Guard, err error) {
	s := steps[i]
	g, rows, err := r.step(at, &s)
	if err != nil {
		return l, nil, err
	}
	if len(rows) == 0 {
		if other, ok := r.renamed[string(query.AppendPlain(nil, steps[:i+1]))]; ok {
			s, l.renamed = other, true
			if g, rows, err = r.step(at, &s); err != nil {
				return l, nil, err
			}
		}
	}
	l.key = at.key + "/" + bareStep(&s)
	if n := placeOf(&s); n > 0 {
		var guard *Guard
		if len(guards) > 0 {
			guard, guards = &guards[0], guards[1:]
		}
		if s.Nth > 0 && len(at.nodes) > 1 {
			l.reason = fmt.Sprintf("%s is a place below %d nodes", s.Append(nil), len(at.nodes))
			return l, nil, nil
		}
		if rows, l.reason, err = r.place(g, &s, rows, n, guard); err != nil || len(rows) == 0 {
			return l, nil, err
		}
		l.key += fmt.Sprintf("#%d", rows[0].node.number)
	}
	if trait != nil && !l.renamed {
		other, err := r.another(trait, g, &s, rows, r.lines[string(query.AppendPlain(nil, steps[:i+1]))])
		if err != nil {
			return l, nil, err
		}
		if other {
			step := bareStep(&s)
			l.reason = fmt.Sprintf(isAnother, step, step)
			return l, nil, nil
		}
	}
	for _, w := range rows {
		l.nodes = append(l.nodes, w.node)
		l.parents = append(l.parents, g.parents[w.parent])
		r.above[w.node.number] = g.parents[w.parent].number
	}
	return l, guards, nil
}

// place chooses the row that a place means: its guard tells whether it is still the same.
func (r *resolver) place(g *group, s *query.PlainStep, rows []row, n int, guard *Guard) (chosen []row, reason string, err error) {
	if guard == nil || guard.isEmpty() {
		if n > len(rows) {
			return nil, "", nil
		}
		return rows[n-1 : n], "", nil
	}
	sum, err := r.sum(g, s, rows)
	if err != nil {
		return nil, "", err
	}
	if at, known := guard.at(sum, len(rows)); known {
		if at == 0 {
			return nil, "", nil
		}
		return rows[at-1 : at], "", nil
	}
	if err := r.list(sum, rows); err != nil {
		return nil, "", err
	}
	if i := guard.find(sum); i >= 0 {
		return rows[i : i+1], "", nil
	}
	return nil, fmt.Sprintf("%s: the %d nodes are not those of the patch, and which one is meant can't be told: if the place is right, delete the line with ? %s", s.Append(nil), len(rows), guard.Step), nil
}

// at gives the place of the node, 0 if it is not there, if the siblings are as they were before or
// after the patch. What tells their parents, too, counts first.
func (g *Guard) at(s *sum, siblings int) (n int, known bool) {
	for _, h := range [...]Hash{s.spread, s.all} {
		switch {
		case h == g.Old && siblings == g.Of:
			return g.N, true
		case h == g.New && siblings == g.NewOf:
			return g.NewN, true
		}
	}
	return 0, false
}

// find finds the node by what it holds and what is beside it; it is -1 if that fits not one.
func (g *Guard) find(s *sum) int {
	if g.Self == 0 || g.Alone == ByGroup {
		return -1
	}
	bySelf, byNeighbours := -1, -1
	selves, fits := 0, 0
	for i, h := range s.each {
		if h != g.Self {
			continue
		}
		selves++
		bySelf = i
		if before, after := s.neighbours(i); before == g.Before && after == g.After {
			fits++
			byNeighbours = i
		}
	}
	switch {
	case selves == 1 && g.Alone == BySelf && g.keepsNeighbour(s, bySelf):
		return bySelf
	case fits == 1:
		return byNeighbours
	}
	return -1
}

// keepsNeighbour reports whether one of the node's neighbours is still beside a node that
// holds the same, if it had any: else that may be a copy, and the node another one by now.
func (g *Guard) keepsNeighbour(s *sum, i int) bool {
	before, after := s.neighbours(i)
	return g.Before|g.After == 0 || g.Before != 0 && before == g.Before || g.After != 0 && after == g.After
}
