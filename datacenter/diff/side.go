package diff

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/treepath"
)

// side is one of the two files. A name that both have gets one number, since their tables
// may be in different order.
type side struct {
	names    []uint32 // the number of each name index
	path     *treepath.Path
	way      Way
	contents *identity.Contents[datacenter.Node]
}

// child is a child of a node.
type child struct {
	node    datacenter.Node
	name    uint32
	ordinal int
	// standIn is set if the node is of the first file, and stands for an equal sheet that the
	// second file lacks.
	standIn bool
}

// attribute is an attribute with the number of its name.
type attribute struct {
	datacenter.Attribute
	name uint32
}

// open numbers the names of both files.
func (c *comparer) open(a, b *datacenter.File) error {
	names := map[string]uint32{}
	var err error
	if c.a, err = c.side(a, names); err != nil {
		return err
	}
	c.b, err = c.side(b, names)
	return err
}

// number returns the number of a name, and adds a new name.
func number(names map[string]uint32, name string) uint32 {
	n, ok := names[name]
	if !ok {
		n = uint32(len(names))
		names[name] = n
	}
	return n
}

func (c *comparer) side(f *datacenter.File, names map[string]uint32) (*side, error) {
	spelled, err := treepath.NewNames(f)
	if err != nil {
		return nil, err
	}
	s := &side{
		names: make([]uint32, 1, len(f.Names())+1), path: treepath.NewPath(spelled),
		contents: identity.NewContents(identity.NewFile(c.ctx)),
	}
	for _, name := range f.Names() {
		s.names = append(s.names, number(names, name))
	}
	return s, nil
}

func (s *side) push(c child) {
	s.path.Push(c.node.NameIndex(), c.ordinal)
	s.way = append(s.way, WayStep{c.node, c.ordinal})
}

func (s *side) pop() {
	s.path.Pop()
	s.way = s.way[:len(s.way)-1]
}

// children appends the children of n, sorted by the number of their name. Children of one
// name keep their order.
func (s *side) children(n datacenter.Node, dst []child) ([]child, error) {
	inOrder := true
	last := uint32(0)
	for k, err := range n.Children() {
		if err != nil {
			return dst, err
		}
		name := s.names[k.NameIndex()]
		inOrder = inOrder && name >= last
		last = name
		dst = append(dst, child{node: k, name: name})
	}
	if !inOrder {
		slices.SortStableFunc(dst, func(p, q child) int { return cmp.Compare(p.name, q.name) })
	}
	for i := 1; i < len(dst); i++ {
		if dst[i].name == dst[i-1].name {
			dst[i].ordinal = dst[i-1].ordinal + 1
		}
	}
	return dst, nil
}

// attributes appends the attributes of n, sorted by the number of their name.
func (s *side) attributes(n datacenter.Node, dst []attribute) ([]attribute, error) {
	inOrder := true
	last := uint32(0)
	for a, err := range n.Attributes() {
		if err != nil {
			return dst, err
		}
		name := s.names[a.NameIndex()]
		inOrder = inOrder && name >= last
		last = name
		dst = append(dst, attribute{a, name})
	}
	if !inOrder {
		slices.SortFunc(dst, func(p, q attribute) int { return cmp.Compare(p.name, q.name) })
	}
	return dst, nil
}

// siblings returns some children for package identity.
func (s *side) siblings(list []child) identity.Siblings[datacenter.Node] {
	return identity.Siblings[datacenter.Node]{Contents: s.contents, Nodes: nodesOf(list)}
}

func nodesOf(list []child) []datacenter.Node {
	nodes := make([]datacenter.Node, len(list))
	for i := range list {
		nodes[i] = list[i].node
	}
	return nodes
}

// take returns an empty list of children, and give takes it back for reuse.
func (c *comparer) take() []child {
	if len(c.spare) == 0 {
		return nil
	}
	list := c.spare[len(c.spare)-1]
	c.spare = c.spare[:len(c.spare)-1]
	return list[:0]
}

func (c *comparer) give(list []child) {
	if list != nil {
		c.spare = append(c.spare, list)
	}
}
