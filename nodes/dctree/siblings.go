package dctree

import "lorefs/datacenter"

// ordinals numbers siblings of the same name in a listing.
type ordinals struct {
	tree *Tree
	node datacenter.Node
	from int // the place at which the listing began

	begun bool
	// Of a file in order, equal names are neighbors: the last one is enough.
	name  uint16
	count int
	// Of any other file, all must be counted.
	counts map[uint16]int
}

// next is the ordinal of c, which is the next sibling in the file's order.
func (o *ordinals) next(c datacenter.Node) (int, error) {
	if o.tree.file.Sorted() && o.tree.same == nil {
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
			o.counts[o.tree.canonical(before.NameIndex())]++
		}
	}
	name := o.tree.canonical(c.NameIndex())
	n := o.counts[name]
	o.counts[name] = n + 1
	return n, nil
}

func (o *ordinals) inOrder(c datacenter.Node) (int, error) {
	name := c.NameIndex()
	switch {
	case name == o.name:
		o.count++
	case !o.begun && o.from > 0: // the listing goes on amid siblings
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

// canonical is the first index of a name's text.
func (t *Tree) canonical(index uint16) uint16 {
	if t.same == nil {
		return index
	}
	return t.same[index]
}
