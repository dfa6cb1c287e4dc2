package patch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
)

// wayStep is a node on the way to another one, which has place others of its name before it.
type wayStep struct {
	name  string
	place int
	node  node
}

// way is the way from a sheet to a node. That of the root is empty.
type way []wayStep

// child is the way to a child of the node.
func (w way) child(s wayStep) way { return append(slices.Clip(w), s) }

// last is the node to which the way leads.
func (w way) last(v *view) (node, error) {
	if len(w) == 0 {
		return v.root()
	}
	return w[len(w)-1].node, nil
}

// difference is one thing that becomes a block.
type difference struct {
	kind Kind
	// old leads to the node as it was, or to the parent of one that is added; now to the
	// node as it is, or to the parent of one that was removed.
	old, now way
	lines    []Line
	element  *sheets.Element
}

// sheet is the number of the sheet as it was; ok is false for sheets that are added.
func (d *difference) sheet() (edit.Number, bool) {
	if len(d.old) == 0 {
		return 0, false
	}
	return d.old[0].node.number, true
}

// weight is how many nodes and attributes are other ones.
func (d *difference) weight() int64 {
	if d.element != nil {
		return d.element.Entries()
	}
	return int64(len(d.lines))
}

// growth is how many nodes and attributes there are more than before.
func (d *difference) growth() (n int64) {
	switch d.kind {
	case Add:
		return d.element.Entries()
	case Remove:
		return -d.element.Entries()
	case Change:
	}
	for i := range d.lines {
		l := &d.lines[i]
		if !l.has(&l.Old) {
			n++
		}
		if !l.has(&l.New) {
			n--
		}
	}
	return n
}

// maker makes a patch of what differs between two data centers.
type maker struct {
	ctx      context.Context //nolint:containedctx // it lives as long as Make
	old, now *resolver
	paths    *identity.Paths[datacenter.Node] // of what was
	list     []*difference
	// whole are the ways to sheets as they were and are, by their old numbers.
	whole map[edit.Number][2]way
	// leaving are nodes as they were that are removed or moved, fresh those that are added
	// or moved.
	leaving, fresh map[edit.Number]bool
	// changing are the attributes that the patch changes, by the nodes as they were.
	changing map[edit.Number][]string
	families map[familyKey]*family
	// partners are the nodes as they are, by those as they were, of siblings that stay in another
	// order since keys changed.
	partners map[edit.Number]edit.Number
	// walked are the steps of the last path, as far as both sides have their nodes.
	walked []walked
}

// newMaker makes a maker. What was is a file.
func newMaker(ctx context.Context, old, now *view) (*maker, error) {
	root, err := old.file.Root()
	return &maker{
		ctx: ctx, old: newResolver(old), now: newResolver(now), paths: identity.NewPaths(identity.NewFile(ctx), root),
		whole: map[edit.Number][2]way{}, leaving: map[edit.Number]bool{}, fresh: map[edit.Number]bool{},
		changing: map[edit.Number][]string{}, families: map[familyKey]*family{},
		partners: map[edit.Number]edit.Number{},
	}, err
}

// changed notes two nodes that belong together, and the lines in which they differ.
func (m *maker) changed(old, now way) error {
	x, err := old.last(m.old.view)
	if err != nil {
		return err
	}
	y, err := now.last(m.now.view)
	if err != nil {
		return err
	}
	d := &difference{kind: Change, old: slices.Clone(old), now: slices.Clone(now)}
	xs, err := m.old.view.attributes(x)
	if err != nil {
		return err
	}
	ys, err := m.now.view.attributes(y)
	if err != nil {
		return err
	}
	values := map[string]*Line{}
	for _, a := range xs {
		values[a.Name] = &Line{Name: a.Name, Old: Value{Attribute: a.Value}}
	}
	for _, a := range ys {
		if values[a.Name] == nil {
			values[a.Name] = &Line{Name: a.Name}
		}
		values[a.Name].New = Value{Attribute: a.Value}
	}
	for _, l := range values {
		if l.Old.Attribute != l.New.Attribute {
			d.lines = append(d.lines, *l)
		}
	}
	slices.SortFunc(d.lines, func(a, b Line) int { return compareAttributes(a.Name, b.Name) })
	xKeys, xFlags := m.old.view.marks(x)
	yKeys, yFlags := m.now.view.marks(y)
	if !slices.Equal(xKeys, yKeys) {
		d.lines = append(d.lines, Line{What: Keys, Old: keysValue(xKeys), New: keysValue(yKeys)})
	}
	if xFlags != yFlags {
		d.lines = append(d.lines, Line{What: Flags, Old: Value{Flags: xFlags}, New: Value{Flags: yFlags}})
	}
	m.add(d)
	return nil
}

