package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/align"
)

// survey is an overview of the draft nodes of a Snapshot, to find out how they differ from
// the base.
type survey struct {
	s *Snapshot
	// nodes are the draft nodes, each one before those below it. places finds them, see at.
	nodes  []surveyed
	places map[Number]int
	// homes has the places that nodes have in the base, if they are somewhere else now and
	// the parent that they have in the base is a draft node.
	homes map[Number]kidAt
	// reordered has the nodes that have passed others on the same place of siblings, see
	// order.
	reordered map[siblingsAt]map[Number]bool
	// swaps has the siblings of which some were removed and others made, and alike which of them are as
	// in the base, see isAlike.
	swaps map[siblingsAt]swap
	alike map[siblingsAt]bool
}

// surveyed is a draft node.
type surveyed struct {
	n *draftNode
	nodeState
	// parent is the place of the parent in nodes, and kid the place among its children. The
	// root has -1. end is the place in nodes behind all nodes below.
	parent, kid, end int
}

// kidAt is a child of a draft node, alive or dead.
type kidAt struct{ parent, kid int }

// siblingsAt are the children of a draft node that have a name.
type siblingsAt struct {
	parent int
	name   uint16
}

func newSurvey(s *Snapshot) *survey {
	s.d.mu.RLock()
	about := len(s.d.nodes)
	s.d.mu.RUnlock()
	v := &survey{
		s: s, nodes: make([]surveyed, 0, about),
		homes: map[Number]kidAt{}, reordered: map[siblingsAt]map[Number]bool{},
	}
	v.add(s.root, -1, -1)
	for i := range v.nodes {
		v.swapped(i)
		for k := range v.nodes[i].kids {
			c := &v.nodes[i].kids[k]
			if !c.dead || !c.stored {
				continue
			}
			if _, there := v.at(c.number); there {
				v.homes[c.number] = kidAt{i, k}
			}
		}
	}
	return v
}

func (v *survey) add(n *draftNode, parent, kid int) {
	i := len(v.nodes)
	v.nodes = append(v.nodes, surveyed{n: n, nodeState: v.s.at(n), parent: parent, kid: kid})
	kids := v.nodes[i].kids
	for k := range kids {
		if kids[k].node != nil {
			v.add(kids[k].node, i, k)
		}
	}
	v.nodes[i].end = len(v.nodes)
}

// at returns the place in nodes of the draft node with a number. Where only values were edited,
// nobody asks for one.
func (v *survey) at(n Number) (i int, ok bool) {
	if v.places == nil {
		v.places = make(map[Number]int, len(v.nodes))
		for i := range v.nodes {
			v.places[v.nodes[i].n.number] = i
		}
	}
	i, ok = v.places[n]
	return i, ok
}

// isNew reports whether the base does not have a node.
func (v *survey) isNew(i int) bool { return isNone(v.nodes[i].n.base) }

// isGone reports whether a child that the base has was removed.
func (v *survey) isGone(x *surveyed, kid int) bool {
	k := &x.kids[kid]
	if !k.dead || !k.stored {
		return false
	}
	_, there := v.at(k.number)
	return !there
}

// newEntries counts a new node and what is new below it.
func (v *survey) newEntries(i int) (count int64) {
	for end := v.nodes[i].end; i < end; {
		x := &v.nodes[i]
		if !isNone(x.n.base) {
			i = x.end
			continue
		}
		count += 1 + int64(x.attrCount())
		i++
	}
	return count
}

// inPlace reports whether a node is where the base has it.
func (v *survey) inPlace(i int) bool {
	x := &v.nodes[i]
	return x.parent < 0 || v.nodes[x.parent].kids[x.kid].stored
}

// moved reports whether a node of the base has another parent, name or place among its
// siblings.
func (v *survey) moved(i int) bool {
	if v.inPlace(i) {
		return false
	}
	x := &v.nodes[i]
	home, ok := v.homes[x.n.number]
	if !ok || home.parent != x.parent || v.nodes[home.parent].kids[home.kid].name != x.name {
		return true
	}
	return v.order(siblingsAt{x.parent, x.name})[x.n.number]
}

