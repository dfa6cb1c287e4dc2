package identity

import (
	"context"
	"slices"

	"lorefs/datacenter"
)

// Tree gives access to nodes of type N.
type Tree[N any] interface {
	// Attributes calls visit for the attributes of n, including __value__, in any order. The
	// type is 0 if it is unknown. The text is spelled as in a mount, and valid until visit
	// returns.
	Attributes(n N, visit func(name string, typ datacenter.Type, text []byte)) error
	// Children calls visit for the children of n in their order.
	Children(n N, visit func(name string, child N)) error
	// Run returns the stored run with the children of n; ok is false if they are in none.
	Run(n N) (run datacenter.Run, ok bool)
}

// namer is a Tree that can skip attributes, which saves reading their texts.
type namer[N any] interface {
	// Named is Attributes for attributes that are called names.
	Named(n N, names []string, visit func(name string, typ datacenter.Type, text []byte)) error
}

type attributeVisitor = func(name string, typ datacenter.Type, text []byte)

// visitNamed calls visit at least for the attributes of n that are called names, or for all if
// names is nil.
func visitNamed[N any](tree Tree[N], n N, names []string, visit attributeVisitor) error {
	if t, ok := tree.(namer[N]); ok && names != nil {
		return t.Named(n, names, visit)
	}
	return tree.Attributes(n, visit)
}

// childAppender is a Tree that finds children by their name faster than by visiting all.
type childAppender[N any] interface {
	appendNamed(dst []N, n N, name string) ([]N, error)
}

// appendNamed appends the children of n called name.
func appendNamed[N any](dst []N, tree Tree[N], n N, name string) ([]N, error) {
	if t, ok := tree.(childAppender[N]); ok {
		return t.appendNamed(dst, n, name)
	}
	err := tree.Children(n, func(of string, child N) {
		if of == name {
			dst = append(dst, child)
		}
	})
	return dst, err
}

// File is the Tree of the nodes of a file. It is not safe for parallel use.
type File struct {
	ctx        context.Context
	text       []byte
	keys       map[uint16]datacenter.KeyDefinition
	attributes []datacenter.Attribute
	children   []datacenter.Node
	names      []uint16
	met        metNames
}

// NewFile returns a File. Once ctx has ended, Children returns its error.
func NewFile(ctx context.Context) *File {
	return &File{ctx: ctx, keys: map[uint16]datacenter.KeyDefinition{}}
}

// Keys implements [PathTree].
func (f *File) Keys(n datacenter.Node) datacenter.KeyDefinition {
	def, ok := f.keys[n.KeyIndex()]
	if !ok {
		def = n.Keys()
		f.keys[n.KeyIndex()] = def
	}
	return def
}

// Flags implements [PathTree].
func (*File) Flags(n datacenter.Node) datacenter.KeyFlags { return n.Flags() }

// Attributes implements [Tree].
func (f *File) Attributes(n datacenter.Node, visit func(name string, typ datacenter.Type, text []byte)) error {
	return f.Named(n, nil, visit)
}

// Named is Attributes for attributes that are called names, or for all if names is nil.
func (f *File) Named(n datacenter.Node, names []string, visit func(name string, typ datacenter.Type, text []byte)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	list, err := n.AppendAttributes(f.attributes[:0], nil)
	f.attributes = nil // visit may come back here
	for i := range list {
		a := &list[i]
		name := a.Name()
		if err != nil || names != nil && !slices.Contains(names, name) {
			continue
		}
		if f.text, err = a.AppendText(f.text[:0]); err == nil {
			visit(name, a.Type(), f.text)
		}
	}
	f.attributes = list
	return err
}

// rows implements rowser.
func (f *File) rows(nodes []datacenter.Node) rows {
	return &fileRows{File: f, nodes: nodes}
}

// fileRows are rows that are nodes of a file.
type fileRows struct {
	*File
	nodes []datacenter.Node
	// wants refuses the attributes that a table has no use for. It is nil if it has use for all.
	wants func(datacenter.Attribute) bool
	// numbers are those of the names of the attributes that wants took, of the last row.
	numbers []int
}

