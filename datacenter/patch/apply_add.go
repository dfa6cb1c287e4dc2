package patch

import (
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
)

// idName is the attribute by which nodes without keys are known.
const idName = "id"

// addition is a block that adds a node.
type addition struct {
	block  int
	b      *Block
	reason string // why it can't be added
	parent node
	// anchor is the sibling beside which it goes, 0 if there is none.
	anchor edit.Number
	// there has what is there already; same are nodes of the same identity that are not
	// equal.
	there edit.Number
	same  []row
}

// lookAdditions finds out where nodes go that are added, and which of them are there.
func (p *planner) lookAdditions() error {
	at := map[orderKey][]*addition{} // those of which siblings tell whether they are there
	var keys []orderKey
	for i := range p.patch.Blocks {
		b := &p.patch.Blocks[i]
		if b.Kind != Add {
			continue
		}
		a := &addition{block: i, b: b}
		p.adds = append(p.adds, a)
		open, err := p.lookAddition(a)
		if err != nil {
			return err
		}
		if a.there != 0 {
			p.there[a.there] = true
		}
		if !open || a.reason != "" {
			continue
		}
		key := orderKey{parent: a.parent.number, name: b.Node.Name}
		if at[key] == nil {
			keys = append(keys, key)
		}
		at[key] = append(at[key], a)
	}
	for _, key := range keys {
		if err := p.lookAmong(key.name, at[key]); err != nil {
			return err
		}
	}
	return nil
}

// lookAddition finds the place of an addition and whether it is there, as far as its guard,
// its keys or its id tell. It is open if nothing but all that the node holds can tell.
func (p *planner) lookAddition(a *addition) (open bool, err error) {
	t := &p.targets[a.block]
	parents := t.found
	if t.reason != "" || len(t.nodes) == 0 {
		_, a.reason = t.one()
		a.reason = "no place to add it: " + a.reason
		return false, nil
	}
	if err := p.lookBeside(a, parents); err != nil {
		return false, err
	}
	if a.reason != "" {
		return false, nil
	}
	if c := a.b.contextOf(AddedNode); c != nil {
		g, rows, err := p.step(parents, &c.Step)
		if err != nil {
			return false, err
		}
		sum, err := p.sum(g, &c.Step, rows)
		if err != nil {
			return false, err
		}
		if at, known := c.at(sum, len(rows)); known {
			if at > 0 {
				a.there = rows[at-1].node.number
			}
			return false, nil
		}
	}
	conditions := given(a.b.Node.Keys, a.b.Node.Attributes)
	if len(conditions) == 0 {
		return true, nil
	}
	_, rows, err := p.step(parents, &query.PlainStep{Name: a.b.Node.Name, Conditions: conditions})
	if err != nil {
		return false, err
	}
	return false, p.lookSame(a, rows)
}

// lookSame looks among nodes of the same identity for the one that is added.
func (p *planner) lookSame(a *addition, rows []row) error {
	for _, w := range rows {
		same, err := p.isThere(a, w.node)
		if err != nil {
			return err
		}
		if !same {
			continue
		}
		goes, err := p.vanishes(p.targets[a.block].nodes[w.parent])
		if err != nil {
			return err
		}
		if !goes {
			a.there = w.node.number
			return nil
		}
	}
	a.same = rows
	return nil
}

// vanishes tells whether the patch removes a node, which is as it was before the patch.
func (p *planner) vanishes(n node) (bool, error) {
	blocks := p.removing[n.number]
	if len(blocks) == 0 {
		return false, nil
	}
	what, err := p.view.differs(n, p.patch.Blocks[blocks[0]].Node)
	return err == nil && what == "", err
}

// moves tells whether the patch removes a node that is equal to what it adds, which only
// brings it to another place, and the node is not there yet.
func (p *planner) moves(a *addition, n node) (bool, error) {
	if a.anchor == 0 {
		return false, nil
	}
	if goes, err := p.vanishes(n); err != nil || !goes {
		return false, err
	}
	o, err := p.order(a.parent, a.b.Node.Name)
	if err != nil {
		return false, err
	}
	return !o.adjacent(a.anchor, n.number, a.b.Beside.Before), nil
}

