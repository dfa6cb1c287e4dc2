package edit

import (
	"context"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/compare"
)

// Some siblings were removed or moved, and others made, and all together hold the same, in the order in which
// they are written, as those of the base: nobody can tell from the file which they are. So nothing has
// changed. The order is that of the names and keys, and only then that of the places.

// swap counts the siblings of one name that are not there any more, and those that have come.
type swap struct{ gone, come int }

// swapped fills in swaps for the children of a draft node.
func (v *survey) swapped(i int) {
	for k := range v.nodes[i].kids {
		c := &v.nodes[i].kids[k]
		if c.dead != c.stored {
			continue
		}
		if v.swaps == nil {
			v.swaps = map[siblingsAt]swap{}
		}
		at := siblingsAt{i, c.name}
		s := v.swaps[at]
		if c.dead {
			s.gone++
		} else {
			s.come++
		}
		v.swaps[at] = s
	}
}

// isAlike reports whether siblings of which some were removed and others made are as in the base.
func (v *survey) isAlike(at siblingsAt) bool {
	s := v.swaps[at]
	if s.gone == 0 || s.gone != s.come {
		return false
	}
	is, known := v.alike[at]
	if !known {
		if is = v.compareSiblings(at); v.alike == nil {
			v.alike = map[siblingsAt]bool{}
		}
		v.alike[at] = is
	}
	return is
}

// compareSiblings is isAlike without what is known.
func (v *survey) compareSiblings(at siblingsAt) bool {
	x := &v.nodes[at.parent]
	named := x.nodeState
	named.kids = nil
	for k := range x.kids {
		c := &x.kids[k]
		if c.name != at.name {
			continue
		}
		if c.dead {
			if v.isElsewhere(c, at.parent) {
				return false
			}
			continue
		}
		named.kids = append(named.kids, *c)
	}
	name := v.s.name(at.name)
	return v.sameKids(at.parent, &named, x.n.base, func(n datacenter.Node) bool { return n.Name() == name })
}

// isElsewhere reports whether a child that the base has is below another node now, or has another name.
func (v *survey) isElsewhere(c *draftChild, parent int) bool {
	i, there := v.at(c.number)
	return c.stored && there && (v.nodes[i].parent != parent || v.nodes[i].name != c.name)
}

// sameKids reports whether the children of a node in a state are those of a node of the base, of which
// only some count.
func (v *survey) sameKids(parent int, x *nodeState, base datacenter.Node, counts func(datacenter.Node) bool) bool {
	o := childOrder{first: v.s.d.first}
	o.collect(&v.s.nameTable, v.nodes[parent].n, x, v.s.at)
	children, err := o.sorted()
	if err != nil {
		return false
	}
	kids := make(map[Number]*draftChild, len(children))
	for k := range x.kids {
		if c := &x.kids[k]; !c.dead {
			kids[c.number] = c
		}
	}
	for c, err := range base.Children() {
		if err != nil || counts(c) && (len(children) == 0 || !v.sameNode(parent, kids[children[0].Number], c)) {
			return false
		}
		if counts(c) {
			children = children[1:]
		}
	}
	return len(children) == 0
}

// sameNode reports whether a child is as a node of the base, with everything below it.
func (v *survey) sameNode(parent int, c *draftChild, base datacenter.Node) bool {
	if c.node == nil {
		if c.addr == base.Address() {
			return true
		}
		n, err := v.s.base.Node(c.addr)
		if err != nil {
			return false
		}
		same, err := compare.NewComparer(context.Background(), v.s.base, v.s.base).Same(n, base)
		return same && err == nil
	}
	i, ok := v.at(c.number)
	if !ok || !c.stored && !v.isNew(i) && !v.isAtHome(i, parent) {
		return false
	}
	x := &v.nodes[i]
	if v.s.name(x.name) != base.Name() || x.flags != base.Flags() || !slices.Equal(v.s.definition(x.key), base.Keys()) ||
		x.attrCount() != base.AttributeCount() || !v.sameAttributes(x, base) {
		return false
	}
	for k := range x.kids {
		if x.kids[k].dead && v.isElsewhere(&x.kids[k], i) {
			return false
		}
	}
	return v.sameKids(i, &x.nodeState, base, func(datacenter.Node) bool { return true })
}

// isAtHome reports whether the base has a node below the same parent, and by the same name.
func (v *survey) isAtHome(i, parent int) bool {
	home, ok := v.homes[v.nodes[i].n.number]
	return ok && home.parent == parent && v.nodes[parent].kids[home.kid].name == v.nodes[i].name
}

// sameAttributes reports whether a node has the values of a node of the base.
func (v *survey) sameAttributes(x *surveyed, base datacenter.Node) bool {
	for a, err := range base.Attributes() {
		if err != nil {
			return false
		}
		want, err := a.Value()
		if err != nil || v.value(x, a.Name()) != want {
			return false
		}
	}
	return true
}
