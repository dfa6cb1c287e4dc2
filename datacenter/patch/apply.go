package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
)

// Applier finds out which edits apply patches to a draft, one patch after the other. Nobody
// else may edit the draft meanwhile.
type Applier struct {
	file  *datacenter.File
	draft *edit.Draft
	// set tells which patch gave an attribute its value.
	set map[setKey]string
}

// setKey is an attribute, or keys or flags, of a node.
type setKey struct {
	node edit.Number
	what What
	name string
}

// NewApplier makes one for a draft of a file.
func NewApplier(f *datacenter.File, d *edit.Draft) *Applier {
	return &Applier{file: f, draft: d, set: map[setKey]string{}}
}

// Result has the edits that apply a patch, and tells what becomes of each of its parts.
type Result struct {
	Patch *Patch
	// Edits are for [edit.Draft.Apply], all at once and before the next patch is
	// planned. They are none if nothing is left to do.
	Edits []edit.Edit
	Items []Item
	// Applied, Already, Conflicts and Yielded count the Items.
	Applied, Already, Conflicts, Yielded int
	// added has the edits of each block that adds a node.
	added []addedBy
	// places are where the path of each block leads, and above the parents of nodes on the way.
	places []foundAt
	above  map[edit.Number]edit.Number
}

// addedBy has the edits of a block that adds a node.
type addedBy struct {
	block int
	edits []edit.Edit
}

// foundAt is the first of the nodes that a path leads to, of which there are as many as found says.
type foundAt struct {
	node  edit.Number
	found int
}

// NewResult returns the result for a patch of which the items are known. It has no Edits.
func NewResult(p *Patch, items []Item) *Result {
	r := &Result{Patch: p, Items: items}
	for i := range items {
		switch items[i].Outcome {
		case Applied:
			r.Applied++
		case Already:
			r.Already++
		case Conflict:
			r.Conflicts++
		case Yielded:
			r.Yielded++
		}
	}
	return r
}

// Outcome says what became of a part of a patch.
type Outcome uint8

// The outcomes.
const (
	// Applied: the edits do it.
	Applied Outcome = iota
	// Already: it is as the patch wants it.
	Already
	// Conflict: it is neither as the patch expects nor as it wants it, so it is left alone.
	Conflict
	// Yielded: another patch wants something else, and is preferred. See [Settle].
	Yielded
)

// String is as in "applied".
func (o Outcome) String() string {
	return [...]string{"applied", "already there", "conflict", "yielded"}[o]
}

// Item is one part of a patch: a line of a Change, or a node that is added or removed.
type Item struct {
	// Block is its place among the patch's blocks, Line among the lines of a Change.
	Block, Line int
	// At is the line of the file, 0 if the patch was made.
	At      int
	Outcome Outcome
	// Reason tells why there is a Conflict, or which other patch set the same value.
	Reason string
	// Node is the node that is changed or removed, or to which one is added; 0 if none was
	// found.
	Node edit.Number
	// Have is what another patch gave the value of a Conflict before, as a line of a patch says it.
	Have string `json:",omitempty"`
}

// IsOf reports whether the patch has the part that the item is about.
func (it *Item) IsOf(p *Patch) bool {
	if it.Block < 0 || it.Block >= len(p.Blocks) || it.Outcome > Yielded {
		return false
	}
	b := &p.Blocks[it.Block]
	return b.Kind != Change || it.Line >= 0 && it.Line < len(b.Lines)
}

// LineOf returns the line of the file with the part of a patch that an item is about, 0 if
// the patch was made.
func (p *Patch) LineOf(it *Item) int {
	b := &p.Blocks[it.Block]
	if b.Kind == Change && b.Lines[it.Line].At > 0 {
		return b.Lines[it.Line].At
	}
	return b.Line
}