// given are the conditions that a node meets by its keys or, without keys, by its id.
func given(keys datacenter.KeyDefinition, attributes []sheets.ElementAttribute) (conditions []query.PlainCondition) {
	names := []string(keys)
	if len(names) == 0 {
		names = []string{idName}
	}
	for _, name := range names {
		i := slices.IndexFunc(attributes, func(a sheets.ElementAttribute) bool { return a.Name == name })
		if i < 0 {
			return nil
		}
		v := attributes[i].Value
		if !identity.Sayable(v.Type(), []byte(v.Text())) {
			return nil
		}
		conditions = append(conditions, query.NewPlainCondition(name, v))
	}
	return conditions
}

// lookBeside chooses the parent and the sibling of an addition.
func (p *planner) lookBeside(a *addition, parents found) error {
	rows, reason, err := p.besideRows(a.b, parents)
	if err != nil {
		return err
	}
	switch {
	case reason != "" && a.b.Beside.Step.Nth == 0:
		a.reason = reason
	case len(rows) == 1:
		a.parent, a.anchor = parents.nodes[rows[0].parent], rows[0].node.number
	case len(parents.nodes) == 1 && (a.b.Beside.Text == "" || len(a.b.Path.Steps) != 1 || len(given(a.b.Node.Keys, a.b.Node.Attributes)) > 0):
		a.parent = parents.nodes[0]
	case len(parents.nodes) == 1:
		a.reason = "the sibling beside which it goes is not there, and another sheet may have had it"
	case reason != "":
		a.reason = reason
	default:
		a.reason = fmt.Sprintf("the path leads to %d nodes, of which %d have the sibling beside which it goes", len(parents.nodes), len(rows))
	}
	return nil
}

// besideRows finds the sibling beside which a node is.
func (p *planner) besideRows(b *Block, parents found) (rows []row, reason string, err error) {
	if b.Beside.Text == "" {
		return nil, "", nil
	}
	s, renamed := b.Beside.Step, false
	g, rows, err := p.step(parents, &s)
	if other, ok := p.renamed[b.besidePath()]; ok && len(rows) == 0 && err == nil {
		s, renamed = other, true
		g, rows, err = p.step(parents, &s)
	}
	if err != nil {
		return nil, "", err
	}
	c := b.contextOf(BesideStep)
	if s.Nth > 0 {
		return p.place(g, &s, rows, s.Nth, c)
	}
	if c != nil && b.Kind == Add && !renamed {
		if reason, err := p.doubt(c, g, &s, rows); err != nil || reason != "" {
			return nil, reason, err
		}
	}
	return rows, "", nil
}

