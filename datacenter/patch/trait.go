package patch

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
	"lorefs/internal/formats/datacenter/identity"
)

// Trait tells whether a node that a step finds by the values of attributes is the one that had these
// values before: another version of the file may number its nodes anew.
type Trait struct {
	// At is the place of the step in the path, or the number of steps for the sibling in Beside.
	At int
	// Self is a hash of what the node held in its other attributes before the patch. Before and After
	// are those of its neighbours among the siblings of its name, 0 if there is none.
	Content
	// Now is the same after the patch, if nothing else shows then that it is the same node. Otherwise
	// it has no Self.
	Now Content
	// Alone means that no sibling had the same Self, and Deep that the hashes are also of what is
	// below the nodes, since the attributes are those of a sibling too.
	Alone, Deep bool
}

// Content is hashes of what a node and its neighbours hold.
type Content struct{ Self, Before, After Hash }

// traitOf returns the trait of an index, or nil.
func traitOf(traits []Trait, at int) *Trait {
	if i := slices.IndexFunc(traits, func(t Trait) bool { return t.At == at }); i >= 0 {
		return &traits[i]
	}
	return nil
}

// stepAt returns the step that a trait is about.
func (b *Block) stepAt(at int) *query.PlainStep {
	if at < len(b.Path.Steps) {
		return &b.Path.Steps[at]
	}
	return &b.Beside.Step
}

// hashTrait returns the Self of a node for a step, as it would be without lines of the patch.
func (r *resolver) hashTrait(n node, s *query.PlainStep, deep bool, lines []Line) (Hash, error) {
	sum := uint64(0)
	err := r.view.Attributes(n, func(name string, typ datacenter.Type, text []byte) {
		if !asksFor(s, name) {
			sum += r.hashAttribute(name, typ, text)
		}
	})
	if err != nil {
		return 0, err
	}
	for i := range lines {
		l := &lines[i]
		if l.What != Attribute || asksFor(s, l.Name) {
			continue
		}
		have, err := r.view.attribute(n, l.Name)
		if err != nil {
			return 0, err
		}
		if old, now := l.Old.Attribute, l.New.Attribute; have == now {
			if now.Type() != 0 {
				sum -= r.hashAttribute(l.Name, now.Type(), []byte(now.Text()))
			}
			if old.Type() != 0 {
				sum += r.hashAttribute(l.Name, old.Type(), []byte(old.Text()))
			}
		}
	}
	if !deep {
		return HashOf(sum), nil
	}
	below, err := r.hashBelow(n)
	return HashOf(sum + below), err
}

// hashBelow returns the part of the hash of a trait that is about the children of a node.
func (r *resolver) hashBelow(n node) (sum uint64, err error) {
	if sum, ok := r.belows[n.number]; ok {
		return sum, nil
	}
	var failed error
	err = r.view.Children(n, func(name string, c node) {
		if failed == nil {
			var h uint64
			h, failed = r.hashes.Hash(c)
			sum += r.hashAttribute(name, 0, binary.LittleEndian.AppendUint64(nil, h))
		}
	})
	if err = cmp.Or(err, failed); err == nil {
		r.belows[n.number] = sum
	}
	return sum, err
}

// hashAttribute returns a part of the hash of a trait.
func (r *resolver) hashAttribute(name string, typ datacenter.Type, text []byte) uint64 {
	r.text = append(append(append(r.text[:0], name...), 0, byte(typ)), text...)
	return xxhash.Sum64(r.text)
}

// asksFor reports whether a step has a condition for an attribute.
func asksFor(s *query.PlainStep, name string) bool {
	return slices.ContainsFunc(s.Conditions, func(c query.PlainCondition) bool { return c.Name == name })
}