// Plan finds out what applies a patch. All its paths are followed before anything changes,
// so the order of its blocks means nothing but for nodes that are added at one place. The
// draft is not changed. An error is of the files or of ctx: what does not fit is a
// Conflict.
func (a *Applier) Plan(ctx context.Context, p *Patch) (*Result, error) {
	pl := &planner{
		Applier: a, resolver: newResolver(newView(ctx, a.file, a.draft)), patch: p,
		items:    make([][]Item, len(p.Blocks)),
		targets:  make([]located, len(p.Blocks)),
		removing: map[edit.Number][]int{},
		removed:  map[edit.Number]int{}, there: map[edit.Number]bool{},
		orders: map[orderKey]*order{}, given: map[setKey]*Line{}, named: map[string]int{},
	}
	if err := pl.plan(); err != nil {
		return nil, err
	}
	r := NewResult(p, slices.Concat(pl.items...))
	r.Edits = slices.Concat(pl.changes, pl.removals, pl.additions)
	r.added, r.above, r.places = pl.added, pl.above, make([]foundAt, len(p.Blocks))
	for i := range pl.targets {
		if nodes := pl.targets[i].nodes; len(nodes) > 0 {
			r.places[i] = foundAt{nodes[0].number, len(nodes)}
		}
	}
	return r, nil
}

// planner is a Plan.
type planner struct {
	*Applier
	*resolver
	patch *Patch
	// items and targets are by block.
	items   [][]Item
	targets []located
	// removing are the blocks that remove a node, as far as their paths tell.
	removing map[edit.Number][]int
	// removed gives the blocks that remove nodes, there are the nodes that it would add.
	removed map[edit.Number]int
	there   map[edit.Number]bool
	// given are the lines of what this patch changed so far, and named the blocks that add
	// nodes with keys or an id, by what they add.
	given  map[setKey]*Line
	named  map[string]int
	adds   []*addition
	orders map[orderKey]*order

	changes, removals, additions []edit.Edit
	// added has the additions by blocks.
	added []addedBy
}

func (p *planner) plan() error {
	p.renamed = p.patch.renamed()
	if err := p.locateAll(); err != nil {
		return err
	}
	if len(p.renumbered) > 0 { // which nodes in these groups were not judged by yet
		if err := p.locateAll(); err != nil {
			return err
		}
	}
	if err := p.lookAdditions(); err != nil {
		return err
	}
	// What is removed comes first, as no other block may change that.
	for i := range p.patch.Blocks {
		if b := &p.patch.Blocks[i]; b.Kind == Remove {
			if err := p.remove(i, b); err != nil {
				return err
			}
		}
	}
	if err := p.replaceSheets(); err != nil {
		return err
	}
	p.removals = slices.DeleteFunc(p.removals, func(e edit.Edit) bool { return p.goesWith(p.above[e.Node]) != nil })
	for i := range p.patch.Blocks {
		if b := &p.patch.Blocks[i]; b.Kind == Change {
			if err := p.change(i, b); err != nil {
				return err
			}
		}
	}
	return p.add()
}

// locateAll follows the paths of all blocks.
func (p *planner) locateAll() error {
	clear(p.removing)
	for i := range p.patch.Blocks {
		b := &p.patch.Blocks[i]
		var err error
		if p.targets[i], err = p.locate(b); err != nil {
			return err
		}
		if b.Kind == Remove && len(p.targets[i].nodes) == 1 {
			n := p.targets[i].nodes[0].number
			p.removing[n] = append(p.removing[n], i)
		}
	}
	return nil
}

// replaceSheets finds out which sheets are removed and added, as the blocks do that replace a sheet.
// If one of these of a name conflicts, all others do, but for sheets that are there already: a sheet would be lost, or would be there twice.
func (p *planner) replaceSheets() error {
	removing := map[string][]int{}
	for i := range p.patch.Blocks {
		if b := &p.patch.Blocks[i]; b.Kind == Remove && len(b.Path.Steps) == 1 {
			removing[b.Node.Name] = append(removing[b.Node.Name], i)
		}
	}
	adding := map[string][]*addition{}
	for _, a := range p.adds {
		if name := a.b.Node.Name; len(a.b.Path.Steps) == 0 && removing[name] != nil && a.there == 0 {
			adding[name] = append(adding[name], a)
		}
	}
	for name, adds := range adding {
		has := func(outcome Outcome) bool {
			return slices.ContainsFunc(removing[name], func(i int) bool { return p.items[i][0].Outcome == outcome })
		}
		if !has(Conflict) {
			if !has(Applied) {
				continue
			}
			added, err := p.allAdded(adds)
			if err != nil {
				return err
			}
			if added {
				continue
			}
		}
		p.keepSheets(removing[name], adds)
	}
	return nil
}

// allAdded reports whether nothing speaks against adding some nodes.
func (p *planner) allAdded(adds []*addition) (bool, error) {
	for _, a := range adds {
		if a.reason != "" {
			return false, nil
		}
		if reason, err := p.clash(a); err != nil || reason != "" {
			return false, err
		}
	}
	return true, nil
}

