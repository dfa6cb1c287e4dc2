package patch

import (
	"fmt"
	"slices"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
)

// findPlaces finds out the contexts of the places of a block. Where a step of its path would not find its
// node alone once the patch is applied, it asks for a place instead.
func (m *maker) findPlaces(b *made) error {
	b.Contexts = nil
	d := b.difference
	// What the path leads to was old, and is now, which ends one earlier for a node that is
	// removed.
	old, now := d.old, d.now
	if d.kind == Add {
		now = d.now[:len(d.now)-1]
	}
	x, err := m.old.root()
	if err != nil {
		return err
	}
	y, err := m.now.root()
	if err != nil {
		return err
	}
	exact := b.Kind == Remove && !b.beside // lest it can't be taken back
	var aboveX, aboveY found               // by all steps but the last
	for i := range b.Path.Steps {
		aboveX, aboveY = x, y
		last := i == len(b.Path.Steps)-1
		var to *node
		if i < len(now) {
			to = &now[i].node
		}
		w := walk{maker: m, block: b, merged: i == 0 && !exact && (!last || b.Kind == Add && b.beside)}
		if x, y, err = w.stepAgain(x, y, b.Path.Steps, i, old[i].node, to); err != nil {
			return err
		}
	}
	if b.beside {
		w := walk{maker: m, block: b, isBeside: true}
		px, py := x, y
		steps := b.Path.Steps
		if b.Kind == Remove {
			px, py = aboveX, aboveY
			steps = steps[:len(steps)-1]
		}
		steps = append(slices.Clip(steps), b.Beside.Step)
		if _, _, err = w.step(px, py, steps, len(steps)-1, b.old[len(b.old)-1].node, &b.now[len(b.now)-1].node); err != nil {
			return err
		}
		b.Beside.Step = steps[len(steps)-1]
		b.Beside.Step.Nth, b.Beside.Step.NthOfAll = placeOf(&b.Beside.Step), 0
	}
	b.respell()
	if b.Kind == Add {
		if err := m.tellAdded(b, x, y); err != nil {
			return err
		}
	}
	return nil
}

// walk follows a path of a patch in what was and in what is, beside each other.
type walk struct {
	*maker
	block *made
	// merged tells that several nodes will do, as below sheets that count as one.
	merged bool
	// isBeside tells that the last step is that of the sibling beside the node.
	isBeside bool
}

// side holds the rows that a step finds before the patch or after it; at is the place of the node
// among them, -1 if it is not there.
type side struct {
	step  query.PlainStep
	group *group
	rows  []row
	at    int
}

// side follows a step to a node, nil for none.
func (r *resolver) side(from found, s query.PlainStep, n *node) (d side, err error) {
	d = side{step: s, at: -1}
	d.group, d.rows, err = r.step(from, &s)
	if n != nil && err == nil {
		d.at = indexOf(d.rows, n.number)
	}
	return d, err
}

// walked is a step of the last path, with what it was before its place was found out, and what
// it leads to.
type walked struct {
	x, y         edit.Number
	merged       bool
	before       string
	step         query.PlainStep
	contexts     []Context
	nextX, nextY found
}

// stepAgain is step for step i of a block's path. It remembers the last path, since most paths
// begin as the one before.
func (w *walk) stepAgain(atX, atY found, steps []query.PlainStep, i int, x node, y *node) (nextX, nextY found, err error) {
	before := string(query.AppendPlain(nil, steps[i:i+1]))
	if y != nil && i < len(w.walked) {
		if l := &w.walked[i]; l.x == x.number && l.y == y.number && l.merged == w.merged && l.before == before {
			steps[i] = l.step
			w.block.Contexts = append(w.block.Contexts, l.contexts...)
			return l.nextX, l.nextY, nil
		}
	}
	w.walked = w.walked[:min(i, len(w.walked))]
	contexts := len(w.block.Contexts)
	if nextX, nextY, err = w.step(atX, atY, steps, i, x, y); err == nil && y != nil && i == len(w.walked) {
		w.walked = append(w.walked, walked{
			x.number, y.number, w.merged, before, steps[i], slices.Clone(w.block.Contexts[contexts:]), nextX, nextY,
		})
	}
	return nextX, nextY, err
}