// place returns the place of a node in a group, -1 if it is not there.
func (g *group) place(n edit.Number) int {
	// Most are in the order of their numbers.
	i, ok := slices.BinarySearchFunc(g.rows, n, func(w row, n edit.Number) int { return cmp.Compare(w.node.number, n) })
	if ok {
		return i
	}
	return indexOf(g.rows, n)
}

// traitsOf counts the nodes of a group by their traits for a step.
func (r *resolver) traitsOf(g *group, s *query.PlainStep, deep bool) (map[Hash]int, error) {
	names := []string{fmt.Sprint(deep)}
	for _, c := range s.Conditions {
		names = append(names, c.Name)
	}
	key := strings.Join(names, "\x00") // which no name holds
	if counts, ok := g.traits[key]; ok {
		return counts, nil
	}
	counts := make(map[Hash]int, len(g.rows))
	for _, w := range g.rows {
		h, err := r.hashTrait(w.node, s, deep, nil)
		if err != nil {
			return nil, err
		}
		counts[h]++
	}
	if g.traits == nil {
		g.traits = map[string]map[Hash]int{}
	}
	g.traits[key] = counts
	return counts, nil
}

// content returns what tells a node of a group from others, as it would be without lines of the patch.
func (r *resolver) content(n node, g *group, s *query.PlainStep, deep bool, lines []Line) (c Content, err error) {
	if c.Self, err = r.hashTrait(n, s, deep, lines); err != nil {
		return c, err
	}
	err = r.beside(&c, n, g, s, deep)
	return c, err
}

// beside finds out the hashes of the neighbours of a node.
func (r *resolver) beside(c *Content, n node, g *group, s *query.PlainStep, deep bool) (err error) {
	i := g.place(n.number)
	if i > 0 {
		if c.Before, err = r.hashTrait(g.rows[i-1].node, s, deep, nil); err != nil {
			return err
		}
	}
	if i+1 < len(g.rows) {
		c.After, err = r.hashTrait(g.rows[i+1].node, s, deep, nil)
	}
	return err
}

// another reports whether what a step has found is another node than the one that the patch was made
// for. rows may be empty: then it reports whether that node has other values by now.
func (r *resolver) another(t *Trait, g *group, s *query.PlainStep, rows []row, lines []Line) (bool, error) {
	if len(rows) > 1 || len(rows) == 0 && !t.Alone {
		return false, nil // which is an error anyway, or can't be told
	}
	var c Content
	if len(rows) == 1 {
		n := rows[0].node
		var err error
		if c.Self, err = r.hashTrait(n, s, t.Deep, lines); err != nil {
			return false, err
		}
		if err = r.beside(&c, n, g, s, t.Deep); err != nil || c == t.Now {
			return false, err
		}
	}
	between := c.Before == t.Before && c.After == t.After
	oneBeside := c.Before != 0 && c.Before == t.Before || c.After != 0 && c.After == t.After
	switch {
	case c.Self == t.Self && (between || oneBeside), !t.Alone && between:
		return false, nil // whatever the others are
	}
	counts, err := r.traitsOf(g, s, t.Deep)
	if err != nil {
		return false, err
	}
	if c.Self == t.Self && t.Alone && counts[t.Self] == 1 {
		return false, nil
	}
	elsewhere := func(h Hash) bool {
		if h == 0 || counts[h] == 0 {
			return false
		}
		r.renumbered[g.key] = true
		return true
	}
	switch {
	case t.Alone && elsewhere(t.Self):
		return true, nil
	case len(rows) == 0 || between:
		return false, nil
	}
	stays := func(h, want Hash) bool { return want != 0 && h == want && (c.Self == t.Self || counts[h] == 1) }
	if stays(c.Before, t.Before) || stays(c.After, t.After) {
		return false, nil
	}
	return elsewhere(t.Before) || elsewhere(t.After) || r.renumbered[g.key], nil
}

const isAnother = "%s is another node than the one that the patch was made for, or has other values by now: if it is the right one, delete the line with ? %s"