// order returns which siblings of one name that were moved among themselves have passed
// others. Siblings that stayed are never among them.
func (v *survey) order(at siblingsAt) map[Number]bool {
	if passed, ok := v.reordered[at]; ok {
		return passed
	}
	passed := map[Number]bool{}
	v.reordered[at] = passed
	for _, class := range v.classes(at) {
		slices.SortStableFunc(class, func(p, q sibling) int { return cmp.Compare(p.rank, q.rank) })
		for _, n := range passing(class) {
			passed[n] = true
		}
	}
	return passed
}

// sibling is a child that the base has under the same parent, too.
type sibling struct {
	number Number
	// rank is the present rank, and before orders the siblings as the base does.
	rank, before uint64
	stayed       bool
}

// classes returns siblings, apart by the keys that order them.
func (v *survey) classes(at siblingsAt) map[string][]sibling {
	x := &v.nodes[at.parent]
	classes := map[string][]sibling{}
	for k := range x.kids {
		c := &x.kids[k]
		if c.dead || c.name != at.name {
			continue
		}
		home := kidAt{at.parent, k}
		if !c.stored {
			var ok bool
			if home, ok = v.homes[c.number]; !ok || home.parent != at.parent || x.kids[home.kid].name != at.name {
				continue
			}
		}
		class := v.keysOf(c)
		classes[class] = append(classes[class], sibling{c.number, c.rank, v.before(home), c.stored})
	}
	return classes
}

// before returns a number that orders siblings as the base does.
func (v *survey) before(home kidAt) uint64 {
	return v.nodes[home.parent].kids[home.kid].rank
}

// keysOf returns a text of the keys of a child with their values.
func (v *survey) keysOf(c *draftChild) string {
	var b strings.Builder
	key := func(name string, value datacenter.Value) {
		fmt.Fprintf(&b, "%q %d %q ", name, value.Type(), value.Text())
	}
	if c.node == nil {
		base, err := v.s.base.Node(c.addr)
		if err != nil {
			return ""
		}
		for _, name := range base.Keys() {
			value, _ := storedAttribute(base, name)
			key(name, value)
		}
		return b.String()
	}
	i, _ := v.at(c.number)
	x := &v.nodes[i]
	for _, name := range v.s.definition(x.key) {
		key(name, v.value(x, name))
	}
	return b.String()
}

// value returns the value of an attribute. It has no type if there is none.
func (v *survey) value(x *surveyed, name string) (value datacenter.Value) {
	i := slices.IndexFunc(x.attrs, func(a draftAttribute) bool { return !a.dead && v.s.name(a.name) == name })
	if i < 0 {
		return value
	}
	if a := &x.attrs[i]; !a.stored || a.changed {
		return a.value
	}
	value, _ = storedValue(v.s.base, x.attrs[i].addr) // what can't be read is alike
	return value
}

// storedAttribute returns the value of an attribute of a node of a file. It has no type if
// there is none.
func storedAttribute(n datacenter.Node, name string) (value datacenter.Value, err error) {
	for a, err := range n.Attributes() {
		if err != nil {
			return value, err
		}
		if a.Name() == name {
			return a.Value()
		}
	}
	return value, nil
}

// passing returns which of the siblings that did not stay are not in the order of the base,
// as few as possible.
func passing(siblings []sibling) (passing []Number) {
	befores := make([]uint64, len(siblings))
	for i, s := range siblings {
		befores[i] = s.before
	}
	slices.Sort(befores)
	places, next := make([]int32, len(siblings)), int32(len(siblings)) // next is that of the next one that stayed
	for i, s := range slices.Backward(siblings) {
		place, _ := slices.BinarySearch(befores, s.before)
		if places[i] = int32(place); s.stayed {
			next = places[i]
		} else if places[i] > next {
			places[i] = align.None
		}
	}
	last := int32(-1)
	for i, s := range siblings {
		if s.stayed {
			last = places[i]
		} else if places[i] < last {
			places[i] = align.None
		}
	}
	for i, in := range align.Ascending(places) {
		if !in {
			passing = append(passing, siblings[i].number)
		}
	}
	return passing
}
