package pack

import (
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/spell"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// Misfit is a name in sheets that the schemas do not know, or do not fit.
type Misfit struct {
	What MisfitKind
	// Sheet is the name of the sheets, Element that of the nodes, on whatever path.
	// Attribute is empty where the nodes are meant.
	Sheet, Element, Attribute string
	// Type is the one that values got, of those kinds that are about values.
	Type datacenter.Type
	// Count is how many values, elements or places there are, as the kind says.
	Count int64
	// Values is how many values the elements of an UnknownElement have.
	Values int64
}

// MisfitKind says what is wrong. The first ones leave types in doubt.
type MisfitKind uint8

const (
	// DoubtfulValues are strings by the schema of an element that departs from it
	// otherwise, though all of them could be of the type Type.
	DoubtfulValues MisfitKind = iota + 1
	// UnknownAttribute is in no schema. Its values got a type that suits them.
	UnknownAttribute
	// UnknownElement is in no schema, and so are its attributes. Its values got types
	// that suit them, and it got no keys.
	UnknownElement
	// TooMany counts the elements that hold more of them than the schema allows.
	TooMany
	// TooFew counts the elements that hold fewer of them than the schema demands.
	TooFew
	// NoAttribute counts the elements that lack an attribute which the schema demands.
	NoAttribute
	// UnknownText counts the elements with a text which have none in the schema.
	UnknownText
)

// String returns a line for people.
func (m Misfit) String() string {
	element, attribute := shown.Quote(m.Element), shown.Quote(m.Attribute)
	switch m.What {
	case DoubtfulValues:
		return fmt.Sprintf("%s: %s of %s %s: strings in the schema, though each is like a value of type %v", shown.Quote(m.Sheet), several(m.Count, "value"), element, attribute, m.Type)
	case UnknownAttribute:
		return fmt.Sprintf("%s: %s of %s %s: not in the schema, taken for the type %v", shown.Quote(m.Sheet), several(m.Count, "value"), element, attribute, m.Type)
	case UnknownElement:
		return fmt.Sprintf("%s: %s %s with %s: not in the schema, taken for the types that suit", shown.Quote(m.Sheet), several(m.Count, "element"), element, several(m.Values, "value"))
	case TooMany:
		return fmt.Sprintf("%s: more elements %s than the schema allows, %s", shown.Quote(m.Sheet), element, several(m.Count, "time"))
	case TooFew:
		return fmt.Sprintf("%s: fewer elements %s than the schema demands, %s", shown.Quote(m.Sheet), element, several(m.Count, "time"))
	case NoAttribute:
		return fmt.Sprintf("%s: %s %s without %s, which the schema demands", shown.Quote(m.Sheet), several(m.Count, "element"), element, attribute)
	default:
		return fmt.Sprintf("%s: %s of %s, which has none in the schema", shown.Quote(m.Sheet), several(m.Count, "text"), element)
	}
}

// several returns a number of things: 1 value, 2 values.
func several(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Untyped reports whether values may have got another type than they should have.
func (m Misfit) Untyped() bool { return m.What <= UnknownElement }

// counted is what is counted of a kind, to be held against the schema. Nodes of one kind
// are never inside each other, so each can be counted in the kind itself.
type counted struct {
	// nodes is how many there are, texts how many of them have a text that the schema
	// does not allow.
	nodes, texts int64
	// least and most are how many the schema has in one parent; most may be [Unbounded].
	least, most int
	// parent is the number of the parent in which met were met so far.
	parent int64
	met    int
	// enough is how many parents have the least, and tooMany how many more than the most.
	enough, tooMany int64
}

// meet takes a node in whose parent has a number.
func (c *counted) meet(parent int64) {
	if c.parent != parent {
		c.parent, c.met = parent, 0
	}
	c.met++
	if c.met == c.least {
		c.enough++
	}
	if c.most != xsd.Unbounded && c.met == c.most+1 {
		c.tooMany++
	}
}

// addCounts takes in what others have counted of nodes of the kind.
func (c *counted) addCounts(d *counted) {
	c.nodes += d.nodes
	c.texts += d.texts
	c.enough += d.enough
	c.tooMany += d.tooMany
}

// held returns the schema that nodes are held against: none where opts.Like knows them, for
// then nobody asks the schema.
func (k known) held() *xsd.ElementType {
	if k[byLike] != nil {
		return nil
	}
	return k[bySchema]
}

// misfits returns what the schemas do not know or fit.
func (s *survey) misfits() []Misfit {
	c := misfits{found: map[Misfit]*Misfit{}}
	for key, p := range s.sheets {
		if p.types.first() != nil { // else all of it is inferred, which is told otherwise
			c.sheet = key.sheet
			c.kind(p)
		}
	}
	all := make([]Misfit, 0, len(c.found))
	for _, m := range c.found {
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b Misfit) int {
		if a.Untyped() != b.Untyped() {
			return cmp.Compare(a.What, b.What)
		}
		return cmp.Or(-cmp.Compare(a.Count, b.Count), spell.Compare(a.Sheet, b.Sheet), spell.Compare(a.Element, b.Element),
			spell.Compare(a.Attribute, b.Attribute), cmp.Compare(a.What, b.What), cmp.Compare(a.Type, b.Type))
	})
	return all
}

// misfits adds up what is alike on several paths and under several schemas.
type misfits struct {
	sheet string
	found map[Misfit]*Misfit // by all but the counts
}

func (c *misfits) add(what MisfitKind, element, attribute string, t datacenter.Type, n int64) *Misfit {
	m := Misfit{What: what, Sheet: c.sheet, Element: element, Attribute: attribute, Type: t}
	if n == 0 {
		return &m
	}
	found := c.found[m]
	if found == nil {
		found = &m
		c.found[m] = found
	}
	found.Count += n
	return found
}

// kind takes in a kind and all below it.
func (c *misfits) kind(p *kind) {
	if p.types.first() == nil {
		m := c.add(UnknownElement, p.name, "", 0, p.nodes)
		for i := range p.attrs {
			m.Values += p.attrs[i].untyped
		}
	} else {
		c.attributes(p)
	}
	c.add(TooMany, p.name, "", 0, p.tooMany)
	c.add(UnknownText, p.name, "", 0, p.texts)
	for _, missing := range p.missing() {
		c.add(TooFew, missing.name, "", 0, missing.parents)
	}
	for _, child := range p.children {
		c.kind(child)
	}
}

// attributes takes in those of nodes that somebody knows.
func (c *misfits) attributes(p *kind) {
	departs := p.departs()
	for i := range p.attrs {
		a := &p.attrs[i]
		switch {
		case a.guessed:
			c.add(UnknownAttribute, p.name, a.name, a.typ, a.untyped)
		case departs && a.typ == datacenter.String && a.may.Type() != datacenter.String:
			c.add(DoubtfulValues, p.name, a.name, a.may.Type(), a.untyped)
		}
	}
	if of := p.types.held(); of != nil {
		for i := range of.Attributes {
			if a := &of.Attributes[i]; a.Required {
				c.add(NoAttribute, p.name, a.Name, 0, p.nodes-p.values(a.Name))
			}
		}
	}
}

// values returns how many nodes have an attribute.
func (p *kind) values(attribute string) int64 {
	if i := p.attr([]byte(attribute), 0); i >= 0 {
		return p.attrs[i].values
	}
	return 0
}

// missingChild is one that the schema demands.
type missingChild struct {
	name    string
	parents int64 // that have fewer of them than they have to
}

func (p *kind) missing() (all []missingChild) {
	of := p.types.held()
	if of == nil {
		return nil
	}
	for _, t := range of.Children {
		if t.Min == 0 {
			continue
		}
		parents := p.nodes
		if c := p.child([]byte(t.Name)); c != nil {
			parents -= c.enough
		}
		if parents > 0 {
			all = append(all, missingChild{t.Name, parents})
		}
	}
	return all
}

// departs reports whether nodes differ from their schema in more than their values: then it
// may be of another version, and its types, too.
func (p *kind) departs() bool {
	of := p.types.held()
	if of == nil {
		return false
	}
	return p.tooMany > 0 || p.texts > 0 || len(p.missing()) > 0 ||
		slices.ContainsFunc(p.attrs, func(a kindAttr) bool { return a.guessed && a.untyped > 0 }) ||
		slices.ContainsFunc(p.children, func(c *kind) bool { return c.tooMany > 0 || c.types.first() == nil }) ||
		slices.ContainsFunc(of.Attributes, func(a xsd.AttributeType) bool { return a.Required && p.values(a.Name) < p.nodes })
}
