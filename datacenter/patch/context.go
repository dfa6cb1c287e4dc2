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
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
)

// Context is a line that tells whether a step of a block still leads to the node that the patch was
// made for: another version of the file may have other siblings, or may have given their ids to others.
type Context struct {
	// At is the index of the step in the path, BesideStep or AddedNode.
	At int
	// Step of an added node, as which its siblings are found.
	Step query.PlainStep
	// N is the place among Of siblings before the patch, and NewN and NewOf are the same after it. N or
	// NewN is 0 where there is no such node then. They are all 0 if the line does not have them.
	N, Of, NewN, NewOf int
	// Sum is a hash of all these siblings before the patch, NewSum of those after it. Without N they are
	// hashes of the node alone. They are 0 unless no facts tell the node from others.
	Sum, NewSum Sum
	// Is are values that the node alone has. After are values of the sibling before it, and Before those
	// of the sibling behind it. The patch changes none of these.
	Is, After, Before Facts
	// Like tells that other siblings have the values in Is as well, so that neighbours tell which it is.
	Like bool
}

// Facts say what a node holds: a path that begins with the step of the node, without its place, and may go
// on to a node below it. None are known if there are no steps.
type Facts []query.PlainStep

// What a Context is about if not a step of the path: the sibling in Beside, and the node that a block adds.
const (
	BesideStep = -1
	AddedNode  = -2
)

// Sum is a hash of what some nodes hold.
type Sum uint32

// SumOf returns a part of a hash, which is never 0.
func SumOf(h uint64) Sum { return Sum(max(uint32(h), 1)) }

// isAlone reports whether only one node had the values in Is.
func (c *Context) isAlone() bool { return len(c.Is) > 0 && !c.Like }

// contextOf returns the context of a step, nil if there is none.
func (b *Block) contextOf(at int) *Context {
	if i := slices.IndexFunc(b.Contexts, func(c Context) bool { return c.At == at }); i >= 0 {
		return &b.Contexts[i]
	}
	return nil
}

// isEmpty reports whether a context says nothing.
func (c *Context) isEmpty() bool {
	return c.Of|c.NewOf == 0 && c.Sum == 0 && len(c.Is)+len(c.After)+len(c.Before) == 0
}

// spell spells steps of the path without their places.
func (b *Block) spell(from, end int) string {
	bare := make([]query.PlainStep, end-from)
	for i, s := range b.Path.Steps[from:end] {
		bare[i] = query.PlainStep{Name: s.Name, Conditions: s.Conditions}
	}
	return string(query.AppendPlain(nil, bare))
}

// spellStep spells a step so that findStep finds it: by itself, or with steps before it.
func (b *Block) spellStep(at int) string {
	k := at
	for k > 0 && b.findStep(0, b.spell(k, at+1)) != at {
		k--
	}
	return b.spell(k, at+1)
}

// findStep returns the first step from a place on that may have a context and is spelled like that, or -1.
func (b *Block) findStep(from int, text string) int {
	for i := from; i < len(b.Path.Steps); i++ {
		s := &b.Path.Steps[i]
		if (placeOf(s) > 0 || i > 0 && len(s.Conditions) > 0) && strings.HasSuffix(b.spell(0, i+1), text) {
			return i
		}
	}
	return -1
}

// lastStep returns the last step of the path that has one of some contexts, or -1.
func lastStep(contexts []Context) int {
	last := -1
	for i := range contexts {
		last = max(last, contexts[i].At)
	}
	return last
}

// reverse exchanges what was before the patch and what is after it.
func (c *Context) reverse() {
	c.N, c.Of, c.NewN, c.NewOf = c.NewN, c.NewOf, c.N, c.Of
	c.Sum, c.NewSum = c.NewSum, c.Sum
}

