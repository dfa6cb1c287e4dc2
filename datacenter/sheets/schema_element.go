package sheets

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
)

// element is an [xsd.ElementType] while it is inferred, and for encoders.
type element struct {
	id   int
	name vocab.NameID
	keys vocab.KeyID
	// text says that a node without children has a __value__.
	text bool
	// unkeyed says that a node without keys occurred before one with keys.
	unkeyed bool
	// odd says that nodes of the path may have attributes of other types than those below, or ones
	// whose names are escaped. Only elements of plain sheets need it.
	odd bool
	// visits counts the nodes, and bodies the different lists of children. An attribute or
	// child that occurs in all of them is required.
	visits, bodies uint32
	attrs          []elementAttribute // by name
	kids           []elementChild     // by name
}

type elementAttribute struct {
	name vocab.NameID
	typ  datacenter.Type
	seen uint32
}

type elementChild struct {
	name     vocab.NameID
	repeated bool
	seen     uint32
	count    int // in the current node
	elem     *element
}

// attribute returns the place of an attribute, which is probably hint, or the place to
// insert it.
func (el *element) attribute(name vocab.NameID, hint int) (i int, found bool) {
	if hint < len(el.attrs) && el.attrs[hint].name == name {
		return hint, true
	}
	return slices.BinarySearchFunc(el.attrs, name, func(a elementAttribute, name vocab.NameID) int { return cmp.Compare(a.name, name) })
}

// child returns the place of a child in the same way. It is looked for at each node, and slices.BinarySearchFunc
// would call a function at each step: that took a fortieth of an export.
func (el *element) child(name vocab.NameID) (i int, found bool) {
	lo, hi := 0, len(el.kids)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); el.kids[mid].name < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(el.kids) && el.kids[lo].name == name
}

// kid returns the element of the children of a name, or nil.
func (el *element) kid(name vocab.NameID) *element {
	if i, ok := el.child(name); ok {
		return el.kids[i].elem
	}
	return nil
}

// Strategy says whether an inferred schema may be recursive.
type Strategy uint8

const (
	// Conservative makes a type for each path.
	Conservative Strategy = iota
	// Aggressive gives a child with the name of its parent the parent's type.
	Aggressive
)

// maxPaths is the largest number of elements of a family for one path each. With shared runs
// a small file can have any number of paths.
const maxPaths = 1 << 16

// elements are the elements of a family. The first is that of the sheets.
type elements struct {
	all      []*element
	strategy Strategy
	// common has, beyond maxPaths, one element for each name.
	common map[vocab.NameID]*element
}

func newElements(strategy Strategy, sheet vocab.NameID) *elements {
	es := &elements{strategy: strategy}
	es.add(sheet)
	return es
}

func (es *elements) add(name vocab.NameID) *element {
	el := &element{id: len(es.all), name: name}
	es.all = append(es.all, el)
	return el
}

// edge returns the place of the children of a name, and adds it if needed.
func (es *elements) edge(el *element, name vocab.NameID) int {
	i, found := el.child(name)
	if !found {
		el.kids = slices.Insert(el.kids, i, elementChild{name: name, elem: es.below(el, name)})
	}
	return i
}

// below returns the element for new children of el.
func (es *elements) below(el *element, name vocab.NameID) *element {
	if es.strategy == Aggressive && name == el.name {
		return el
	}
	if len(es.all) < maxPaths {
		return es.add(name)
	}
	shared := es.common[name]
	if shared == nil {
		shared = es.add(name)
		if es.common == nil {
			es.common = map[vocab.NameID]*element{}
		}
		es.common[name] = shared
	}
	return shared
}

// join adds what another learner knows of an element to el. It comes behind what el knows: the
// first type of an attribute and the first keys hold.
func (es *elements) join(el, other *element) {
	el.visits += other.visits
	el.bodies += other.bodies
	el.text = el.text || other.text
	el.odd = el.odd || other.odd
	if el.keys == 0 {
		el.keys = other.keys
	}
	for hint, a := range other.attrs {
		i, ok := el.attribute(a.name, hint)
		if !ok {
			el.attrs = slices.Insert(el.attrs, i, elementAttribute{name: a.name, typ: a.typ})
		}
		el.odd = el.odd || el.attrs[i].typ != a.typ
		el.attrs[i].seen += a.seen
	}
	for _, c := range other.kids {
		i := es.edge(el, c.name)
		mine := &el.kids[i]
		mine.seen += c.seen
		mine.repeated = mine.repeated || c.repeated
		if c.elem != other { // Aggressive has made it its own child
			es.join(mine.elem, c.elem)
		}
	}
}

// settle ends a pass: what was required so far stays required only if all further nodes have
// it.
func (es *elements) settle() {
	for _, el := range es.all {
		for i := range el.attrs {
			el.attrs[i].seen = required(el.attrs[i].seen == el.visits)
		}
		for i := range el.kids {
			el.kids[i].seen = required(el.kids[i].seen == el.bodies)
		}
		el.visits, el.bodies = 1, 1
	}
}

// required returns 1 for what is required, and else 0: how often one node has it.
func required(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// clone copies all elements, so that their users do not see later changes.
func (es *elements) clone() *elements {
	c := &elements{strategy: es.strategy, all: make([]*element, len(es.all))}
	for i, el := range es.all {
		twin := *el
		twin.attrs, twin.kids = slices.Clone(el.attrs), slices.Clone(el.kids)
		c.all[i] = &twin
	}
	for _, el := range c.all {
		for i := range el.kids {
			el.kids[i].elem = c.all[el.kids[i].elem.id]
		}
	}
	if es.common != nil {
		c.common = make(map[vocab.NameID]*element, len(es.common))
		for name, el := range es.common {
			c.common[name] = c.all[el.id]
		}
	}
	return c
}

// shareBeyondLimit rebuilds common.
func (es *elements) shareBeyondLimit() {
	for _, el := range es.all[min(len(es.all), maxPaths):] {
		if es.common == nil {
			es.common = map[vocab.NameID]*element{}
		}
		es.common[el.name] = el
	}
}