// step goes on by one step, to the node x and to y, which is nil if that is not there any
// more. Where the step is not good enough, it changes it.
func (w *walk) step(atX, atY found, steps []query.PlainStep, i int, x node, y *node) (nextX, nextY found, err error) {
	path := string(query.AppendPlain(nil, steps[:i+1]))
	old, err := w.old.side(atX, steps[i], &x)
	if err != nil {
		return nextX, nextY, err
	}
	now, err := w.now.side(atY, steps[i], y)
	other, renamed := w.now.renamed[path]
	if !renamed && w.block.Kind == Change && i == len(steps)-1 {
		other, renamed = w.block.renamedStep()
	}
	var named, taken side // by which Reverse goes, and what has that name before
	if renamed && err == nil {
		if named, err = w.now.side(atY, other, y); len(now.rows) == 0 {
			now = named
		}
		if err == nil {
			taken, err = w.old.side(atX, other, nil)
		}
	}
	if err != nil {
		return nextX, nextY, err
	}
	place := placeOf(&old.step)
	if old.at < 0 {
		return nextX, nextY, fmt.Errorf("patch: BUG: the path %s does not find its node", path)
	}
	others := len(old.rows) > 1 || len(now.rows) > 1 || len(named.rows) > 1 || len(taken.rows) > 0 || y == nil && len(now.rows) > 0
	switch {
	case y != nil && now.at < 0, renamed && (place > 0 || !w.merged && others): // it has no such attributes any more
		if old, now, err = w.bare(atX, atY, old.step.Name, &x, y); err != nil {
			return nextX, nextY, err
		}
		place = old.at + 1
	case place == 0 && !w.merged && others: // something else has them then
		place = old.at + 1
	}
	if y == nil && place == 0 {
		// Who takes the patch back has to know that something else is called so then.
		same := query.PlainStep{Name: old.step.Name, Conditions: given(w.block.Node.Keys, w.block.Node.Attributes)}
		there, err := w.now.side(atY, same, nil)
		if err != nil {
			return nextX, nextY, err
		}
		if len(same.Conditions) > 0 && len(there.rows) > 0 {
			if old, err = w.old.side(atX, same, &x); err != nil {
				return nextX, nextY, err
			}
			now, place = there, old.at+1
		}
	}
	if place > 0 && len(old.step.Conditions) > 0 {
		// What the step leads to may look the same then, though it is something else.
		alike, err := w.alike(&old, &now)
		if err != nil {
			return nextX, nextY, err
		}
		if alike && old.at != now.at {
			if old, now, err = w.bare(atX, atY, old.step.Name, &x, y); err != nil {
				return nextX, nextY, err
			}
		}
	}
	if place > 0 {
		place = old.at + 1 // another one than before if a step above was changed
		old.step.Nth, old.step.NthOfAll = 0, 0
		if len(atX.nodes) > 1 || len(atY.nodes) > 1 {
			old.step.NthOfAll = place
		} else {
			old.step.Nth = place
		}
		now.step.Nth, now.step.NthOfAll = old.step.Nth, old.step.NthOfAll
		steps[i] = old.step
		if w.isBeside {
			i = BesideStep
		}
		c, err := w.tell(w.block, i, &old, &now)
		if err != nil {
			return nextX, nextY, err
		}
		w.block.Contexts = append(w.block.Contexts, c)
	}
	return old.next(atX), now.next(atY), nil
}

// bare follows a name alone.
func (m *maker) bare(atX, atY found, name string, x, y *node) (old, now side, err error) {
	s := query.PlainStep{Name: name}
	if old, err = m.old.side(atX, s, x); err == nil {
		now, err = m.now.side(atY, s, y)
	}
	return old, now, err
}

// alike tells whether a step leads to the same before and after the patch, as far as that
// can be seen.
func (m *maker) alike(old, now *side) (bool, error) {
	before, err := m.old.sum(old.group, &old.step, old.rows)
	if err != nil {
		return false, err
	}
	after, err := m.now.sum(now.group, &now.step, now.rows)
	return err == nil && before.spread == after.spread && len(old.rows) == len(now.rows), err
}

// next follows the step: to the node at its place or, where several will do, to all.
func (d *side) next(at found) found {
	f := found{key: at.key + "/" + bareStep(&d.step)}
	rows := d.rows
	if placeOf(&d.step) > 0 {
		if d.at < 0 {
			return f
		}
		f.key += fmt.Sprintf("#%d", rows[d.at].node.number)
		rows = rows[d.at : d.at+1]
	}
	for _, r := range rows {
		f.nodes = append(f.nodes, r.node)
	}
	return f
}

// tellAdded adds the context of a node that is added and that nothing tells from its siblings. So it does
// where none of them stays what it is.
func (m *maker) tellAdded(b *made, x, y found) error {
	to := &b.difference.now[len(b.difference.now)-1].node
	old, now, err := m.bare(x, y, b.Node.Name, nil, to)
	if err != nil {
		return err
	}
	if conditions := given(b.Node.Keys, b.Node.Attributes); len(conditions) > 0 && (b.beside || len(old.rows) == 0) {
		s := query.PlainStep{Name: b.Node.Name, Conditions: conditions}
		same, err := m.old.side(x, s, nil)
		if err != nil {
			return err
		}
		there, err := m.now.side(y, s, to)
		if err != nil {
			return err
		}
		stays := func(r row) bool { return !m.leaving[r.node.number] }
		if len(there.rows) == 1 && !slices.ContainsFunc(same.rows, stays) {
			return nil
		}
		alike, err := m.alike(&same, &there)
		if err != nil {
			return err
		}
		if !alike {
			old, now = same, there
		}
	}
	c := Context{At: AddedNode, Step: old.step, Of: len(old.rows), NewN: now.at + 1, NewOf: len(now.rows)}
	if c.Sum, c.NewSum, err = m.sums(&old, &now); err != nil {
		return err
	}
	b.Contexts = append(b.Contexts, c)
	return nil
}