// keepSheets takes back that some blocks remove sheets and that others add sheets.
func (p *planner) keepSheets(removing []int, adds []*addition) {
	for _, a := range adds {
		if a.reason == "" {
			a.reason = "a sheet that the patch replaces can't be removed or added"
		}
	}
	for _, i := range removing {
		it := &p.items[i][0]
		if it.Outcome != Applied {
			continue
		}
		it.Outcome, it.Reason = Conflict, "a sheet that the patch replaces can't be removed or added"
		delete(p.removed, it.Node)
		p.removals = slices.DeleteFunc(p.removals, func(e edit.Edit) bool { return e.Node == it.Node })
	}
}

// goesWith gives the block that removes a node that a path led to, or one that it is below;
// it is nil if the node stays.
func (p *planner) goesWith(n edit.Number) *Block {
	for ; n != 0; n = p.above[n] {
		if i, ok := p.removed[n]; ok {
			return &p.patch.Blocks[i]
		}
	}
	return nil
}

// because spells the line of a block of the same patch, if it was parsed.
func (b *Block) because(what string) string {
	if b.Line == 0 {
		return "the patch itself " + what
	}
	return fmt.Sprintf("line %d of the patch %s", b.Line, what)
}

// renamed gives the steps whose conditions are other ones once the patch is applied, by
// the paths that they are the last of.
func (p *Patch) renamed() map[string]query.PlainStep {
	m := map[string]query.PlainStep{}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if b.Kind != Change || len(b.Path.Steps) == 0 {
			continue
		}
		if step, ok := b.renamedStep(); ok {
			m[string(query.AppendPlain(nil, b.Path.Steps))] = step
		}
	}
	return m
}

// renamedStep is the last step of a block's path with the values that the block gives; ok
// is false if it changes none of them.
func (b *Block) renamedStep() (step query.PlainStep, ok bool) {
	step = b.Path.Steps[len(b.Path.Steps)-1]
	if placeOf(&step) > 0 {
		return step, false
	}
	step.Conditions = slices.Clone(step.Conditions)
	for _, l := range b.Lines {
		v := l.New.Attribute
		if l.What != Attribute || v.Type() == 0 || !identity.Sayable(v.Type(), []byte(v.Text())) {
			continue
		}
		for k := range step.Conditions {
			if step.Conditions[k].Name == l.Name {
				step.Conditions[k] = query.NewPlainCondition(l.Name, v)
				ok = true
			}
		}
	}
	return step, ok
}

// report notes what becomes of a part of block i.
func (p *planner) report(i int, it Item) {
	it.Block = i
	it.At = p.patch.LineOf(&it)
	p.items[i] = append(p.items[i], it)
}

// one gives the node that a block is about, or tells why there is none.
func (l *located) one() (n node, reason string) {
	switch {
	case l.reason != "":
		return n, l.reason
	case len(l.nodes) == 0:
		return n, "there is no such node"
	case len(l.nodes) > 1:
		return n, fmt.Sprintf("the path leads to %d nodes", len(l.nodes))
	}
	return l.nodes[0], ""
}

// change plans a block that changes a node, line by line.
func (p *planner) change(i int, b *Block) error {
	n, reason := p.targets[i].one()
	if gone := p.goesWith(n.number); reason == "" && gone != nil {
		reason = gone.because("removes it")
	}
	for k := range b.Lines {
		l := &b.Lines[k]
		it := Item{Line: k, Outcome: Conflict, Reason: reason}
		if reason == "" {
			if err := p.changeLine(n, l, &it, p.targets[i].renamed); err != nil {
				return err
			}
		}
		p.report(i, it)
	}
	return nil
}