func keysValue(keys datacenter.KeyDefinition) Value {
	if len(keys) == 0 {
		keys = nil
	}
	return Value{Keys: keys}
}

// removed notes a node that is not there any more; parent is where it was.
func (m *maker) removed(old, parent way) error {
	last := old[len(old)-1]
	room := maxNode
	e, err := m.old.view.element(last.name, last.node, &room)
	if err != nil {
		return err
	}
	m.leaving[last.node.number] = true
	m.add(&difference{kind: Remove, old: slices.Clone(old), now: slices.Clone(parent), element: e})
	return nil
}

// added notes a node that was not there; parent is where it goes.
func (m *maker) added(parent, now way) error {
	last := now[len(now)-1]
	room := maxNode
	e, err := m.now.view.element(last.name, last.node, &room)
	if err != nil {
		return err
	}
	m.fresh[last.node.number] = true
	m.add(&difference{kind: Add, old: slices.Clone(parent), now: slices.Clone(now), element: e})
	return nil
}

// moved notes a node that others have passed: it is removed and added.
func (m *maker) moved(old, now way) error {
	if err := m.removed(old, now[:len(now)-1]); err != nil {
		return err
	}
	return m.added(old[:len(old)-1], now)
}

func (m *maker) add(d *difference) {
	m.list = append(m.list, d)
	if len(d.old) == 0 || len(d.now) == 0 || d.kind != Change && len(d.old)+len(d.now) == 1 {
		return
	}
	if n := d.old[0].node.number; m.whole[n][0] == nil {
		m.whole[n] = [2]way{slices.Clone(d.old[:1]), slices.Clone(d.now[:1])}
	}
}

// fewEntries is how many nodes and attributes a sheet has that is never replaced as a whole:
// its changes are few to read, however many they are.
const fewEntries = 16

