package edit

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// OrderedChildren returns the children of a draft node in the order in which they would be
// written now: by name, then by their key definitions and the values of their keys, then by
// their present place. ok is false if there is no such draft node. It may read the file.
func (d *Draft) OrderedChildren(n Number) (children []Entry, ok bool, err error) {
	o := childOrder{first: d.first}
	d.mu.RLock()
	x := d.nodes[n]
	if x != nil {
		o.collect(&d.nameTable, x, &x.nodeState, func(k *draftNode) nodeState {
			state := k.nodeState
			state.attrs = slices.Clone(state.attrs) // no lock is held while the file is read
			return state
		})
	}
	d.mu.RUnlock()
	if x == nil {
		return nil, false, nil
	}
	children, err = o.sorted()
	return children, true, err
}

// childOrder orders the children of one draft node. Its error is sticky.
type childOrder struct {
	first       *datacenter.File
	kids        []orderedChild
	root, value uint16 // names that are written last
	// names has the names of the keys of draft nodes, since those may be new.
	names map[uint16]string
	err   error
}

// orderedChild is a child with what is needed to read its keys.
type orderedChild struct {
	Entry
	rank  uint64
	keys  datacenter.KeyNames
	draft bool
	// attrs are the attributes of a draft node. For other children, home is the node in the
	// first file.
	attrs []draftAttribute
	home  datacenter.Node
}

// collect takes what is known of the children without reading the file. stateOf returns the
// state of a draft node.
func (o *childOrder) collect(t *nameTable, n *draftNode, x *nodeState, stateOf func(*draftNode) nodeState) {
	o.root, o.value = t.index[datacenter.RootName], t.index[datacenter.ValueName]
	o.kids = make([]orderedChild, 0, len(x.kids))
	o.names = map[uint16]string{}
	for i := range x.kids {
		k := &x.kids[i]
		if k.dead {
			continue
		}
		c := orderedChild{Entry: t.childEntry(n, x, i), rank: k.rank}
		if k.node != nil {
			state := stateOf(k.node)
			c.draft, c.keys, c.attrs = true, t.keys[state.key], state.attrs
			for _, key := range c.keys {
				if key != 0 {
					o.names[key] = t.name(key)
				}
			}
		}
		o.kids = append(o.kids, c)
	}
}

// sorted returns the children in their order.
func (o *childOrder) sorted() ([]Entry, error) {
	slices.SortStableFunc(o.kids, func(x, y orderedChild) int {
		return cmp.Or(o.name(x)-o.name(y), cmp.Compare(x.rank, y.rank))
	})
	if err := o.load(); err != nil {
		return nil, err
	}
	sortSiblings(o.kids, o.compare)
	children := make([]Entry, len(o.kids))
	for i := range o.kids {
		children[i] = o.kids[i].Entry
	}
	return children, o.err
}

func (o *childOrder) name(c orderedChild) int {
	switch c.NameIndex {
	case o.root:
		return datacenter.MaxNames + 1
	case o.value:
		return datacenter.MaxNames + 2
	}
	return int(c.NameIndex)
}

// compare is [datacenter.Builder.compareNodes] for children of a draft node.
func (o *childOrder) compare(x, y orderedChild) int {
	if x.NameIndex != y.NameIndex || o.err != nil {
		return o.name(x) - o.name(y)
	}
	c, _ := form.CompareSiblings(x.keys, y.keys, o.spell, func(key uint16) int {
		return o.keyValue(&x, key).Compare(o.keyValue(&y, key))
	})
	return c
}

// spell returns the text of a name index.
func (o *childOrder) spell(i uint16) string {
	if name, ok := o.names[i]; ok {
		return name
	}
	return o.first.Names()[i-1]
}

// load reads the children that are no draft nodes from the first file.
func (o *childOrder) load() (err error) {
	for i := range o.kids {
		c := &o.kids[i]
		if c.draft {
			continue
		}
		if c.home, err = o.first.Node(c.Addr); err != nil {
			return err
		}
		c.keys = c.home.KeyNames()
	}
	return nil
}

// keyValue returns the value of one key of a child. It has no type if there is none.
func (o *childOrder) keyValue(c *orderedChild, key uint16) (v datacenter.Value) {
	var stored datacenter.Attribute
	var err error
	ok := true
	if c.draft {
		i := slices.IndexFunc(c.attrs, func(a draftAttribute) bool { return a.name == key && !a.dead })
		if i < 0 {
			return v
		}
		if a := &c.attrs[i]; a.edited {
			return a.value
		}
		stored, err = o.first.Attribute(c.attrs[i].home)
	} else {
		stored, ok, err = c.home.Attribute(key)
	}
	if err == nil && ok {
		v, err = stored.Value()
	}
	if err != nil && o.err == nil {
		o.err = err
	}
	return v
}
