package pack

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/repeat"
	"lorefs/datacenter/sheets/xsd"
)

// kind is all nodes with the same path in the sheets of one name and schema, and what they
// have in common. Kinds are made while the sheets are read, and not changed while they are
// packed.
type kind struct {
	name string
	// order says which kind, or attribute, was met first.
	order uint64
	// number is its place in a surveyor's list, or in the survey's.
	number   uint32
	attrs    []kindAttr
	children []*kind
	// layouts are those of its nodes, by what appendHead and layoutAttr.append write.
	layouts map[string]*layout
	// shapes are start tags of children.
	shapes repeat.Shapes[*layout]
	// attrAt and childAt find attributes and children by name if there are more than a few.
	attrAt, childAt map[string]int

	types known
	// late asks for the template's type of the sheets, if a schema precedes it, and above is the
	// kind of the parents then. Most schemas know all of their sheets, and it takes long to learn
	// those of a template from a data center.
	late  func() *xsd.ElementType
	above *kind
	asked bool // types has the template's

	keys  datacenter.KeyDefinition
	keyed bool // some node has no keys of its own
	// keyNames are the names of keys, including those that nodes state.
	keyNames map[string]bool

	// joined is the kind into which merge put this one, and places are the places of its
	// attributes there.
	joined *kind
	places []uint32

	counted
}

// known are the schemas' types for a path; the first one counts. Each is nil where its
// schema says nothing.
type known [3]*xsd.ElementType

// The schemas, by their places in known.
const (
	byLike = iota
	bySchema
	byTemplate
)

// first returns the type of nodes that counts, or nil if no schema knows them.
func (k known) first() *xsd.ElementType {
	for _, e := range k {
		if e != nil {
			return e
		}
	}
	return nil
}

// attribute returns the type of an attribute, or 0 if no schema knows it.
func (k known) attribute(name string) datacenter.Type {
	for _, e := range k {
		if e == nil {
			continue
		}
		if a, ok := e.Attribute(name); ok {
			return a.Type
		}
	}
	return 0
}

// child returns what the schemas say of a child.
func (k known) child(name string) (below known) {
	for i, e := range k {
		below[i] = typeBelow(e, name)
	}
	return below
}

// few is how many names are faster to search in a list than in a map.
const few = 6

// kindAttr is an attribute of a kind.
type kindAttr struct {
	name  string
	order uint64
	typ   datacenter.Type // 0 until it is known
	// may is for attributes without a known type, and for strings.
	may infer.Types
	// guessed is set if no schema knows the type. values is how many nodes have the
	// attribute, untyped how many of them do not state its type.
	guessed         bool
	values, untyped int64
	index           uint16 // of the name, in the Builder
	// last is the place of the last value among the surveyor's texts, or 0. lastNumber is its number.
	last, lastNumber uint32
}

// newKind makes a kind of which a schema may know the type.
func newKind(name string, types known, order uint64) *kind {
	p := &kind{name: name, order: order, types: types, counted: counted{most: xsd.Unbounded}}
	if e := types.first(); e != nil {
		p.keys = e.Keys
	}
	return p
}

// template returns the template's type, and asks for it if nobody has done so yet.
func (p *kind) template() *xsd.ElementType {
	switch {
	case p.late == nil || p.asked:
		return p.types[byTemplate]
	case p.above == nil:
		p.types[byTemplate] = p.late()
	default:
		p.types[byTemplate] = typeBelow(p.above.template(), p.name)
	}
	p.asked = true
	return p.types[byTemplate]
}

// child finds the kind of a child, or returns nil.
func (p *kind) child(name []byte) *kind {
	if len(p.children) <= few {
		for _, c := range p.children {
			if c.name == string(name) {
				return c
			}
		}
		return nil
	}
	if i, ok := p.childAt[string(name)]; ok {
		return p.children[i]
	}
	return nil
}

