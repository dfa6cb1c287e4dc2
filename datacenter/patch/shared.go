package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
)

// Shared is a value, or a whole node, that two patches or more are about.
type Shared struct {
	// Path leads to the node, as the first of the patches spells it.
	Path string
	// Name is the attribute, %keys or %flags. It is empty if a patch adds or removes the node.
	Name string
	// Wants are in the order of the patches.
	Wants   []Want
	Sharing Sharing
	// Winner is the patch whose value stands, -1 if nothing decides or none fits.
	Winner int
}

// Want is what a patch wants of what is shared.
type Want struct {
	// Patch is its number among the patches, and Line its line in there.
	Patch, Line int
	// Value is spelled as in a patch. Of a node it says what is done to it, as "removed".
	Value string
	// Fits tells that it finds what it expects in the file, or as a patch before it leaves it.
	Fits bool
}

// String names what is shared, as a query.
func (s *Shared) String() string {
	if s.Name == "" {
		return s.Path
	}
	return s.Path + "/@" + s.Name
}

// Sharing says whether patches get on with each other.
type Sharing uint8

// How they do.
const (
	// Agreed: they want the same, or each expects what the one before it leaves.
	Agreed Sharing = iota
	// Preferred: they want different things, and a preference decides.
	Preferred
	// Contested: they want different things, and nothing decides.
	Contested
	// Unfit: none of them finds what it expects.
	Unfit
)

// String is as in "agreed".
func (s Sharing) String() string { return [...]string{"agreed", "preferred", "contested", "unfit"}[s] }

// settling is a [Settle].
type settling struct {
	patches []*Patch
	prefer  *Preference
	touches []*touch
	// groups are the touches of one thing each, and order the things, the first ones first.
	groups map[thing][]*touch
	order  []thing
	// removals are the touches that remove nodes, and find them as they expect.
	removals map[edit.Number][]*touch
	// conflicts are the parts of each patch that conflict if all are applied in turn.
	conflicts []map[part]bool
	yielded   []map[part]string
	// pairs are those of the patches of which a part yields.
	pairs map[int]map[int][]int
	// shared is what was found out so far.
	shared []Shared
}

// thing is what a part of a patch is about: an attribute, keys or flags, or a whole node. One that is added
// is known by its parent and by what it is called there.
type thing struct {
	node edit.Number
	what What
	name string
}

// wholeNode is the What of nodes that are added or removed.
const wholeNode What = 255

// touch is what a patch does to a thing.
type touch struct {
	thing
	patch int
	parts []part
	block *Block
	line  int
	// old and now spell the value before and after it.
	old, now string
	outcome  Outcome
	// around are the node that it is about, or next to which it adds one, and all above that.
	around []edit.Number
	// side tells apart what patches want of a thing, -1 if it fits nothing.
	side int
	// lost is the patch whose part stands for this one, -1 if none does.
	lost int
}

// unpaired are the edits that add nodes, but for those that take the place of one that is removed: two nodes
// would be there by one path.
func (r *Result) unpaired() []edit.Edit {
	pairs := r.Patch.pairs()
	var edits []edit.Edit
	for _, block := range r.added {
		if pairs[block.block] == nil {
			edits = append(edits, block.edits...)
		}
	}
	return edits
}

// pairs finds blocks that remove nodes and blocks that add them again, other ones or at another place. Each
// has the blocks that go with it.
func (p *Patch) pairs() map[int][]int {
	removing, adding := map[string][]int{}, map[string][]int{}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		name := b.addedName()
		switch b.Kind {
		case Remove:
			removing[name] = append(removing[name], i)
		case Add:
			adding[name] = append(adding[name], i)
		}
	}
	pairs := map[int][]int{}
	for name, remove := range removing {
		if add := adding[name]; add != nil {
			all := slices.Concat(remove, add)
			for _, i := range all {
				pairs[i] = all
			}
		}
	}
	return pairs
}

// addedName names a node that is added or removed by its parent, and by its keys or id or else all that it has.
// All sheets of a name are one, as a patch replaces them all.
func (b *Block) addedName() string {
	if b.Node == nil {
		return ""
	}
	parent := b.Path.Steps
	if b.Kind == Remove {
		parent = parent[:len(parent)-1]
	}
	if len(parent) == 0 {
		return "/" + b.Node.Name
	}
	return string(query.AppendPlain(nil, parent)) + b.ownName()
}

