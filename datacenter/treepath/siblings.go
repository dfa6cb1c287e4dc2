package treepath

import "lorefs/datacenter"

// Siblings numbers the children of one node after another: for each it counts the siblings
// of its name before it. The zero value is ready for Begin.
type Siblings struct {
	sorted bool
	// In a sorted node equal names are neighbours, so the last name and its count are enough.
	name  uint16
	count int
	// In any other node all names must be counted.
	counts map[uint16]int
}

// Begin starts with the children of n.
func (s *Siblings) Begin(n datacenter.Node) {
	s.sorted, s.name, s.count = n.Sorted(), 0, 0
	clear(s.counts)
}

// BeginAt starts with the children of n from an index on.
func (s *Siblings) BeginAt(n datacenter.Node, index int) error {
	s.Begin(n)
	if index == 0 {
		return nil
	}
	if s.sorted {
		for c, err := range n.ChildrenFrom(index) {
			if err == nil {
				s.name = c.NameIndex()
				s.count, err = n.Ordinal(c)
			}
			return err
		}
		return nil
	}
	for c, err := range n.Children() {
		if err != nil || n.ChildIndex(c) >= index {
			return err
		}
		s.Next(c)
	}
	return nil
}

// Next numbers the next child in the file's order. For a node that is Sorted, the caller
// may skip all children of a name; otherwise it must skip none.
func (s *Siblings) Next(child datacenter.Node) int {
	name := child.NameIndex()
	if !s.sorted {
		if s.counts == nil {
			s.counts = map[uint16]int{}
		}
		n := s.counts[name]
		s.counts[name] = n + 1
		return n
	}
	if name != s.name {
		s.name, s.count = name, 0
	}
	s.count++
	return s.count - 1
}

// Shared reports which attributes of a node have a child of the same name, for one node
// after another. The zero value is ready.
type Shared struct {
	// addr is the node of names, if names is not nil. names holds the names of the children
	// if they are not sorted, since each search would go through all of them.
	addr  datacenter.Address
	names map[uint16]bool
}

// Has reports whether n has a child of a name.
func (s *Shared) Has(n datacenter.Node, name uint16) (bool, error) {
	if n.ChildCount() == 0 {
		return false, nil
	}
	if n.Sorted() {
		_, ok, err := n.ChildNamed(name, 0)
		return ok, err
	}
	if s.names == nil || s.addr != n.Address() {
		names := map[uint16]bool{}
		for c, err := range n.Children() {
			if err != nil {
				return false, err
			}
			names[c.NameIndex()] = true
		}
		s.addr, s.names = n.Address(), names
	}
	return s.names[name], nil
}
