package edit

import (
	"slices"

	"lorefs/datacenter"
)

// Step is one node on a path.
type Step struct {
	// Name and Ordinal distinguish the node from its siblings.
	Name    string
	Ordinal uint32
	// Marks are attributes by which people recognize the node: its keys, or its id if it
	// has no keys. They have the file's values. Those that can't be read are missing.
	Marks []Mark
}

// Mark is an attribute and its value.
type Mark struct {
	Name  string
	Value datacenter.Value
}

// Described returns what was edited with the paths of the nodes, also what is in new nodes. It
// leaves out what can't be read from the file any more, so it helps to rescue the edits after the
// file was overwritten.
func (d *Draft) Described() []Change {
	s := d.Snapshot()
	defer s.Close()
	c := describedLister{s: s, parents: map[*draftNode]*draftNode{}, there: map[Number]bool{}, from: map[Number][]Step{}}
	c.survey(s.root)
	c.departed(s.root)
	c.node(s.root)
	return c.list
}

// describedLister walks a Snapshot.
type describedLister struct {
	s    *Snapshot
	list []Change
	// parents has the parents of draft nodes, and there has the numbers of all draft nodes.
	parents map[*draftNode]*draftNode
	there   map[Number]bool
	// from has the old paths of nodes that moved.
	from map[Number][]Step
}

// survey collects the draft nodes.
func (c *describedLister) survey(n *draftNode) {
	for _, k := range c.s.at(n).kids {
		if k.node != nil {
			c.parents[k.node], c.there[k.number] = n, true
			c.survey(k.node)
		}
	}
}

// departed stores the old paths of nodes that were moved away.
func (c *describedLister) departed(n *draftNode) {
	kids := c.s.at(n).kids
	for i := range kids {
		k := &kids[i]
		if k.node != nil {
			c.departed(k.node)
		}
		if k.stored && k.dead && c.there[k.number] {
			c.from[k.number] = append(c.path(n), c.stored(k))
		}
	}
}

// node lists the changes of a draft node and its subtree.
func (c *describedLister) node(n *draftNode) {
	x := c.s.at(n)
	c.attributes(n, &x)
	keys, before, flags := c.s.definition(x.key), datacenter.KeyDefinition{}, datacenter.KeyFlags(0)
	if base := c.s.baseOf(n); !isNone(base) {
		before, flags = base.Keys(), base.Flags()
	}
	if !slices.Equal(keys, before) {
		c.add(Change{Kind: KeysSet, Keys: keys}, n)
	}
	if x.flags != flags {
		c.add(Change{Kind: FlagsSet, Flags: x.flags}, n)
	}
	for i := range x.kids {
		c.child(n, &x, i)
	}
}

func (c *describedLister) attributes(n *draftNode, x *nodeState) {
	for i := range x.attrs {
		a := &x.attrs[i]
		change := Change{Kind: AttributeSet, Name: c.s.name(a.name), New: a.value}
		switch {
		case !a.stored:
			if a.dead {
				continue
			}
		case a.dead:
			change.Kind, change.New = AttributeGone, datacenter.Value{}
		case !a.changed:
			continue
		}
		if a.stored {
			var err error
			change.Old, err = storedValue(c.s.base, a.addr)
			change.Lost = err != nil
		}
		if change.Lost || change.Old != change.New {
			c.add(change, n)
		}
	}
}

func (c *describedLister) child(n *draftNode, x *nodeState, i int) {
	switch k := &x.kids[i]; {
	case k.dead:
		if k.stored && !c.there[k.number] {
			c.list = append(c.list, Change{Kind: NodeGone, Path: append(c.path(n), c.stored(k))})
		}
	case k.node == nil: // unchanged
	case k.stored:
		c.node(k.node)
	case isNone(c.s.baseOf(k.node)):
		c.add(Change{Kind: NodeMade}, k.node)
		c.node(k.node)
	default:
		if from := c.from[k.number]; !slices.EqualFunc(from, c.path(k.node), sameStep) {
			c.add(Change{Kind: NodeMoved, From: from}, k.node)
		}
		c.node(k.node)
	}
}

func sameStep(x, y Step) bool { return x.Name == y.Name && x.Ordinal == y.Ordinal }

func (c *describedLister) add(change Change, n *draftNode) {
	change.Path = c.path(n)
	c.list = append(c.list, change)
}

// path returns the path of a draft node.
func (c *describedLister) path(n *draftNode) []Step {
	if n == c.s.root {
		return nil
	}
	x := c.s.at(n)
	return append(c.path(c.parents[n]), Step{Name: c.s.name(x.name), Ordinal: x.ordinal, Marks: c.marks(&x)})
}

// stored returns the step to a child that the file has.
func (c *describedLister) stored(k *draftChild) Step {
	s := Step{Name: c.s.name(k.name), Ordinal: k.ordinal}
	base, err := c.s.base.Node(k.addr)
	if err != nil {
		return s
	}
	names := markNames(base.Keys())
	for i := range base.AttributeCount() {
		a, err := base.AttributeAt(i)
		if err != nil || !slices.Contains(names, a.Name()) {
			continue
		}
		if v, err := a.Value(); err == nil {
			s.Marks = append(s.Marks, Mark{a.Name(), v})
		}
	}
	return s
}

// marks returns the marks of a draft node.
func (c *describedLister) marks(x *nodeState) (marks []Mark) {
	names := markNames(c.s.definition(x.key))
	for i := range x.attrs {
		a := &x.attrs[i]
		name := c.s.name(a.name)
		if a.dead && !a.stored || !slices.Contains(names, name) {
			continue
		}
		v := a.value
		if a.stored {
			var err error
			if v, err = storedValue(c.s.base, a.addr); err != nil {
				continue
			}
		}
		marks = append(marks, Mark{name, v})
	}
	return marks
}

// markNames returns the names of the attributes by which people recognize a node with these
// keys.
func markNames(keys datacenter.KeyDefinition) []string {
	if len(keys) == 0 {
		return []string{"id"}
	}
	return keys
}
