package edit

import (
	"slices"

	"lorefs/datacenter"
)

// pathTypes caches the results of TypeOnPath and KeysOnPath.
type pathTypes struct {
	attrs map[string]datacenter.Type
	keys  map[string]datacenter.KeyDefinition
}

// A path is the list of the names of the nodes from a sheet down to a node. Nodes on one
// path are alike: an attribute has the same type in all of them, though on another path an
// attribute of the same name may have another type.

// TypeOnPath returns the type that an attribute has in other nodes on the path of a node.
// ok is false if no node of the file on that path has the attribute. The first call for a
// path may read all of its nodes.
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

// KeysOnPath returns the key definition of the first node in the file that is called name
// and whose parent has the path of parent. It is empty if there is no such node.
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

// isNew reports whether the file does not have a name. Nothing is cached for new names,
// since their indexes may be reused for others.
func (d *Draft) isNew(name uint16) bool { return int(name) > len(d.first.Names()) }

// path returns the names from the sheet down to n. It is empty for the root.
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

// eachOnPath calls visit for the stored nodes of a path until visit returns false. It reads
// a run of children that several parents share once, so the work grows with the stored
// nodes.
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

// named returns the children of parents that have a name. If several parents share a run of
// children, it returns the children of one.
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
