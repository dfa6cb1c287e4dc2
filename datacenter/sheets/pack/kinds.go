package pack

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
)

// kind is all nodes of the sheets of one name and schema that have the same names
// above them, that is of one path: what is alike in them is known here. Kinds are made while the sheets
// are read for the first time, and not changed while they are packed.
type kind struct {
	name string
	// order tells which kind, or attribute, was met first.
	order    uint64
	number   uint32
	attrs    []kindAttr
	children []*kind
	// attrAt and childAt find those by name where there are more than a few.
	attrAt, childAt map[string]int

	types known
	keys  datacenter.KeyDefinition
	keyed bool // there is a node that does not say other keys
	// keyNames are those of keys and of the nodes that say others.
	keyNames map[string]bool

	counted
}

// known is what is said of a path, by those who say something of the sheets: whoever comes
// first is believed. Each is nil where it says nothing.
type known [3]*xsd.ElementType

// Who says something, by their places in known.
const (
	byLike = iota
	bySchema
	byTemplate
)

// first returns what is believed of nodes; it is nil if nobody knows them.
func (k known) first() *xsd.ElementType {
	for _, e := range k {
		if e != nil {
			return e
		}
	}
	return nil
}

// attribute returns the type of an attribute; it is 0 if nobody knows that.
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

// child is what is said of children.
func (k known) child(name string) (below known) {
	for i, e := range k {
		below[i] = typeBelow(e, name)
	}
	return below
}

// few is how many names are looked through faster than found in a map.
const few = 6

// kindAttr is an attribute of a kind.
type kindAttr struct {
	name  string
	order uint64
	typ   datacenter.Type // 0 until it is known
	// may is for what nobody knows the type of, and for strings.
	may infer.Types
	// guessed tells that nobody knows the type. values is how many nodes have the attribute,
	// untyped how many of them leave its type to others.
	guessed         bool
	values, untyped int64
}

// newKind makes a kind of which something may be known.
func newKind(name string, types known, order uint64) *kind {
	p := &kind{name: name, order: order, types: types, counted: counted{most: xsd.Unbounded}}
	if e := types.first(); e != nil {
		p.keys = e.Keys
	}
	return p
}

// child finds the kind of a child; it is nil if there is none.
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
	c := newKind(name, p.types.child(name), order)
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

// attr finds the place of an attribute, which is likely to be hint; it is -1 if
// there is none.
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

// addAttr gives the kind an attribute.
func (p *kind) addAttr(name string, order uint64) int {
	a := kindAttr{name: name, order: order, may: infer.Any, typ: p.types.attribute(name)}
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

// addKeys takes the names of a node's key definition in.
func (p *kind) addKeys(keys datacenter.KeyDefinition) {
	if p.keyNames == nil && len(keys) > 0 {
		p.keyNames = map[string]bool{}
	}
	for _, key := range keys {
		p.keyNames[key] = true
	}
}

// merge takes in what another kind knows, and leaves that as it is.
func (p *kind) merge(q *kind) {
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
	if a.guessed == b.guessed { // the strings of a schema are no reason to guess otherwise
		a.may &= b.may
	}
}

// take takes a node's attribute in.
func (a *kindAttr) take(b *xmlsheet.Attribute) {
	a.values++
	if b.Type != 0 {
		return
	}
	a.untyped++
	if a.guessed || a.typ == datacenter.String {
		a.may = a.may.With(b.Value)
	}
}

// settle gives each attribute a type, and each kind a number, its place in list. all
// is the same kind in all sheets of the name, whatever their schema.
func (p *kind) settle(all *kind, list []*kind) []*kind {
	p.number = uint32(len(list))
	list = append(list, p)
	for i := range p.attrs {
		if a := &p.attrs[i]; a.typ == 0 {
			a.typ = all.attrs[all.attr([]byte(a.name), i)].may.Type()
		}
	}
	for _, c := range p.children {
		list = c.settle(all.child([]byte(c.name)), list)
	}
	return list
}
