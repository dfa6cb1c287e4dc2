package edit

import (
	"slices"

	"lorefs/datacenter"
)

// pathTypes remembers what was looked for on paths.
type pathTypes struct {
	attrs map[string]datacenter.Type
	keys  map[string]datacenter.KeyDefinition
}

// A path is the names of the nodes from a sheet down to a node. What the nodes
// on one path have is alike: an attribute has one type there, though another
// path may give another type to the same name.

// TypeOnPath is the type that an attribute has elsewhere on the path of a node; ok
// is false if no node of the file on that path has it. It may have to look at
// all of them, but does so once.
func (d *Draft) TypeOnPath(node Number, attribute string) (t datacenter.Type, ok bool, err error) {
	d.editing.Lock()
	defer d.editing.Unlock()
	n, err := d.reach(node)
	if err != nil {
		return 0, false, err
	}
	name, known := d.index[attribute]
	path := n.path()
	if !known || d.isNew(name) || slices.ContainsFunc(path, d.isNew) {
		return 0, false, nil
	}
	memo := pathKey(append(slices.Clone(path), name))
	if t, ok := d.types.attrs[memo]; ok {
		return t, t != 0, nil
	}
	err = eachOnPath(d.first, path, func(n datacenter.Node) (bool, error) {
		a, ok, err := n.Attribute(name)
		if ok {
			t = a.Type()
		}
		return !ok, err
	})
	if err != nil {
		return 0, false, err
	}
	if d.types.attrs == nil {
		d.types.attrs = map[string]datacenter.Type{}
	}
	d.types.attrs[memo] = t
	return t, t != 0, nil
}

// KeysOnPath is the key definition of the first node of the file that is called
// name and has the path of parent before it; it is empty if there is none.
func (d *Draft) KeysOnPath(parent Number, name string) (datacenter.KeyDefinition, error) {
	d.editing.Lock()
	defer d.editing.Unlock()
	p, err := d.reach(parent)
	if err != nil {
		return nil, err
	}
	index, known := d.index[name]
	path := append(p.path(), index)
	if !known || slices.ContainsFunc(path, d.isNew) {
		return nil, nil
	}
	if def, ok := d.types.keys[pathKey(path)]; ok {
		return def, nil
	}
	var def datacenter.KeyDefinition
	err = eachOnPath(d.first, path, func(n datacenter.Node) (bool, error) {
		def = n.Keys()
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	if d.types.keys == nil {
		d.types.keys = map[string]datacenter.KeyDefinition{}
	}
	d.types.keys[pathKey(path)] = def
	return def, nil
}

// isNew tells whether a name is none of the file's. Nothing is remembered of
// those, for their indexes may come to mean others.
func (d *Draft) isNew(name uint16) bool { return int(name) > len(d.first.Names()) }

// path is the names from the sheet down to n; it is empty for the root.
func (n *draftNode) path() []uint16 {
	path := []uint16{}
	for ; n.parent != nil; n = n.parent {
		path = append(path, n.name)
	}
	slices.Reverse(path)
	return path
}

func pathKey(path []uint16) string {
	b := make([]byte, 0, 2*len(path))
	for _, name := range path {
		b = append(b, byte(name), byte(name>>8))
	}
	return string(b)
}

// eachOnPath calls visit for the stored nodes of a path until it is false. A
// run of children that several parents share is looked at once, so the work
// grows with the stored nodes.
func eachOnPath(f *datacenter.File, path []uint16, visit func(datacenter.Node) (more bool, err error)) error {
	if len(path) == 0 {
		return nil
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	level := []datacenter.Node{root}
	for _, name := range path[:len(path)-1] {
		if level, err = named(level, name); err != nil {
			return err
		}
	}
	return eachNamed(level, path[len(path)-1], visit)
}

// named gives the children of parents that have a name, one of those that have
// the same run of children.
func named(parents []datacenter.Node, name uint16) ([]datacenter.Node, error) {
	var next []datacenter.Node
	seen := map[datacenter.Run]bool{}
	err := eachNamed(parents, name, func(c datacenter.Node) (bool, error) {
		if k := c.ChildRun(); k.Count > 0 && !seen[k] {
			seen[k] = true
			next = append(next, c)
		}
		return true, nil
	})
	return next, err
}

func eachNamed(parents []datacenter.Node, name uint16, visit func(datacenter.Node) (bool, error)) error {
	for _, p := range parents {
		first, ok, err := p.ChildNamed(name, 0)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for c, err := range p.ChildrenFrom(p.ChildIndex(first)) {
			if err != nil {
				return err
			}
			if c.NameIndex() != name {
				if p.Sorted() {
					break
				}
				continue
			}
			if more, err := visit(c); err != nil || !more {
				return err
			}
		}
	}
	return nil
}