// addChild makes the kind of a child.
func (p *kind) addChild(name string, order uint64) *kind {
	types := p.types.child(name)
	late := p.late != nil && types.first() != nil
	if p.late != nil && !late {
		types[byTemplate] = typeBelow(p.template(), name)
	}
	c := newKind(name, types, order)
	if late {
		c.late, c.above = p.late, p
	}
	if of := p.types.held(); of != nil {
		if t, ok := of.Child(name); ok {
			c.least, c.most = t.Min, t.Max
		}
	}
	p.children = append(p.children, c)
	switch {
	case len(p.children) == few+1:
		p.childAt = make(map[string]int, 2*few)
		for i, c := range p.children {
			p.childAt[c.name] = i
		}
	case len(p.children) > few:
		p.childAt[name] = len(p.children) - 1
	}
	return c
}

// typeBelow returns the type of a child, if there is one.
func typeBelow(e *xsd.ElementType, name string) *xsd.ElementType {
	if e == nil {
		return nil
	}
	c, _ := e.Child(name)
	return c.Type
}

// attr finds the place of an attribute, which is likely to be hint, or returns -1.
func (p *kind) attr(name []byte, hint int) int {
	if hint < len(p.attrs) && p.attrs[hint].name == string(name) {
		return hint
	}
	if len(p.attrs) <= few {
		return slices.IndexFunc(p.attrs, func(a kindAttr) bool { return a.name == string(name) })
	}
	if i, ok := p.attrAt[string(name)]; ok {
		return i
	}
	return -1
}

// addAttr adds an attribute to the kind.
func (p *kind) addAttr(name string, order uint64) int {
	a := kindAttr{name: name, order: order, may: infer.Any, typ: p.types.attribute(name)}
	if a.typ == 0 && p.late != nil {
		a.typ = known{byTemplate: p.template()}.attribute(name)
	}
	a.guessed = a.typ == 0
	p.attrs = append(p.attrs, a)
	i := len(p.attrs) - 1
	switch {
	case i == few:
		p.attrAt = make(map[string]int, 2*few)
		for k, a := range p.attrs {
			p.attrAt[a.name] = k
		}
	case i > few:
		p.attrAt[name] = i
	}
	return i
}

// addKeys adds the names of a node's key definition.
func (p *kind) addKeys(keys datacenter.KeyDefinition) {
	if p.keyNames == nil && len(keys) > 0 {
		p.keyNames = map[string]bool{}
	}
	for _, key := range keys {
		p.keyNames[key] = true
	}
}

// merge adds another kind's knowledge to p.
func (p *kind) merge(q *kind) {
	q.joined, q.places = p, make([]uint32, 0, len(q.attrs))
	p.order = min(p.order, q.order)
	p.addCounts(&q.counted)
	for key := range q.keyNames {
		p.addKeys(datacenter.KeyDefinition{key})
	}
	for k := range q.attrs {
		a := &q.attrs[k]
		i := p.attr([]byte(a.name), k)
		if i < 0 {
			i = p.addAttr(a.name, a.order)
		}
		p.attrs[i].merge(a)
		q.places = append(q.places, uint32(i))
	}
	for _, c := range q.children {
		mine := p.child([]byte(c.name))
		if mine == nil {
			mine = p.addChild(c.name, c.order)
		}
		mine.merge(c)
	}
}

func (a *kindAttr) merge(b *kindAttr) {
	a.order = min(a.order, b.order)
	a.values += b.values
	a.untyped += b.untyped
	if a.guessed == b.guessed { // a schema's strings are no reason to guess otherwise
		a.may &= b.may
	}
}

// learn takes a value into account whose type the sheet does not state.
func (a *kindAttr) learn(value []byte) {
	if a.guessed || a.typ == datacenter.String {
		a.may = a.may.With(value)
	}
}

// settle sets the type of each attribute and the number of each kind, its place in list. p
// has been merged into the same kind in all sheets of the name, whatever their schema.
func (p *kind) settle(list []*kind) []*kind {
	p.number = uint32(len(list))
	list = append(list, p)
	for i := range p.attrs {
		if a := &p.attrs[i]; a.typ == 0 {
			a.typ = p.joined.attrs[p.places[i]].may.Type()
		}
	}
	for _, c := range p.children {
		list = c.settle(list)
	}
	return list
}