// read implements rows.
func (f *fileRows) read(dst []cell, row int, names *attributeNames) (_ []cell, err error) {
	if err := f.ctx.Err(); err != nil {
		return dst, err
	}
	if row == 0 { // with other names than before
		f.met.forget()
		f.wants = nil
		if names.closed {
			f.wants = func(a datacenter.Attribute) bool {
				n := f.met.number(a, names)
				if n >= 0 {
					f.numbers = append(f.numbers, n)
				}
				return n >= 0
			}
		}
	}
	f.met.next, f.numbers = 0, f.numbers[:0]
	if f.attributes, err = f.nodes[row].AppendAttributes(f.attributes[:0], f.wants); err != nil {
		return dst, err
	}
	if f.wants == nil {
		for _, a := range f.attributes {
			f.numbers = append(f.numbers, f.met.number(a, names))
		}
	}
	// AppendAttributes may have begun anew.
	numbers := f.numbers[len(f.numbers)-len(f.attributes):]
	for i := range f.attributes {
		a := &f.attributes[i]
		dst = append(dst, cell{name: numbers[i], typ: a.Type(), raw: uint64(a.Bits())})
	}
	return dst, err
}

// metNames are the names that attributes of some rows have had.
type metNames struct {
	// list is in the order in which rows have them, as far as they have one: next is the place of
	// that which is likely to come next. So it is rarely looked for.
	list []metName
	next int
	// places are those in list, by the indexes of names in the file. Those of other rounds than
	// the last do not count.
	places []metPlace
	round  uint32
}

// metName is a name by its index in the file, and its number in attributeNames.
type metName struct {
	index  uint16
	number int
}

type metPlace struct {
	round uint32
	place int32
}

// forget forgets all names.
func (m *metNames) forget() {
	m.list = m.list[:0]
	m.round++
}

// number returns the number of an attribute's name.
func (m *metNames) number(a datacenter.Attribute, names *attributeNames) int {
	index := a.NameIndex()
	if m.next == len(m.list) || m.list[m.next].index != index {
		m.next = m.place(a, names)
	}
	m.next++
	return m.list[m.next-1].number
}

// place returns the place of an attribute's name in list.
func (m *metNames) place(a datacenter.Attribute, names *attributeNames) int {
	if m.places == nil {
		m.places = make([]metPlace, 1<<16)
	}
	p := &m.places[a.NameIndex()]
	if p.round != m.round {
		*p = metPlace{m.round, int32(len(m.list))}
		m.list = append(m.list, metName{a.NameIndex(), names.index(a.Name())})
	}
	return int(p.place)
}

// hash implements rows.
func (f *fileRows) hash(i int) (hash uint64, err error) {
	a := f.attributes[i]
	switch a.Type() {
	case datacenter.Int:
		return hashBits(a.Bits()), nil
	case datacenter.Bool:
		if a.Bool() {
			return hashBits(1), nil
		}
		return hashBits(0), nil
	}
	if f.text, err = a.AppendText(f.text[:0]); err != nil || !Sayable(a.Type(), f.text) {
		return 0, err
	}
	return hashExactly(a.Type(), f.text) | 1, nil
}

// hashBits returns the hash of a number, which is not 0.
func hashBits(bits uint32) uint64 { return scatter(uint64(bits)+1) | 1 }

// Children implements [Tree].
func (f *File) Children(n datacenter.Node, visit func(name string, child datacenter.Node)) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	for k, err := range n.Children() {
		if err != nil {
			return err
		}
		visit(k.Name(), k)
	}
	return nil
}

// appendNamed implements childAppender. Of many children it reads only those with the name: the
// sheets are asked for by each of their names.
func (f *File) appendNamed(dst []datacenter.Node, n datacenter.Node, name string) (_ []datacenter.Node, err error) {
	if err := f.ctx.Err(); err != nil {
		return dst, err
	}
	if n.ChildCount() < wide {
		f.children, err = n.AppendChildren(f.children[:0], 0, n.ChildCount())
		for i := range f.children {
			if c := &f.children[i]; c.NameIndex() > 0 && c.Name() == name {
				dst = append(dst, *c)
			}
		}
		return dst, err
	}
	if f.names, err = n.AppendChildNames(f.names[:0]); err != nil {
		return dst, err
	}
	for i, end := 0, 0; i < len(f.names); i = end {
		end = i + 1
		for end < len(f.names) && f.names[end] == f.names[i] {
			end++
		}
		if f.names[i] == 0 {
			continue // placeholders
		}
		first, err := n.ChildAt(i)
		if err == nil && first.Name() == name {
			dst, err = n.AppendChildren(dst, i, end-i)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Run implements [Tree].
func (f *File) Run(n datacenter.Node) (datacenter.Run, bool) { return n.ChildRun(), true }
