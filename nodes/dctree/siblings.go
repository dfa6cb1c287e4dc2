package dctree

import "lorefs/datacenter"

// ordinals numbers siblings of the same name in a listing.
type ordinals struct {
	node datacenter.Node
	from int // the position at which the listing began

	begun bool
	// In a sorted file, siblings of the same name are neighbors, so only the last name is
	// counted.
	name  uint16
	count int
	// In any other file, all names are counted.
	counts map[uint16]int
}

// next returns the ordinal of c, which has to be the next sibling in the file's order.
func (o *ordinals) next(c datacenter.Node) (int, error) {
	if o.node.Sorted() {
		return o.inOrder(c)
	}
	if o.counts == nil {
		o.counts = map[uint16]int{}
		for before, err := range o.node.Children() {
			if err != nil {
				return 0, err
			}
			if o.node.ChildIndex(before) >= o.from {
				break
			}
			o.counts[before.NameIndex()]++
		}
	}
	name := c.NameIndex()
	n := o.counts[name]
	o.counts[name] = n + 1
	return n, nil
}

func (o *ordinals) inOrder(c datacenter.Node) (int, error) {
	name := c.NameIndex()
	switch {
	case name == o.name:
		o.count++
	case !o.begun && o.from > 0: // the listing began between siblings
		n, err := o.node.Ordinal(c)
		if err != nil {
			return 0, err
		}
		o.count = n
	default:
		o.count = 0
	}
	o.begun = true
	o.name = name
	return o.count, nil
}

// sharedNames says which attributes of a node have a child of the same name.
type sharedNames struct {
	node datacenter.Node
	// names has the names of the children if they are not sorted, because each search would have
	// to go through all of them.
	names map[uint16]bool
}

func newSharedNames(n datacenter.Node) (*sharedNames, error) {
	s := &sharedNames{node: n}
	if n.Sorted() {
		return s, nil
	}
	s.names = map[uint16]bool{}
	for c, err := range n.Children() {
		if err != nil {
			return nil, err
		}
		s.names[c.NameIndex()] = true
	}
	return s, nil
}

func (s *sharedNames) has(name uint16) (bool, error) {
	if s.names != nil {
		return s.names[name], nil
	}
	_, ok, err := s.node.ChildNamed(name, 0)
	return ok, err
}