// nextTo keeps those of the nodes of a block that are next to the sibling that it names.
func (p *planner) nextTo(b *Block, t *located, places []int) (kept []int, err error) {
	parents := found{key: t.key + "/.."}
	for _, n := range t.parents {
		if !slices.ContainsFunc(parents.nodes, func(x node) bool { return x.number == n.number }) {
			parents.nodes = append(parents.nodes, n)
		}
	}
	rows, _, err := p.besideRows(b, parents)
	if err != nil || len(rows) != 1 {
		return nil, err
	}
	o, err := p.order(parents.nodes[rows[0].parent], b.Node.Name)
	if err != nil {
		return nil, err
	}
	for _, i := range places {
		if o.adjacent(rows[0].node.number, t.nodes[i].number, b.Beside.Before) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

// orderKey is siblings of a name or, with an anchor, one side of one of them.
type orderKey struct {
	parent edit.Number
	name   string
	anchor edit.Number
	before bool
}

// order is the siblings of one name as they are, and as nodes are added between them.
type order struct {
	slots   []*slot
	ordinal uint32 // the next that is free
	last    uint64 // the highest rank
}

// slot is one of the siblings, or of those that are added.
type slot struct {
	node node
	rank uint64
	add  *addition
}

// order gives the siblings of a name that a node has.
func (p *planner) order(parent node, name string) (*order, error) {
	key := orderKey{parent: parent.number, name: name}
	if o := p.orders[key]; o != nil {
		return o, nil
	}
	if err := p.draft.Open(parent.number); err != nil {
		return nil, err
	}
	kids, err := p.view.entries(node{number: parent.number, touched: true})
	if err != nil {
		return nil, err
	}
	o := &order{}
	for i := range kids {
		if k := &kids[i]; k.Name == name {
			n, err := p.view.child(k)
			if err != nil {
				return nil, err
			}
			o.slots = append(o.slots, &slot{node: n, rank: k.Rank})
			o.ordinal = max(o.ordinal, k.Ordinal+1)
			o.last = max(o.last, k.Rank)
		}
	}
	slices.SortStableFunc(o.slots, func(x, y *slot) int { return cmp.Compare(x.rank, y.rank) })
	p.orders[key] = o
	return o, nil
}

func (o *order) find(n edit.Number) int {
	return slices.IndexFunc(o.slots, func(s *slot) bool { return s.node.number == n && s.add == nil })
}

// adjacent tells whether a node is next to another one, on its given side.
func (o *order) adjacent(anchor, n edit.Number, before bool) bool {
	i, j := o.find(anchor), o.find(n)
	if before {
		i, j = j, i
	}
	return i >= 0 && j == i+1
}

// lookAmong looks among the siblings of nodes that are to be added, and that nothing but all
// that they hold tells apart, for those that are there. Each stands for one.
func (p *planner) lookAmong(name string, adds []*addition) error {
	o, err := p.order(adds[0].parent, name)
	if err != nil {
		return err
	}
	for _, s := range o.slots {
		for k, a := range adds {
			same, err := p.isThere(a, s.node)
			if err != nil {
				return err
			}
			if same {
				a.there = s.node.number
				p.there[a.there] = true
				adds = slices.Delete(adds, k, k+1)
				break
			}
		}
	}
	return nil
}

// isThere tells whether a node is the one that is to be added, and stays.
func (p *planner) isThere(a *addition, n node) (bool, error) {
	what, err := p.view.differs(n, a.b.Node)
	if err != nil || what != "" || p.there[n.number] {
		return false, err
	}
	moved, err := p.moves(a, n)
	return !moved, err
}

// add plans what adds nodes, behind what removes others.
func (p *planner) add() error {
	// cursor is, for each place, what was added there last.
	cursor := map[orderKey]*slot{}
	var orders []*order
	pending := map[*order]node{}
	for _, a := range p.adds {
		it := Item{Outcome: Applied, Reason: a.reason, Node: a.parent.number}
		if gone := p.goesWith(a.parent.number); a.reason == "" && gone != nil {
			a.reason = "no place to add it: " + gone.because("removes that")
		}
		if a.reason == "" && a.there == 0 {
			var err error
			if a.reason, err = p.clash(a); err != nil {
				return err
			}
		}
		it.Reason = a.reason
		switch {
		case a.reason != "":
			it.Outcome = Conflict
		case a.there != 0:
			it.Outcome, it.Node = Already, a.there
		}
		p.report(a.block, it)
		if a.reason != "" {
			continue
		}
		o, err := p.order(a.parent, a.b.Node.Name)
		if err != nil {
			return err
		}
		if _, known := pending[o]; !known {
			pending[o] = a.parent
			orders = append(orders, o)
		}
		key := orderKey{a.parent.number, a.b.Node.Name, a.anchor, a.b.Beside.Before}
		cursor[key] = o.put(a, cursor[key])
	}
	for _, o := range orders {
		if err := p.fill(o, pending[o]); err != nil {
			return err
		}
	}
	return nil
}

// clash tells what is there that has the identity of an addition.
func (p *planner) clash(a *addition) (string, error) {
	if p.targets[a.block].renamed {
		return "no place to add it: " + onlyRenamed, nil
	}
	if first := p.name(a); first != nil {
		return first.because("adds the same"), nil
	}
	for _, w := range a.same {
		_, removed := p.removed[w.node.number]
		if parent := p.targets[a.block].nodes[w.parent]; removed || p.goesWith(parent.number) != nil {
			continue
		}
		what, err := p.view.differs(w.node, a.b.Node)
		if err != nil {
			return "", err
		}
		if what == "" {
			what = "it is there, at another place"
		}
		return "there is one already: " + what, nil
	}
	return "", nil
}

// name notes an addition that has keys or an id, and gives the block that adds the same.
// Equal nodes that a made patch adds or, reversed, brings back have a context.
func (p *planner) name(a *addition) *Block {
	conditions := given(a.b.Node.Keys, a.b.Node.Attributes)
	if len(conditions) == 0 || a.b.contextOf(AddedNode) != nil {
		return nil
	}
	key := p.targets[a.block].key + "\n" + string(sheets.AppendElement(nil, a.b.Node))
	if first, ok := p.named[key]; ok && first != a.block {
		return &p.patch.Blocks[first]
	}
	p.named[key] = a.block
	return nil
}

// put puts an addition behind what was put to its place before, and gives its slot.
func (o *order) put(a *addition, behind *slot) *slot {
	if a.there != 0 {
		if i := o.find(a.there); i >= 0 {
			return o.slots[i]
		}
		return behind
	}
	at := len(o.slots)
	switch {
	case behind != nil:
		at = 1 + slices.Index(o.slots, behind)
	case a.anchor != 0 && a.b.Beside.Before:
		at = o.find(a.anchor)
	case a.anchor != 0:
		at = 1 + o.find(a.anchor)
	}
	s := &slot{add: a}
	o.slots = slices.Insert(o.slots, at, s)
	return s
}

// fill adds the edits that make the nodes that were put between siblings.
func (p *planner) fill(o *order, parent node) error {
	low := uint64(0)
	for i := 0; i < len(o.slots); {
		end := i
		for end < len(o.slots) && o.slots[end].add != nil {
			end++
		}
		if end == i {
			low = o.slots[i].rank
			i++
			continue
		}
		step := uint64(edit.RankGap)
		if end < len(o.slots) {
			step = (o.slots[end].rank - low) / uint64(end-i+1)
		} else {
			low = max(low, o.last)
		}
		if step == 0 {
			return fmt.Errorf("no room is left between siblings called %s: save first", o.slots[i].add.b.Node.Name)
		}
		for ; i < end; i++ {
			low += step
			a := o.slots[i].add
			before := len(p.additions)
			if err := p.make(a.b.Node, edit.Edit{Parent: parent.number, Ordinal: o.ordinal, Rank: low}); err != nil {
				return err
			}
			p.added = append(p.added, addedBy{a.block, p.additions[before:]})
			o.ordinal++
		}
	}
	return nil
}

// make adds the edits that make a node with all below it.
func (p *planner) make(e *sheets.Element, at edit.Edit) error {
	if err := p.view.ctx.Err(); err != nil {
		return err
	}
	number := p.draft.NewNumber()
	at.Op, at.Node, at.Name, at.Keys, at.Flags = edit.AddNode, number, e.Name, e.Keys, e.Flags
	p.additions = append(p.additions, at)
	for _, a := range e.Attributes {
		p.additions = append(p.additions, edit.Edit{Op: edit.SetAttribute, Node: number, Name: a.Name, Value: a.Value})
	}
	ordinals := map[string]uint32{}
	for _, c := range e.Children {
		if err := p.make(c, edit.Edit{Parent: number, Ordinal: ordinals[c.Name]}); err != nil {
			return err
		}
		ordinals[c.Name]++
	}
	return nil
}