// at returns the place of the node, 0 if it is not there, if the siblings are as they were before or
// after the patch. What tells their parents, too, counts first.
func (c *Context) at(s *sum, siblings int) (n int, known bool) {
	for _, h := range [...]Sum{s.spread, s.all} {
		switch {
		case h == c.Sum && siblings == c.Of:
			return c.N, true
		case h == c.NewSum && siblings == c.NewOf:
			return c.NewN, true
		}
	}
	return 0, false
}

// place chooses the row that a place means.
func (r *resolver) place(g *group, s *query.PlainStep, rows []row, n int, c *Context) (chosen []row, reason string, err error) {
	known := c == nil
	switch {
	case known:
	case c.Sum != 0:
		sum, err := r.sum(g, s, rows)
		if err != nil {
			return nil, "", err
		}
		n, known = c.at(sum, len(rows))
	case len(c.Is)+len(c.After)+len(c.Before) > 0:
		if rows, err = r.fitting(c, g, s); err != nil {
			return nil, "", err
		}
		n, known = 1, len(rows) == 1
	case len(rows) == c.Of:
		n, known = c.N, true
	case len(rows) == c.NewOf:
		n, known = c.NewN, true
	}
	switch {
	case !known:
		return nil, fmt.Sprintf("%s: %d nodes fit, and which one is meant can't be told: if the place is right, delete the line with /%s", s.Append(nil), len(rows), bareStep(s)), nil
	case n == 0 || n > len(rows):
		return nil, "", nil
	}
	return rows[n-1 : n], "", nil
}

// fitting returns the rows that a context says: those that hold what it says of the node, and have one of
// the neighbours that it knows. If it only knows neighbours, they have all of them.
func (r *resolver) fitting(c *Context, g *group, s *query.PlainStep) (list []row, err error) {
	facts := slices.Concat(c.Is, Facts{{Name: s.Name}})[:max(len(c.Is), 1)]
	facts[0].Conditions = slices.Concat(s.Conditions, facts[0].Conditions)
	rows, err := r.having(g, facts)
	for _, w := range rows {
		if err != nil {
			return nil, err
		}
		var fit, differ int
		fit, differ, err = r.neighbours(c, g, w.node)
		if fit > 0 && len(c.Is) > 0 || differ == 0 {
			list = append(list, w)
		}
	}
	return list, err
}

// neighbours counts which of the neighbours that a context knows are beside a node, and which are not.
func (r *resolver) neighbours(c *Context, g *group, n node) (fit, differ int, err error) {
	i := g.place(n.number)
	for side, facts := range [...]Facts{c.After, c.Before} {
		if len(facts) == 0 {
			continue
		}
		holds, err := r.holdsAt(g, i+2*side-1, facts)
		if err != nil {
			return 0, 0, err
		}
		if holds {
			fit++
		} else {
			differ++
		}
	}
	return fit, differ, nil
}

// holdsAt reports whether a row holds what facts about the row alone say, if there is one.
func (r *resolver) holdsAt(g *group, i int, facts Facts) (bool, error) {
	if i < 0 || i >= len(g.rows) || len(facts) == 0 {
		return false, nil
	}
	return r.holds(g.rows[i].node, facts[0].Conditions)
}

// having returns the rows that hold what facts say.
func (r *resolver) having(g *group, facts Facts) (list []row, err error) {
	key := facts.String()
	list, known := g.holding[key]
	if !known {
		if list, err = r.findHaving(g, facts); err == nil {
			g.holding[key] = list
		}
	}
	return list, err
}

func (r *resolver) findHaving(g *group, facts Facts) (list []row, err error) {
	last := len(facts) - 1
	if last == 0 {
		return r.narrow(g, facts[0].Conditions)
	}
	below := []*group{g}
	for _, s := range facts[1:] {
		next, err := r.group(below[len(below)-1].all(), s.Name)
		if err != nil {
			return nil, err
		}
		below = append(below, next)
	}
	rows, err := r.narrow(below[last], facts[last].Conditions)
	before := int32(-1)
	for _, w := range rows {
		at, holds := w.parent, true
		for k := last - 1; holds && err == nil; k-- {
			if holds, err = r.holds(below[k].rows[at].node, facts[k].Conditions); k == 0 {
				break
			}
			at = below[k].rows[at].parent
		}
		if err != nil {
			return nil, err
		}
		// The children of a node are beside each other.
		if holds && at != before {
			list, before = append(list, g.rows[at]), at
		}
	}
	return list, err
}

