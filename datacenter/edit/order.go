package edit

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
)

// OrderedChildren returns the children of a draft node in the order in which they would be
// written now: by name, then by their key definitions and the values of their keys, then by
// their present place. ok is false if there is no such draft node. It may read the file.
func (d *Draft) OrderedChildren(n Number) (children []Entry, ok bool, err error) {
	o := draftOrder{d: d}
	if !o.collect(n) {
		return nil, false, nil
	}
	slices.SortStableFunc(o.kids, func(x, y orderedChild) int {
		return cmp.Or(o.name(x)-o.name(y), cmp.Compare(x.rank, y.rank))
	})
	if err := o.load(); err != nil {
		return nil, true, err
	}
	sortSiblings(o.kids, o.compare)
	children = make([]Entry, len(o.kids))
	for i := range o.kids {
		children[i] = o.kids[i].Entry
	}
	return children, true, o.err
}

// draftOrder orders the children of one draft node. Its error is sticky.
type draftOrder struct {
	d           *Draft
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

// collect copies what is known of the children, so that no lock is held while the file is
// read. It returns false if there is no such draft node.
func (o *draftOrder) collect(n Number) bool {
	d := o.d
	d.mu.RLock()
	defer d.mu.RUnlock()
	x := d.nodes[n]
	if x == nil {
		return false
	}
	o.root, o.value = d.index[datacenter.RootName], d.index[datacenter.ValueName]
	o.kids = make([]orderedChild, 0, len(x.kidAt))
	o.names = map[uint16]string{}
	for i := range x.kids {
		k := &x.kids[i]
		if k.dead {
			continue
		}
		c := orderedChild{Entry: d.childEntry(x, i), rank: k.rank}
		if k.node != nil {
			c.draft, c.keys = true, d.keys[k.node.key]
			c.attrs = slices.Clone(k.node.attrs)
			for _, key := range c.keys {
				if key != 0 {
					o.names[key] = d.name(key)
				}
			}
		}
		o.kids = append(o.kids, c)
	}
	return true
}

func (o *draftOrder) name(c orderedChild) int {
	switch c.NameIndex {
	case o.root:
		return datacenter.MaxNames + 1
	case o.value:
		return datacenter.MaxNames + 2
	}
	return int(c.NameIndex)
}

// compare is [datacenter.Builder.compareNodes] for children of a draft node.
func (o *draftOrder) compare(x, y orderedChild) int {
	if x.NameIndex != y.NameIndex || o.err != nil {
		return o.name(x) - o.name(y)
	}
	c, _ := datacenter.CompareSiblings(x.keys, y.keys, o.spell, func(key uint16) int {
		return o.keyValue(&x, key).Compare(o.keyValue(&y, key))
	})
	return c
}

// spell returns the text of a name index.
func (o *draftOrder) spell(i uint16) string {
	if name, ok := o.names[i]; ok {
		return name
	}
	return o.d.first.Names()[i-1]
}

// load reads the children that are no draft nodes from the first file.
func (o *draftOrder) load() (err error) {
	for i := range o.kids {
		c := &o.kids[i]
		if c.draft {
			continue
		}
		if c.home, err = o.d.first.Node(c.Addr); err != nil {
			return err
		}
		c.keys = c.home.KeyNames()
	}
	return nil
}

// keyValue returns the value of one key of a child. It has no type if there is none.
func (o *draftOrder) keyValue(c *orderedChild, key uint16) (v datacenter.Value) {
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
		stored, err = o.d.first.Attribute(c.attrs[i].home)
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