// traits finds out the traits of a block, of which the path and the guards are known. They are needed
// for steps by which another node could be found, in another version, to which the patch would do
// something.
func (m *maker) traits(b *made) error {
	b.Traits = nil
	at, err := m.old.root()
	if err != nil {
		return err
	}
	steps, way := b.Path.Steps, b.difference.old
	if b.Kind == Add && b.beside {
		steps, way = append(slices.Clip(steps), b.Beside.Step), b.old
	}
	for i := range steps {
		x, err := m.old.side(at, steps[i], &way[i].node)
		if err != nil {
			return err
		}
		s := &x.step
		if i > 0 && canHaveTrait(s) && len(x.rows) == 1 {
			text := bareStep(s)
			// A later step that is spelled alike must not get this one's.
			needed := slices.ContainsFunc(steps[i+1:], func(later query.PlainStep) bool { return bareStep(&later) == text })
			if several := len(x.group.rows) > 1; several && b.Kind != Change {
				needed = true
			} else if several && !needed {
				if needed, err = m.couldHit(b, x.group, i); err != nil {
					return err
				}
			}
			if needed {
				t := Trait{At: i}
				if err := m.trait(&t, &x); err != nil {
					return err
				}
				b.Traits = append(b.Traits, t)
				if ok, err := m.settle(b); err != nil || !ok {
					return err
				}
			}
		}
		at = x.next(at)
	}
	return nil
}

// trait finds out the trait of a node.
func (m *maker) trait(t *Trait, x *side) error {
	n, least := x.rows[0].node, 0
	for _, deep := range [...]bool{false, true} {
		counts, err := m.old.traitsOf(x.group, &x.step, deep)
		if err != nil {
			return err
		}
		self, err := m.old.hashTrait(n, &x.step, deep, nil)
		if err != nil {
			return err
		}
		if others := counts[self]; least == 0 || others < least {
			t.Self, t.Deep, t.Alone, least = self, deep, others == 1, others
		}
		if t.Alone {
			break
		}
	}
	var err error
	t.Content, err = m.old.content(n, x.group, &x.step, t.Deep, nil)
	return err
}

// canHaveTrait reports whether a step finds its node by values.
func canHaveTrait(s *query.PlainStep) bool { return len(s.Conditions) > 0 && placeOf(s) == 0 }

// settle makes the last trait of a block such that it also knows the node after the patch. It takes the
// trait away, and ok is false, if another node then has what the node had, which is gone.
func (m *maker) settle(b *made) (ok bool, err error) {
	t := &b.Traits[len(b.Traits)-1]
	before := b.Traits[:len(b.Traits)-1]
	parent, err := m.now.locate(b.Path.Steps[:min(t.At, len(b.Path.Steps))], b.Guards, before)
	if err != nil {
		return false, err
	}
	s, path := *b.stepAt(t.At), b.besidePath()
	if t.At < len(b.Path.Steps) {
		path = string(query.AppendPlain(nil, b.Path.Steps[:t.At+1]))
	}
	g, rows, err := m.now.step(parent.found, &s)
	if _, renamed := m.now.renamed[path]; err != nil || renamed && len(rows) == 0 {
		return true, err
	}
	lines := m.now.lines[path]
	other, err := m.now.another(t, g, &s, rows, lines)
	switch {
	case err != nil || !other:
	case len(rows) == 0:
		b.Traits = before
		return false, nil
	default:
		t.Now, err = m.now.content(rows[0].node, g, &s, t.Deep, lines)
	}
	return true, err
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
	names := make([]string, len(conditions))
	h := uint64(0)
	for i := range conditions {
		names[i] = conditions[i].Name
		h = h*31 + hashValue(conditions[i].Text())
	}
	last := len(below) - 1
	index, err := m.old.index(below[last], names)
	if err != nil {
		return false, err
	}
	own := b.difference.old[len(b.difference.old)-1].node.number
	for tries, x := range index.find(h) {
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