// ownName is the last step of that.
func (b *Block) ownName() string {
	if conditions := given(b.Node.Keys, b.Node.Attributes); len(conditions) > 0 {
		step := query.PlainStep{Name: b.Node.Name, Conditions: conditions}
		return "/" + string(step.Append(nil))
	}
	return "/" + spellNode(b.Node)
}

// spellNode spells a node so that equal ones are spelled alike.
func spellNode(e *sheets.Element) string { return string(sheets.AppendElement(nil, sorted(e))) }

func sorted(e *sheets.Element) *sheets.Element {
	s := *e
	s.Attributes = slices.Clone(e.Attributes)
	slices.SortFunc(s.Attributes, func(a, b sheets.ElementAttribute) int { return cmp.Compare(a.Name, b.Name) })
	s.Children = make([]*sheets.Element, len(e.Children))
	for i, c := range e.Children {
		s.Children[i] = sorted(c)
	}
	return &s
}

// gather finds out what a patch is about.
func (s *settling) gather(patch int, r *Result) {
	pairs := r.Patch.pairs()
	sheets := map[string]*touch{} // those that the patch replaces, by their names
	for _, it := range r.Items {
		b := &r.Patch.Blocks[it.Block]
		t := &touch{patch: patch, parts: []part{{it.Block, it.Line}}, block: b, line: it.At, outcome: it.Outcome, side: -1, lost: -1}
		place := r.places[it.Block]
		switch {
		case place.found == 0:
			continue // it is not known what it is about
		case b.Kind == Change:
			l := &b.Lines[it.Line]
			t.thing = thing{it.Node, l.What, l.Name}
			t.old, t.now = l.Old.spell(l.What), l.New.spell(l.What)
			t.around = r.around(it.Node)
		case b.Kind == Remove:
			t.thing, t.now = thing{it.Node, wholeNode, ""}, "removed"
			t.around = r.around(it.Node)
		case len(b.Path.Steps) == 0 && pairs[it.Block] != nil:
			t.thing = thing{0, wholeNode, "/" + b.Node.Name}
			t.now = spellNode(b.Node)
			if first := sheets[b.Node.Name]; first != nil {
				first.parts, first.now = append(first.parts, t.parts...), first.now+t.now
				continue
			}
			sheets[b.Node.Name] = t
		default:
			t.thing, t.now = thing{place.node, wholeNode, b.ownName()}, spellNode(b.Node)
			t.around = r.around(place.node)
			switch it.Outcome {
			case Applied:
				t.around = r.around(it.Node)
			case Already:
				t.around = append([]edit.Number{it.Node}, t.around...)
			}
		}
		s.add(t)
	}
}

// around returns a node that a path led to and all above it, without the root.
func (r *Result) around(n edit.Number) (all []edit.Number) {
	for ; n != 0; n = r.above[n] {
		all = append(all, n)
	}
	return all
}

func (s *settling) add(t *touch) {
	if s.groups == nil {
		s.groups, s.removals = map[thing][]*touch{}, map[edit.Number][]*touch{}
	}
	if s.groups[t.thing] == nil {
		s.order = append(s.order, t.thing)
	}
	s.groups[t.thing] = append(s.groups[t.thing], t)
	s.touches = append(s.touches, t)
	if t.block.Kind == Remove && t.outcome == Applied {
		s.removals[t.node] = append(s.removals[t.node], t)
	}
}

// chain finds the sides of what is wanted of each thing.
func (s *settling) chain() {
	for _, of := range s.order {
		var sides []string // what each leaves
		made := ""
		for _, t := range s.groups[of] {
			if t.block.Kind == Add && t.outcome != Applied && made != "" {
				if t.outcome == Already {
					t.now = made
				}
				t.outcome = Applied // but for the other patch
			}
			if t.block.Kind == Add && t.outcome == Applied && made == "" {
				made = t.now
			}
			t.side = slices.Index(sides, t.now)
			if t.side < 0 && t.block.Kind == Change {
				t.side = slices.Index(sides, t.old)
			}
			if t.side < 0 && t.outcome != Conflict {
				t.side = len(sides)
				sides = append(sides, "")
			}
			if t.side >= 0 {
				sides[t.side] = t.now
			}
		}
	}
}

