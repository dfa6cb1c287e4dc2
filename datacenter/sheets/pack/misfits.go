package pack

import (
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// Misfit is a name in sheets that the schemas do not know, or do not fit.
type Misfit struct {
	What MisfitKind
	// Sheet is the name of the sheets, Element the name of the nodes, on any path.
	// Attribute is empty if the nodes are meant.
	Sheet, Element, Attribute string
	// Type is the type that values got, for kinds about values.
	Type datacenter.Type
	// Count is the number of values, elements or places, depending on the kind.
	Count int64
	// Values is the number of values in the elements of an UnknownElement.
	Values int64
}

// MisfitKind says what is wrong. The first kinds leave types in doubt.
type MisfitKind uint8

const (
	// DoubtfulValues are strings by the schema of an element that otherwise departs from
	// it, though all of them could be of the type Type.
	DoubtfulValues MisfitKind = iota + 1
	// UnknownAttribute is in no schema. Its values got a type that suits them.
	UnknownAttribute
	// UnknownElement is in no schema, and so are its attributes. Its values got types that
	// suit them, and it got no keys.
	UnknownElement
	// TooMany counts the elements with more children of a name than the schema allows.
	TooMany
	// TooFew counts the elements with fewer children of a name than the schema demands.
	TooFew
	// NoAttribute counts the elements that lack a required attribute.
	NoAttribute
	// UnknownText counts the elements with a text that the schema does not allow.
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

// counted are the counts of a kind, for comparison with the schema. Nodes of one kind are
// never inside each other, so the kind itself can hold them.
type counted struct {
	// nodes is their number, texts the number of those with a text that the schema does not
	// allow.
	nodes, texts int64
	// least and most are how many the schema has in one parent; most may be [Unbounded].
	least, most int
	// run is the number of the run in which met have been met so far.
	run, met int
	// enough is how many parents have at least least, tooMany how many have more than most.
	enough, tooMany int64
}

// meet counts a node in the run of that number, which is not 0, and which is that of so many parents.
func (c *counted) meet(run int, parents int64) {
	if c.run != run {
		c.run, c.met = run, 0
	}
	c.met++
	if c.met == c.least {
		c.enough += parents
	}
	if c.most != xsd.Unbounded && c.met == c.most+1 {
		c.tooMany += parents
	}
}

// addCounts adds another's counts of nodes of the kind.
func (c *counted) addCounts(d *counted) {
	c.nodes += d.nodes
	c.texts += d.texts
	c.enough += d.enough
	c.tooMany += d.tooMany
}

// held returns the schema that nodes are compared with: nil where opts.Like knows them,
// because then the schema is not used.
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
		if p.types.first() != nil { // else everything is inferred, which is reported otherwise
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

// misfits adds up equal misfits on several paths and under several schemas.
type misfits struct {
	sheet string
	found map[Misfit]*Misfit // by all fields but the counts
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

// kind adds a kind and all below it.
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

// attributes adds those of nodes that a schema knows.
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

// missingChild is a child that the schema demands.
type missingChild struct {
	name    string
	parents int64 // with fewer of them than demanded
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

// departs reports whether nodes differ from their schema in more than their values. Then
// the schema may be of another version, and its types too.
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