// contains reports whether a node is one of some rows.
func contains(rows []row, n node) bool { return indexOf(rows, n.number) >= 0 }

// place returns the place of a node in a group, -1 if it is not there.
func (g *group) place(n edit.Number) int {
	// Most are in the order of their numbers.
	i, ok := slices.BinarySearchFunc(g.rows, n, func(w row, n edit.Number) int { return cmp.Compare(w.node.number, n) })
	if ok {
		return i
	}
	return indexOf(g.rows, n)
}

// doubt tells why what a step has found by values may be another node than the one that the patch was
// made for. rows may be empty: then the reason is that this node has other values by now.
func (r *resolver) doubt(c *Context, g *group, s *query.PlainStep, rows []row) (reason string, err error) {
	another := false
	switch len(rows) {
	case 0:
		another, err = r.isElsewhere(c, g, namesOf(s))
	case 1:
		another, err = r.isAnother(c, g, s, rows[0].node)
	}
	if err != nil || !another {
		return "", err
	}
	step, want := bareStep(s), "one that holds something else"
	switch {
	case len(c.Is) > 0:
		want = c.Is.String()
	case c.Sum == 0:
		want = "one beside other siblings"
	}
	return fmt.Sprintf("%s is another node than the one that the patch was made for, or has other values by now (want %s): if it is the right one, delete the line with /%s", step, want, step), nil
}

// isAnother reports whether what a step has found is not the node that a context says.
func (r *resolver) isAnother(c *Context, g *group, s *query.PlainStep, n node) (bool, error) {
	fit, differ, err := r.neighbours(c, g, n)
	if err != nil {
		return false, err
	}
	// A node that is added beside a twin of its sibling would be in another place.
	strays := r.renumbered[g.key] || c.At == BesideStep && fit == 0 && differ > 0
	switch {
	case c.Sum != 0:
		h, err := r.rest(n, namesOf(s))
		return strays || h != c.Sum && h != c.NewSum, err
	case len(c.Is) == 0:
		return strays, nil
	}
	fits, err := r.having(g, c.Is)
	holds := contains(fits, n)
	switch {
	case err != nil:
		return false, err
	case c.Like:
		return strays || fit == 0 && (!holds && len(fits) > 0 || holds && differ > 0), nil
	case holds:
		return len(fits) > 1 && fit == 0, nil
	case len(fits) > 0:
		r.renumbered[g.key] = true
		return true, nil
	}
	return strays && fit == 0, nil
}

// isElsewhere reports whether the node that a context says has other values than those by which a step did
// not find it.
func (r *resolver) isElsewhere(c *Context, g *group, names []string) (bool, error) {
	if c.isAlone() {
		fits, err := r.having(g, c.Is)
		return len(fits) > 0, err
	}
	for _, w := range g.rows {
		if c.Sum == 0 {
			break
		}
		if h, err := r.rest(w.node, names); h == c.Sum || err != nil {
			return true, err
		}
	}
	return false, nil
}

// String spells facts as a path behind that of the parent.
func (f Facts) String() string { return string(query.AppendPlain(nil, f))[1:] }

