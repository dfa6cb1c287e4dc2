package datacenter

import "slices"

// ChangeKind is what a Change is about.
type ChangeKind uint8

// The kinds.
const (
	// AttributeSet has New, and Old if the file has another value; AttributeGone has Old.
	AttributeSet ChangeKind = iota + 1
	AttributeGone
	// KeysSet and FlagsSet have the new ones in Keys and Flags.
	KeysSet
	FlagsSet
	// NodeMade and NodeGone are of a node and all below it. What is in one that was made
	// follows as changes of its own.
	NodeMade
	NodeGone
	// NodeMoved has where the node was in From.
	NodeMoved
)

// Change is one thing in which a Draft is not what the file is.
type Change struct {
	Kind ChangeKind
	// Path leads from the sheet to the node, which is as it is now; of one that has gone,
	// as it was.
	Path []Step
	// From is where a node was that moved.
	From []Step
	// Name is the attribute's.
	Name string
	// Old and New have no type if there is no such value. Lost tells that there was an
	// Old one that can't be read any more.
	Old, New Value
	Lost     bool
	Keys     KeyDefinition
	Flags    KeyFlags
}

// Step is one node on a path.
type Step struct {
	// Name and Ordinal tell the node from its siblings.
	Name    string
	Ordinal uint32
	// Marks are attributes by which people know the node: its keys, or else its id, as far
	// as they can be read, with the values that the file has.
	Marks []Mark
}

// Mark is an attribute and its value.
type Mark struct {
	Name  string
	Value Value
}

// Changes are all in which the Draft differs from its base, see [Snapshot.Changes].
func (d *Draft) Changes() []Change {
	s := d.Snapshot()
	defer s.Close()
	return s.Changes()
}

// Changes are all in which the Snapshot differs from the base of the Draft. What can't be read of the file any more is left out: so it can be called to
// rescue what was edited when the file was overwritten.
func (s *Snapshot) Changes() []Change {
	c := changeLister{s: s, parents: map[*draftNode]*draftNode{}, there: map[Number]bool{}, from: map[Number][]Step{}}
	c.survey(s.root)
	c.departed(s.root)
	c.node(s.root)
	return c.list
}

// changeLister walks a Snapshot.
type changeLister struct {
	s    *Snapshot
	list []Change
	// parents are those of draft nodes, and there has the numbers of those that there are.
	parents map[*draftNode]*draftNode
	there   map[Number]bool
	// from are the old paths of nodes that moved.
	from map[Number][]Step
}

// survey notes which draft nodes there are.
func (c *changeLister) survey(n *draftNode) {
	for _, k := range c.s.at(n).kids {
		if k.node != nil {
			c.parents[k.node], c.there[k.number] = n, true
			c.survey(k.node)
		}
	}
}

// departed notes where nodes were that are elsewhere now.
func (c *changeLister) departed(n *draftNode) {
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

// node lists the changes of a draft node and of all below it.
func (c *changeLister) node(n *draftNode) {
	x := c.s.at(n)
	c.attributes(n, &x)
	keys, before, flags := c.s.definition(x.key), KeyDefinition{}, KeyFlags(0)
	if base := c.s.baseOf(n); base.file != nil {
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

func (c *changeLister) attributes(n *draftNode, x *nodeState) {
	for i := range x.attrs {
		a := &x.attrs[i]
		change := Change{Kind: AttributeSet, Name: c.s.name(a.name), New: a.value}
		switch {
		case !a.stored:
			if a.dead {
				continue
			}
		case a.dead:
			change.Kind, change.New = AttributeGone, Value{}
		case !a.changed:
			continue
		}
		if a.stored {
			var err error
			change.Old, err = c.s.base.storedValue(a.addr)
			change.Lost = err != nil
		}
		if change.Lost || change.Old != change.New {
			c.add(change, n)
		}
	}
}

// storedValue reads the value of an attribute.
func (f *File) storedValue(addr Address) (Value, error) {
	a, err := f.Attribute(addr)
	if err != nil {
		return Value{}, err
	}
	return a.Value()
}

func (c *changeLister) child(n *draftNode, x *nodeState, i int) {
	switch k := &x.kids[i]; {
	case k.dead:
		if k.stored && !c.there[k.number] {
			c.list = append(c.list, Change{Kind: NodeGone, Path: append(c.path(n), c.stored(k))})
		}
	case k.node == nil: // as the file has it
	case k.stored:
		c.node(k.node)
	case c.s.baseOf(k.node).file == nil:
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

func (c *changeLister) add(change Change, n *draftNode) {
	change.Path = c.path(n)
	c.list = append(c.list, change)
}

// path leads to a draft node.
func (c *changeLister) path(n *draftNode) []Step {
	if n == c.s.root {
		return nil
	}
	x := c.s.at(n)
	return append(c.path(c.parents[n]), Step{Name: c.s.name(x.name), Ordinal: x.ordinal, Marks: c.marks(&x)})
}

// stored is the step to a child that the file has.
func (c *changeLister) stored(k *draftChild) Step {
	s := Step{Name: c.s.name(k.name), Ordinal: k.ordinal}
	base, err := c.s.base.Node(k.addr)
	if err != nil {
		return s
	}
	names := markNames(base.Keys())
	for i := range base.AttributeCount() {
		a, err := base.attributeAt(i)
		if err != nil || !slices.Contains(names, a.Name()) {
			continue
		}
		if v, err := c.s.base.storedValue(a.addr); err == nil {
			s.Marks = append(s.Marks, Mark{a.Name(), v})
		}
	}
	return s
}

// marks are those of a draft node.
func (c *changeLister) marks(x *nodeState) (marks []Mark) {
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
			if v, err = c.s.base.storedValue(a.addr); err != nil {
				continue
			}
		}
		marks = append(marks, Mark{name, v})
	}
	return marks
}

// markNames are the names of the attributes by which people know a node with these keys.
func markNames(keys KeyDefinition) []string {
	if len(keys) == 0 {
		return []string{"id"}
	}
	return keys
}
