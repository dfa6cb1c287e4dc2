package sheets

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
)

// element is an [xsd.ElementType] while it is found out, and for those who encode.
type element struct {
	id   int
	name vocab.NameID
	keys vocab.KeyID
	// text tells that a node without children has a __value__.
	text bool
	// unkeyed tells that a node without keys was met before one with keys.
	unkeyed bool
	// visits is how many nodes were met, and bodies how many different lists of
	// children. What each of them has is required.
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
	count    int // of the node at hand
	elem     *element
}

// attribute is the place of an attribute, which is likely to be hint; or where it
// would be.
func (el *element) attribute(name vocab.NameID, hint int) (i int, found bool) {
	if hint < len(el.attrs) && el.attrs[hint].name == name {
		return hint, true
	}
	return slices.BinarySearchFunc(el.attrs, name, func(a elementAttribute, name vocab.NameID) int { return cmp.Compare(a.name, name) })
}

// child is the place of a child likewise.
func (el *element) child(name vocab.NameID) (i int, found bool) {
	return slices.BinarySearchFunc(el.kids, name, func(c elementChild, name vocab.NameID) int { return cmp.Compare(c.name, name) })
}

// kid is the element of the children of a name; nil if there is none.
func (el *element) kid(name vocab.NameID) *element {
	if i, ok := el.child(name); ok {
		return el.kids[i].elem
	}
	return nil
}

// Strategy says when an inferred schema is recursive.
type Strategy uint8

const (
	// Conservative gives each path a type of its own.
	Conservative Strategy = iota
	// Aggressive takes a child that is called like its parent for the same type.
	Aggressive
)

// maxPaths bounds the elements of a family that are there for one path. Runs that
// are shared let a small file have any number of paths.
const maxPaths = 1 << 16

// elements are those of one family. The first is that of the sheets.
type elements struct {
	all      []*element
	strategy Strategy
	// common are, beyond maxPaths, the elements for a name.
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

// edge gives the place of the children of a name, which may be new.
func (es *elements) edge(el *element, name vocab.NameID) int {
	i, found := el.child(name)
	if !found {
		el.kids = slices.Insert(el.kids, i, elementChild{name: name, elem: es.below(el, name)})
	}
	return i
}

// below is the element for new children of el.
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

// settle ends a pass: what was required so far goes on being so only if all
// further nodes have it, too.
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

// required is how often what is required was seen in one node.
func required(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// clone copies all elements, so that those who use them are not disturbed by what
// is found out next.
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

// shareBeyondLimit finds out again which elements are common.
func (es *elements) shareBeyondLimit() {
	for _, el := range es.all[min(len(es.all), maxPaths):] {
		if es.common == nil {
			es.common = map[vocab.NameID]*element{}
		}
		es.common[el.name] = el
	}
}