// tell makes the context of a step from what it leads to before and after the patch. All that it says is
// true of both, so it is good for the patch reversed, too.
func (m *maker) tell(b *made, at int, old, now *side) (c Context, err error) {
	x := old.group.place(old.rows[old.at].node.number)
	y := -1
	if now.at >= 0 {
		y = now.group.place(now.rows[now.at].node.number)
	}
	t := teller{maker: m, old: old.group, now: now.group}
	if placeOf(&old.step) == 0 {
		t.but = namesOf(&old.step)
		if b.Kind == Change && at == len(b.Path.Steps)-1 {
			for i := range b.Lines {
				t.changed = append(t.changed, b.Lines[i].Name)
			}
		}
		c, err = t.byValues(x, y)
		c.At = at
		return c, err
	}
	t.within = old.step.Conditions
	c = Context{At: at, N: old.at + 1, Of: len(old.rows), NewN: now.at + 1, NewOf: len(now.rows)}
	if y >= 0 {
		if _, err := t.tell(&c, x, y); err != nil || c.isAlone() {
			return c, err
		}
	}
	c.Is, c.After, c.Before, c.Like = nil, nil, nil, false
	c.Sum, c.NewSum, err = m.sums(old, now)
	return c, err
}

// byValues makes the context of a step that finds its node by values.
func (t *teller) byValues(x, y int) (c Context, err error) {
	told, err := t.tell(&c, x, y)
	if err != nil {
		return c, err
	}
	if !told {
		if c.Sum, err = t.maker.old.rest(t.old.rows[x].node, t.but); err != nil {
			return c, err
		}
		if c.NewSum = c.Sum; y >= 0 {
			c.NewSum, err = t.maker.now.rest(t.now.rows[y].node, t.but)
			return c, err
		}
		// A twin that stays must not be taken for a node that is gone.
		stays, err := t.maker.now.isElsewhere(&c, t.now, t.but)
		if err != nil {
			return c, err
		}
		if stays {
			c.Sum, c.NewSum = 0, 0
		}
	}
	return c, nil
}

// sums returns the hashes of siblings before and after the patch.
func (m *maker) sums(old, now *side) (before, after Sum, err error) {
	x, err := m.old.sum(old.group, &old.step, old.rows)
	if err != nil {
		return 0, 0, err
	}
	y, err := m.now.sum(now.group, &now.step, now.rows)
	if err != nil {
		return 0, 0, err
	}
	before, after = x.change(y)
	return before, after, nil
}

// teller finds out what tells a node from its siblings.
type teller struct {
	*maker
	old, now *group
	// within are conditions that hold for all siblings that matter, and but are attributes that do not
	// count.
	within []query.PlainCondition
	but    []string
	// changed are attributes of which the block knows what the node has.
	changed []string
}

// tell notes what tells the x-th node from the others, which is the y-th after the patch, or -1. It is false
// if nothing does, though they are not the same.
func (t *teller) tell(c *Context, x, y int) (bool, error) {
	is, unique, err := t.facts(x, t.within, maxFacts)
	if err != nil {
		return false, err
	}
	same := false
	if !unique {
		if same, err = t.onlyTwins(x, is); err == nil && !same {
			is, unique, err = t.factsBelow(x, is)
		}
		if err == nil && !same && !unique {
			same, err = t.onlyTwins(x, is)
		}
		if err != nil {
			return false, err
		}
	}
	if len(is) > 0 {
		isThere, others, err := t.inNow(is, y)
		if err != nil {
			return false, err
		}
		switch {
		case unique && others == 0 && isThere:
			c.Is = is
		case isThere:
			c.Is, c.Like, same = is, true, same || unique
		default:
			same = same && y < 0
		}
	}
	if c.After, err = t.neighbour(x-1, y, y-1); err != nil {
		return false, err
	}
	if c.Before, err = t.neighbour(x+1, y, y+1); err != nil {
		return false, err
	}
	return c.isAlone() || same || len(c.Is) > 0 && len(c.After)+len(c.Before) > 0, nil
}

// inNow looks for the nodes that hold what facts say after the patch.
func (t *teller) inNow(is Facts, y int) (isThere bool, others int, err error) {
	if len(t.within) > 0 {
		is = slices.Clone(is)
		is[0].Conditions = slices.Concat(t.within, is[0].Conditions)
	}
	fits, err := t.maker.now.having(t.now, is)
	if y < 0 || err != nil {
		return true, len(fits), err
	}
	if isThere = contains(fits, t.now.rows[y].node); isThere {
		return true, len(fits) - 1, nil
	}
	return false, len(fits), nil
}