// changeLine plans one line. Of a node that was found by the values that the patch gives,
// nothing is changed.
func (p *planner) changeLine(n node, l *Line, it *Item, renamed bool) error {
	it.Node = n.number
	var have Value
	var err error
	keys, flags := p.view.marks(n)
	switch l.What {
	case Keys:
		have.Keys = keys
	case Flags:
		have.Flags = flags
	default:
		if have.Attribute, err = p.view.attribute(n, l.Name); err != nil {
			return err
		}
	}
	key := setKey{n.number, l.What, l.Name}
	if other := p.given[key]; other != nil {
		if !other.New.Equal(&l.New) {
			it.Reason = fmt.Sprintf("%s is to be %s, and by another block of the patch %s", l.Label(), l.New.describe(l.What), other.New.describe(l.What))
			return nil
		}
		if have.Equal(&l.Old) {
			it.Outcome = Applied // by the other block
			return nil
		}
	}
	before := p.set[key]
	switch {
	case renamed && !have.Equal(&l.New):
		it.Reason = fmt.Sprintf("%s; of that, %s is %s; want %s", onlyRenamed, l.Label(), have.describe(l.What), l.New.describe(l.What))
	case have.Equal(&l.Old):
		it.Outcome = Applied
		p.changes = append(p.changes, l.edit(n.number))
		p.set[key] = p.patch.Name
		if before != "" {
			it.Reason = "the patch " + before + " set it as well"
		}
	case have.Equal(&l.New):
		it.Outcome = Already
	default:
		it.Reason = fmt.Sprintf("%s is %s; want %s or %s", l.Label(), have.describe(l.What), l.Old.describe(l.What), l.New.describe(l.What))
		if before != "" {
			it.Reason += ": the patch " + before + " set it"
			if l.has(&have) {
				it.Have = strings.TrimSuffix(string(have.append(nil, l)), "\n")
			}
		}
	}
	if it.Outcome != Conflict {
		p.given[key] = l
	}
	return nil
}

const onlyRenamed = "there is no such node, but one of the values that the patch gives it"

// Label names what a line changes, for reports.
func (l *Line) Label() string {
	switch l.What {
	case Keys:
		return keysName
	case Flags:
		return flagsName
	}
	return string(query.AppendName(nil, l.Name))
}

// edit is the edit that a line is.
func (l *Line) edit(n edit.Number) edit.Edit {
	e := edit.Edit{Op: edit.SetAttribute, Node: n, Name: l.Name, Value: l.New.Attribute}
	switch {
	case l.What == Keys:
		e = edit.Edit{Op: edit.SetKeys, Node: n, Keys: l.New.Keys}
	case l.What == Flags:
		e = edit.Edit{Op: edit.SetFlags, Node: n, Flags: l.New.Flags}
	case l.New.Attribute.Type() == 0:
		e = edit.Edit{Op: edit.RemoveAttribute, Node: n, Name: l.Name}
	}
	return e
}

// remove plans a block that removes a node.
func (p *planner) remove(i int, b *Block) error {
	t := &p.targets[i]
	if t.reason == "" && len(t.nodes) == 0 {
		p.report(i, Item{Outcome: Already})
		return nil
	}
	n, reason, err := p.removable(b, t)
	if err != nil {
		return err
	}
	it := Item{Outcome: Conflict, Reason: reason, Node: n.number}
	switch {
	case reason != "":
	case p.there[n.number]:
		it.Outcome = Already
	default:
		if it.Reason, err = p.view.differs(n, b.Node); err != nil {
			return err
		}
		if it.Reason == "" && t.renamed {
			it.Reason = onlyRenamed
		}
		if it.Reason == "" {
			it.Outcome = Applied
			if _, ok := p.removed[n.number]; !ok {
				p.removals = append(p.removals, edit.Edit{Op: edit.RemoveNode, Node: n.number})
				p.removed[n.number] = i
			}
		}
	}
	p.report(i, it)
	return nil
}

// removable chooses the node of a block that removes one: where the path leads to several,
// the one that is equal to what the block says and is beside the sibling that it names.
func (p *planner) removable(b *Block, t *located) (n node, reason string, err error) {
	if len(t.nodes) < 2 {
		n, reason = t.one()
		return n, reason, nil
	}
	var equal []int
	for i, x := range t.nodes {
		what, err := p.view.differs(x, b.Node)
		if err != nil {
			return n, "", err
		}
		if _, ok := p.removed[x.number]; what == "" && !ok {
			equal = append(equal, i)
		}
	}
	if len(equal) > 1 && b.Beside.Text != "" {
		if equal, err = p.nextTo(b, t, equal); err != nil {
			return n, "", err
		}
	}
	if len(equal) != 1 {
		return n, fmt.Sprintf("the path leads to %d nodes, %d of which are what the patch removes", len(t.nodes), len(equal)), nil
	}
	return t.nodes[equal[0]], "", nil
}
