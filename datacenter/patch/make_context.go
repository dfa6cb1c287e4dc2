package patch

import (
	"slices"

	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
)

// findContexts finds out the contexts of the steps of a block that find their nodes by values. They are
// needed for steps by which another node could be found, in another version, to which the patch would do
// something.
func (m *maker) findContexts(b *made) error {
	x, err := m.old.root()
	if err != nil {
		return err
	}
	y, err := m.now.root()
	if err != nil {
		return err
	}
	steps, was, is := b.Path.Steps, b.difference.old, b.difference.now
	if b.Kind == Add {
		is = b.now
		if b.beside {
			steps, was = append(slices.Clip(steps), b.Beside.Step), b.old
		}
	}
	for i := range steps {
		old, err := m.old.side(x, steps[i], &was[i].node)
		if err != nil {
			return err
		}
		var to *node
		if i < len(is) {
			to = &is[i].node
		}
		now, err := m.nowSide(y, steps[:i+1], to)
		if err != nil {
			return err
		}
		if needed, err := m.needsContext(b, i, &old); err != nil {
			return err
		} else if needed {
			at := i
			if i == len(b.Path.Steps) {
				at = BesideStep
			}
			c, err := m.tell(b, at, &old, &now)
			if err != nil {
				return err
			}
			if !c.isEmpty() {
				b.Contexts = append(b.Contexts, c)
			}
		}
		x, y = old.next(x), now.next(y)
	}
	b.sortContexts()
	return nil
}

// nowSide follows the last step of a path in what is, where the patch may have given the node other values.
func (m *maker) nowSide(at found, steps []query.PlainStep, to *node) (side, error) {
	now, err := m.now.side(at, steps[len(steps)-1], to)
	if other, ok := m.now.renamed[string(query.AppendPlain(nil, steps))]; ok && err == nil && to != nil && now.at < 0 {
		return m.now.side(at, other, to)
	}
	return now, err
}

// needsContext reports whether a step of a block needs a context beside those of places.
func (m *maker) needsContext(b *made, i int, x *side) (bool, error) {
	s := &x.step
	if i == 0 || len(s.Conditions) == 0 || placeOf(s) > 0 || len(x.rows) != 1 {
		return false, nil
	}
	if len(x.group.rows) < 2 || b.Kind != Change {
		return len(x.group.rows) > 1, nil
	}
	return m.couldHit(b, x.group, i)
}

// manyRows is the number of nodes from which on couldHit does not look at them, and manyHits that of
// nodes with the same values from which on it does not look above them.
const manyRows, manyHits = 1 << 18, 1 << 8

// couldHit reports whether a block that changes a node would change another one if the i-th step of
// its path led to another one of the group: if there is one with a value that the block changes.
func (m *maker) couldHit(b *made, g *group, i int) (bool, error) {
	// Blocks of one group share the nodes below it that have the names of the path.
	steps := b.Path.Steps[i:]
	below := []*group{g}
	for k := range steps[1:] {
		if len(g.rows) > manyRows {
			return true, nil
		}
		var err error
		if g, err = m.old.group(g.all(), steps[k+1].Name); err != nil {
			return false, err
		}
		below = append(below, g)
	}
	if len(g.rows) > manyRows && len(below) > 1 {
		return true, nil
	}
	var own []query.PlainCondition
	if len(below) > 1 {
		own = steps[len(steps)-1].Conditions
	}
	for k := range b.Lines {
		l := &b.Lines[k]
		old := l.Old.Attribute
		if l.What != Attribute || old.Type() == 0 || !identity.Sayable(old.Type(), []byte(old.Text())) {
			return true, nil
		}
		if hits, err := m.hits(b, below, append(slices.Clip(own), query.NewPlainCondition(l.Name, old)), steps); err != nil || hits {
			return hits, err
		}
	}
	return false, nil
}

// hits reports whether another node than that of a block meets conditions, and those above it theirs.
// below are the nodes of each step.
func (m *maker) hits(b *made, below []*group, conditions []query.PlainCondition, steps []query.PlainStep) (bool, error) {
	last := len(below) - 1
	some, err := m.old.lookUp(below[last], conditions)
	if err != nil {
		return false, err
	}
	own := b.difference.old[len(b.difference.old)-1].node.number
	for tries, x := range some.rows() {
		at := x.row
		if below[last].rows[at].node.number == own {
			continue
		}
		if tries >= manyHits {
			return true, nil
		}
		holds, err := m.old.holds(below[last].rows[at].node, conditions)
		for k := last; holds && err == nil && k > 1; k-- {
			at = below[k].rows[at].parent
			holds, err = m.old.holds(below[k-1].rows[at].node, steps[k-1].Conditions)
		}
		if holds || err != nil {
			return true, err
		}
	}
	return false, nil
}