// neighbour returns what is known of a neighbour, which is the y-th after the patch if the node is there.
func (t *teller) neighbour(x, node, y int) (Facts, error) {
	if x < 0 || x >= len(t.old.rows) {
		return nil, nil
	}
	facts, _, err := t.facts(x, nil, 1)
	if err != nil || node < 0 {
		return facts, err
	}
	if holds, err := t.maker.now.holdsAt(t.now, y, facts); err != nil || !holds {
		return nil, err
	}
	return facts, nil
}

// maxAlike is the number of nodes that are alike from which on onlyTwins does not look at them.
const maxAlike = 1 << 12

// onlyTwins reports whether all siblings for which conditions hold are the same as the x-th, but for the
// attributes that do not count.
func (t *teller) onlyTwins(x int, facts Facts) (bool, error) {
	r := t.maker.old
	rows := t.old.rows
	if len(facts) > 0 {
		var err error
		if rows, err = r.having(t.old, facts); err != nil {
			return false, err
		}
	}
	if len(rows) > maxAlike {
		return false, nil
	}
	but := slices.Concat(t.but, t.changed)
	key := strings.Join(but, "\x00")
	if len(facts) > 0 {
		key += facts.String()
	}
	same, known := t.old.twins[key]
	if known {
		return same, nil
	}
	want, err := r.rest(t.old.rows[x].node, but)
	have := want
	for i := 0; i < len(rows) && have == want && err == nil; i++ {
		have, err = r.rest(rows[i].node, but)
	}
	if err == nil {
		t.old.twins[key] = have == want
	}
	return have == want, err
}

// rest returns a hash of what a node holds but for some attributes, in whatever order.
func (r *resolver) rest(n node, but []string) (_ Sum, err error) {
	sum := uint64(0)
	add := func(name string, typ datacenter.Type, text []byte) {
		r.text = append(append(append(r.text[:0], name...), 0, byte(typ)), text...)
		sum += xxhash.Sum64(r.text)
	}
	err = r.view.Attributes(n, func(name string, typ datacenter.Type, text []byte) {
		if !slices.Contains(but, name) {
			add(name, typ, text)
		}
	})
	if err != nil {
		return 0, err
	}
	var failed error
	err = r.view.Children(n, func(name string, c node) {
		h, err := r.hashes.Hash(c)
		failed = cmp.Or(failed, err)
		add(name, 0, binary.LittleEndian.AppendUint64(nil, h))
	})
	return SumOf(sum), cmp.Or(err, failed)
}

// namesOf returns the attributes that a step asks for.
func namesOf(s *query.PlainStep) (names []string) {
	for i := range s.Conditions {
		names = append(names, s.Conditions[i].Name)
	}
	return names
}

// maxFacts is the number of values that tell a node at most, maxTried of those that are tried, and
// maxFact the length of a text among them.
const (
	maxFacts = 3
	maxTried = 16
	maxFact  = 60
)

// facts returns at most some values that tell the x-th node from its siblings as far as possible. The patch does
// not change them. unique means that no sibling for which conditions hold has all of them.
func (t *teller) facts(x int, within []query.PlainCondition, most int) (facts Facts, unique bool, err error) {
	known, err := t.known(t.old.rows[x].node)
	if err != nil {
		return nil, false, err
	}
	chosen := slices.Clone(within)
	var have []int32 // the rows that have what was chosen
	if len(within) > 0 {
		rows, err := t.maker.old.match(t.old, within)
		if err != nil {
			return nil, false, err
		}
		for _, w := range rows {
			have = append(have, int32(t.old.place(w.node.number)))
		}
	}
	for count := len(t.old.rows) + 1; count > 1 && len(chosen) < len(within)+most; {
		best := -1
		var found bucket
		for i := range known {
			rows, err := t.maker.old.lookUp(t.old, known[i:i+1])
			if err != nil {
				return nil, false, err
			}
			if n := rows.count(have); n < count {
				best, found, count = i, rows, n
			}
		}
		if best < 0 {
			break
		}
		chosen, have = append(chosen, known[best]), found.among(have)
	}
	least := len(have)
	chosen = chosen[len(within):]
	if len(chosen) == 0 {
		return nil, false, nil
	}
	return Facts{{Name: t.old.name, Conditions: chosen}}, least == 1, nil
}