// replaceSheets makes of the differences of a sheet, of which more than half is another one,
// that it is removed and added.
func (m *maker) replaceSheets() error {
	weights, growth := map[edit.Number]int64{}, map[edit.Number]int64{}
	for _, d := range m.list {
		if n, ok := d.sheet(); ok {
			weights[n] += d.weight()
			growth[n] += d.growth()
		}
	}
	list := m.list
	m.list = nil
	for _, d := range list {
		n, ok := d.sheet()
		ways, known := m.whole[n]
		if !ok || !known {
			m.list = append(m.list, d)
			continue
		}
		switch w := weights[n]; {
		case w < 0: // it was replaced
		case w < fewEntries || !half(w, int64(ways[0][0].node.stored.Entries()), growth[n]):
			m.list = append(m.list, d)
		default:
			weights[n] = -1
			if err := m.moved(ways[0], ways[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// half tells whether a weight is more than half of a sheet that a block can say, which had
// some entries and grew.
func half(weight, entries, growth int64) bool {
	return max(entries, entries+growth) <= maxNode && 2*weight > max(entries, entries+growth)
}

// blocks makes the patch of what was noted.
func (m *maker) blocks() (*Patch, error) {
	if err := m.replaceSheets(); err != nil {
		return nil, err
	}
	for _, d := range m.list {
		for _, l := range d.lines {
			if n := len(d.old); l.What == Attribute && n > 0 {
				key := d.old[n-1].node.number
				m.changing[key] = append(m.changing[key], l.Name)
			}
		}
	}
	p := &Patch{}
	var paths []*made
	for _, d := range m.list {
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		b, err := m.block(d)
		if err != nil {
			return nil, err
		}
		paths = append(paths, b)
	}
	inTurn(paths)
	for _, b := range paths {
		p.Blocks = append(p.Blocks, b.Block)
	}
	m.now.renamed = p.renamed()
	// A block that comes to go by a place gives its step no other name any more, on which
	// paths of what is below relied.
	for first := true; ; first = false {
		m.walked = nil // it depends on what is renamed
		known := len(m.now.renamed)
		for i, b := range paths {
			if !first {
				if err := m.findPath(b); err != nil {
					return nil, err
				}
			}
			if err := m.findPlaces(b); err != nil {
				return nil, err
			}
			p.Blocks[i] = b.Block
		}
		if m.now.renamed = p.renamed(); len(m.now.renamed) >= known {
			break
		}
	}
	for i, b := range paths {
		if err := m.findContexts(b); err != nil {
			return nil, err
		}
		p.Blocks[i].Contexts = b.Contexts
		lines := slices.ContainsFunc(b.Lines, func(l Line) bool { return strings.ContainsAny(l.Name, "\r\n") })
		if lines || strings.ContainsAny(b.Path.Text+b.Beside.Text, "\r\n") {
			return nil, fmt.Errorf("%q: a name with a line break can't stand in a patch: %w", b.Path.Text, datacenter.ErrValue)
		}
	}
	return p, nil
}

// made is a block of a difference. Both ways lead to what its path finds, and with a sibling
// beside it to that.
type made struct {
	Block
	*difference
	old, now way
	beside   bool
}

// inTurn brings the blocks that add nodes at one place in the order of these nodes, and those
// that remove nodes from one place likewise: reversed, these add them.
func inTurn(list []*made) {
	type at struct {
		kind           Kind
		parent, beside edit.Number
		name           string
		before         bool
	}
	groups := map[at][]int{}
	for i, b := range list {
		if b.Kind == Change {
			continue
		}
		key := at{kind: b.Kind, name: b.Node.Name, before: b.Beside.Before}
		way, beside := b.sides()
		if n := len(way); n > 1 {
			key.parent = way[n-2].node.number
		}
		if b.beside {
			key.beside = beside[len(beside)-1].node.number
		}
		groups[key] = append(groups[key], i)
	}
	for _, places := range groups {
		blocks := make([]*made, len(places))
		for k, i := range places {
			blocks[k] = list[i]
		}
		slices.SortFunc(blocks, func(a, b *made) int { return a.place() - b.place() })
		for k, i := range places {
			list[i] = blocks[k]
		}
	}
}

// sides returns the way to a node that is added or removed and that to the sibling beside it,
// in the file that has the node.
func (b *made) sides() (to, beside way) {
	if b.Kind == Remove {
		return b.difference.old, b.old
	}
	return b.difference.now, b.now
}

// place returns the place of a node that is added or removed, in the file that has it.
func (b *made) place() int {
	to, _ := b.sides()
	return to[len(to)-1].place
}

// block makes a block, but its contexts.
func (m *maker) block(d *difference) (*made, error) {
	b := &made{Block: Block{Kind: d.kind, Lines: d.lines, Node: d.element}, difference: d, old: d.old, now: d.now}
	if d.kind == Add {
		b.now = d.now[:len(d.now)-1]
	}
	if d.kind != Change {
		if err := m.findBeside(b); err != nil {
			return nil, err
		}
	}
	return b, m.findPath(b)
}

// findPath gives a block its path and its sibling.
func (m *maker) findPath(b *made) error {
	b.Path, b.Beside.Text = Path{Text: "/"}, ""
	if b.Kind == Remove || !b.beside {
		if len(b.difference.old) > 0 {
			steps, err := m.find(b.difference.old)
			if err != nil {
				return err
			}
			b.Path = Path{string(query.AppendPlain(nil, steps)), steps}
		}
	}
	if !b.beside {
		return nil
	}
	steps, err := m.find(b.old)
	if err != nil {
		return err
	}
	last := steps[len(steps)-1]
	last.Nth, last.NthOfAll = placeOf(&last), 0
	b.Beside.Step, b.Beside.Text = last, string(last.Append(nil))
	if b.Kind == Add && len(steps) > 1 {
		steps = steps[:len(steps)-1]
		b.Path = Path{string(query.AppendPlain(nil, steps)), steps}
	}
	return nil
}

// find finds the path of a node as it was.
func (m *maker) find(w way) ([]query.PlainStep, error) {
	steps := make([]identity.Step, len(w))
	for i, s := range w {
		steps[i] = identity.Step{Name: s.name, Place: s.place, Changing: m.changing[s.node.number]}
	}
	expr, err := m.paths.Find(steps)
	if err != nil {
		return nil, err
	}
	path, err := ParsePath(expr)
	return path.Steps, err
}

// familyKey is the children of a name that a node had and has.
type familyKey struct {
	old, now edit.Number
	name     string
}

// family is these children. Those that stay are the same ones on both sides, in the order in which
// they were.
type family struct {
	old, now, stayOld, stayNow []wayStep
	// crossed tells that those that stay have another order now. Then sorted are their places in
	// these lists in the order of either side, and mates are those with equal keys.
	crossed bool
	sorted  [2][]int
	mates   [2]map[string][]int
}

func (m *maker) family(old, now way, name string) (*family, error) {
	x, err := old.last(m.old.view)
	if err != nil {
		return nil, err
	}
	y, err := now.last(m.now.view)
	if err != nil {
		return nil, err
	}
	key := familyKey{x.number, y.number, name}
	if f := m.families[key]; f != nil {
		return f, nil
	}
	f := &family{}
	list := func(v *view, n node, but map[edit.Number]bool, all, stay *[]wayStep) error {
		return v.Children(n, func(of string, c node) {
			if of != name {
				return
			}
			s := wayStep{name, len(*all), c}
			*all = append(*all, s)
			if !but[c.number] {
				*stay = append(*stay, s)
			}
		})
	}
	if err := errors.Join(list(m.old.view, x, m.leaving, &f.old, &f.stayOld), list(m.now.view, y, m.fresh, &f.now, &f.stayNow)); err != nil {
		return nil, err
	}
	if len(f.stayOld) != len(f.stayNow) {
		return nil, fmt.Errorf("patch: BUG: %d of %s stay and become %d", len(f.stayOld), name, len(f.stayNow))
	}
	m.families[key] = f
	if len(f.stayOld) > 0 && m.partners[f.stayOld[0].node.number] != 0 {
		err = m.cross(f)
	}
	return f, err
}

// cross pairs siblings that stay in another order.
func (m *maker) cross(f *family) error {
	now := make(map[edit.Number]wayStep, len(f.stayNow))
	for _, s := range f.stayNow {
		now[s.node.number] = s
	}
	f.crossed, f.stayNow = true, nil
	for _, s := range f.stayOld {
		f.stayNow = append(f.stayNow, now[m.partners[s.node.number]])
	}
	for side, list := range [...][]wayStep{f.stayOld, f.stayNow} {
		places := make([]int, len(list))
		for i := range places {
			places[i] = i
		}
		slices.SortFunc(places, func(a, b int) int { return list[a].place - list[b].place })
		mates := map[string][]int{}
		for _, i := range places {
			keys, err := keysOf([...]*view{m.old.view, m.now.view}[side], list[i].node)
			if err != nil {
				return err
			}
			mates[keys] = append(mates[keys], i)
		}
		f.sorted[side], f.mates[side] = places, mates
	}
	return nil
}

// findBeside finds the sibling beside which a node is: the one before it that stays, else
// the one behind it.
func (m *maker) findBeside(b *made) error {
	d := b.difference
	oldParent, nowParent := d.old, d.now
	at := d.now
	if d.kind == Remove {
		oldParent, at = d.old[:len(d.old)-1], d.old
	} else {
		nowParent = d.now[:len(d.now)-1]
	}
	last := at[len(at)-1]
	f, err := m.family(oldParent, nowParent, last.name)
	if err != nil {
		return err
	}
	stay, side, v := f.stayNow, 1, m.now.view
	if d.kind == Remove {
		stay, side, v = f.stayOld, 0, m.old.view
	}
	index, n := func(k int) int { return k }, len(stay)
	if f.crossed {
		// What is beside siblings tells the order only of those that have equal keys.
		keys, err := keysOf(v, last.node)
		if err != nil {
			return err
		}
		places := f.mates[side][keys]
		if len(places) == 0 {
			places = f.sorted[side]
		}
		index, n = func(k int) int { return places[k] }, len(places)
	}
	if n == 0 {
		return nil
	}
	k := sort.Search(n, func(k int) bool { return stay[index(k)].place >= last.place })
	if b.Beside.Before = k == 0; k > 0 {
		k--
	}
	b.beside = true
	b.old, b.now = oldParent.child(f.stayOld[index(k)]), nowParent.child(f.stayNow[index(k)])
	return nil
}