// anyShared reports whether patches may not get on with each other.
func (s *settling) anyShared() bool {
	for _, group := range s.groups {
		if slices.ContainsFunc(group, func(t *touch) bool { return t.side > 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(s.touches, func(t *touch) bool {
		return slices.ContainsFunc(t.around, func(n edit.Number) bool {
			return slices.ContainsFunc(s.removals[n], func(r *touch) bool { return r.patch != t.patch })
		})
	})
}

// conflict reports whether one of the touches conflicts if all patches are applied in turn.
func (s *settling) conflict(touches []*touch) bool {
	return slices.ContainsFunc(touches, func(t *touch) bool {
		return slices.ContainsFunc(t.parts, func(p part) bool { return s.conflicts[t.patch][p] })
	})
}

// settleRemovals decides about nodes that some patches remove and others want.
func (s *settling) settleRemovals() {
	wanting := map[edit.Number][]*touch{}
	for _, t := range s.touches {
		for _, n := range t.around {
			if s.removals[n] != nil && t.side >= 0 && (t.block.Kind != Remove || t.node != n) {
				wanting[n] = append(wanting[n], t)
			}
		}
	}
	var nodes []edit.Number
	for _, t := range s.touches {
		if removers := s.removals[t.node]; len(removers) > 0 && t == removers[0] {
			nodes = append(nodes, t.node)
		}
	}
	// A node comes before those below it.
	slices.SortStableFunc(nodes, func(a, b edit.Number) int {
		return len(s.removals[a][0].around) - len(s.removals[b][0].around)
	})
	for _, n := range nodes {
		s.settleRemoval(s.removals[n], wanting[n])
	}
}

// settleRemoval decides about one node.
func (s *settling) settleRemoval(removers, others []*touch) {
	removers = slices.DeleteFunc(slices.Clone(removers), func(t *touch) bool { return t.lost >= 0 })
	if len(removers) == 0 {
		return
	}
	var keeping, below []*touch
	for _, t := range others {
		switch {
		case t.lost >= 0 || slices.ContainsFunc(removers, func(r *touch) bool { return r.patch == t.patch }):
		case t.block.Kind == Remove:
			below = append(below, t)
		default:
			keeping = append(keeping, t)
		}
	}
	all := slices.Concat(removers, keeping, below)
	if len(patchesOf(all)) < 2 { //nolint:mnd // nothing is shared
		return
	}
	shared := Shared{Path: removers[0].block.Path.Text, Winner: removers[len(removers)-1].patch, Wants: wantsOf(all)}
	var losers []*touch
	switch {
	case !s.conflict(all):
	case len(keeping) == 0:
		losers = below
	default:
		side, winner := s.prefer.choose(shared.String(), [][]int{patchesOf(removers), patchesOf(keeping)})
		shared.Sharing, shared.Winner = Preferred, winner
		switch side {
		case 0:
			losers = slices.Concat(keeping, below)
		case 1:
			losers = removers
		default:
			shared.Sharing = Contested
		}
	}
	for _, t := range losers {
		s.yield(t, shared.Winner)
	}
	s.shared = append(s.shared, shared)
}

func patchesOf(touches []*touch) (patches []int) {
	for _, t := range touches {
		if !slices.Contains(patches, t.patch) {
			patches = append(patches, t.patch)
		}
	}
	return patches
}

// wantsOf says what each patch does to a node that some of them remove.
func wantsOf(touches []*touch) (wants []Want) {
	for _, t := range touches {
		if slices.ContainsFunc(wants, func(w Want) bool { return w.Patch == t.patch }) {
			continue
		}
		w := Want{Patch: t.patch, Line: t.line, Value: "changed", Fits: true}
		if t.block.Kind == Remove && t.node == touches[0].node {
			w.Value = "removed"
		}
		wants = append(wants, w)
	}
	slices.SortFunc(wants, func(a, b Want) int { return a.Patch - b.Patch })
	return wants
}

// yield has the part of another patch stand for what a touch does, and for what goes with it.
func (s *settling) yield(t *touch, to int) {
	p := s.patches[t.patch]
	reason := "the patch " + s.patches[to].Name + " is preferred"
	pairs, known := s.pairs[t.patch]
	if !known {
		pairs = p.pairs()
		s.pairs[t.patch] = pairs
	}
	t.lost = to
	for _, of := range t.parts {
		s.yielded[t.patch][of] = reason
		for _, block := range pairs[of.block] {
			s.yielded[t.patch][part{block, 0}] = reason
		}
	}
}

// settleValues decides about single values, and about nodes that several patches add.
func (s *settling) settleValues() {
	for _, of := range s.order {
		group := s.groups[of]
		if len(patchesOf(group)) < 2 || group[0].block.Kind == Remove { //nolint:mnd // several
			continue
		}
		s.shared = append(s.shared, s.settleValue(group))
	}
}

func (s *settling) settleValue(group []*touch) Shared {
	first := group[0]
	shared := Shared{Path: first.block.Path.Text, Winner: -1, Sharing: Unfit}
	if first.block.Kind == Change {
		shared.Name = first.block.Lines[first.parts[0].line].Label()
	} else if shared.Path = strings.TrimSuffix(shared.Path, "/") + "/" + first.block.Node.Name; strings.HasPrefix(first.name, "/"+first.block.Node.Name) {
		shared.Path = strings.TrimSuffix(first.block.Path.Text, "/") + first.name
	}
	var sides [][]int
	var last *touch
	for _, t := range group {
		w := Want{Patch: t.patch, Line: t.line, Value: t.now, Fits: t.side >= 0}
		if t.block.Kind == Add {
			w.Value = "added"
		}
		shared.Wants = append(shared.Wants, w)
		if t.side < 0 || t.lost >= 0 {
			if t.lost >= 0 && last == nil {
				shared.Sharing, shared.Winner = Preferred, t.lost
			}
			continue
		}
		for len(sides) <= t.side {
			sides = append(sides, nil)
		}
		sides[t.side] = append(sides[t.side], t.patch)
		last, shared.Sharing, shared.Winner = t, Agreed, t.patch
	}
	sides = slices.DeleteFunc(sides, func(side []int) bool { return side == nil })
	if len(sides) > 1 && s.conflict(group) {
		s.decide(&shared, group, sides)
	}
	return shared
}

// decide decides about what patches want different things of.
func (s *settling) decide(shared *Shared, group []*touch, sides [][]int) {
	won, _ := s.prefer.choose(shared.String(), sides)
	if won < 0 {
		shared.Sharing, shared.Winner = Contested, -1
		return
	}
	shared.Sharing, shared.Winner = Preferred, slices.Max(sides[won])
	for _, t := range group {
		if t.side >= 0 && t.lost < 0 && !slices.Contains(sides[won], t.patch) {
			s.yield(t, shared.Winner)
		}
	}
}

// settlement returns what was found out.
func (s *settling) settlement() *Settlement {
	r := &Settlement{Shared: s.shared, yielded: s.yielded}
	slices.SortStableFunc(r.Shared, func(a, b Shared) int {
		return cmp.Or(a.Wants[0].Patch-b.Wants[0].Patch, a.Wants[0].Line-b.Wants[0].Line)
	})
	for i := range r.Shared {
		if r.Shared[i].Sharing == Contested {
			r.Contested++
		}
	}
	return r
}

// Describe names what is shared and what each patch wants of it, by the names of the patches.
func (s *Shared) Describe(names []string) string {
	what := s.Path
	if s.Name != "" {
		what = s.Name + " of " + s.Path
	}
	wants := make([]string, len(s.Wants))
	for i, w := range s.Wants {
		wants[i] = names[w.Patch] + " " + s.spell(w.Value)
		if !w.Fits {
			wants[i] += " (which does not fit)"
		}
	}
	return fmt.Sprintf("%s: %s", what, strings.Join(wants, ", "))
}

// spell leaves the type of a value out, if it is that of all.
func (s *Shared) spell(value string) string {
	kind, rest, found := strings.Cut(value, " ")
	for _, w := range s.Wants {
		found = found && s.Name != "" && strings.HasPrefix(w.Value, kind+" ")
	}
	if !found {
		return value
	}
	return rest
}