// count returns how many rows are also in a list, or all if that is nil.
func (b bucket) count(list []int32) (n int) {
	if list == nil {
		return b.len()
	}
	for _, row := range list {
		if b.has(row) {
			n++
		}
	}
	return n
}

// among returns the rows that count counts.
func (b bucket) among(list []int32) (both []int32) {
	if list == nil {
		for _, e := range b.rows() {
			both = append(both, e.row)
		}
		return both
	}
	return slices.DeleteFunc(list, func(row int32) bool { return !b.has(row) })
}

// known returns values of a node that the patch does not change, the most likely ones to tell it first.
func (t *teller) known(n node) (conditions []query.PlainCondition, err error) {
	list, err := t.maker.old.view.attributes(n)
	if err != nil {
		return nil, err
	}
	rank := map[string]int{}
	for i := range list {
		a := &list[i]
		text := a.Value.Text()
		if slices.Contains(t.but, a.Name) || slices.Contains(t.changing[n.number], a.Name) || len(text) > maxFact || !identity.Sayable(a.Value.Type(), []byte(text)) {
			continue
		}
		rank[a.Name] = identity.Rank(a.Name)
		if a.Value.Type() != datacenter.Int && a.Value.Type() != datacenter.String {
			rank[a.Name] += 100 // what is measured rarely tells nodes apart
		}
		conditions = append(conditions, query.NewPlainCondition(a.Name, a.Value))
	}
	slices.SortFunc(conditions, func(a, b query.PlainCondition) int {
		return cmp.Or(cmp.Compare(rank[a.Name], rank[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return conditions[:min(len(conditions), maxTried)], nil
}

// factsBelow adds to facts about a node what one of its children holds, if that tells it from more siblings.
func (t *teller) factsBelow(x int, facts Facts) (_ Facts, unique bool, err error) {
	r := t.maker.old
	if len(facts) == 0 {
		facts = Facts{{Name: t.old.name}}
	}
	facts = slices.Clone(facts)
	facts[0].Conditions = slices.Concat(t.within, facts[0].Conditions)
	rows, err := r.having(t.old, facts)
	if err != nil {
		return facts, false, err
	}
	type child struct {
		name string
		node node
	}
	var children []child
	if err := r.view.Children(t.old.rows[x].node, func(name string, n node) {
		if len(children) < maxTried && !t.leaving[n.number] {
			children = append(children, child{name, n})
		}
	}); err != nil {
		return facts, false, err
	}
	best, least := facts, len(rows)
	try := func(s query.PlainStep) error {
		with := append(slices.Clip(facts), s)
		rows, err := r.having(t.old, with)
		if err == nil && len(rows) < least {
			best, least = with, len(rows)
		}
		return err
	}
	for _, c := range children {
		known, err := t.known(c.node)
		if err != nil {
			return facts, false, err
		}
		for i := range known {
			if err := try(query.PlainStep{Name: c.name, Conditions: known[i : i+1]}); err != nil {
				return facts, false, err
			}
			if least == 1 {
				break
			}
		}
	}
	best[0].Conditions = best[0].Conditions[len(t.within):]
	if len(best) == 1 && len(best[0].Conditions) == 0 {
		return nil, false, nil
	}
	return best, least == 1, nil
}
