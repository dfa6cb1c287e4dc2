package edit

import (
	"fmt"
	"iter"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// nameTable has the names and key definitions of a Draft: first those of the file, at the
// same places, then new ones.
type nameTable struct {
	nameTexts
	// index and keyIndex are the inverses of names and keys.
	index    map[string]uint16
	keyIndex map[datacenter.KeyNames]uint16
	// freeNames and freeKeys are unused places of new names and key definitions.
	freeNames, freeKeys []uint16
	// maxNames is the maximum number of names, and bytes is their total length.
	maxNames, bytes int
}

// nameTexts are the names and key definitions by index. The index of a name is one more
// than its place; the index of a key definition is its place.
type nameTexts struct {
	names []string
	keys  []datacenter.KeyNames
}

// newNameTable returns the table of a file.
func newNameTable(f *datacenter.File) (nameTable, error) {
	if err := f.Form().CheckNames(); err != nil {
		return nameTable{}, err
	}
	t := nameTable{
		nameTexts: nameTexts{names: slices.Clone(f.Names()), keys: slices.Clone(f.KeyNames())},
		index:     make(map[string]uint16, len(f.Names())), keyIndex: make(map[datacenter.KeyNames]uint16, len(f.KeyNames())),
		maxNames: datacenter.MaxNames,
	}
	for i, name := range t.names {
		t.index[name] = uint16(i + 1)
		t.bytes += len(name)
	}
	for _, name := range []string{datacenter.RootName, datacenter.ValueName} {
		if t.index[name] == 0 {
			t.maxNames-- // it is always written
		}
	}
	for i, k := range slices.Backward(t.keys) {
		t.keyIndex[k] = uint16(i) // the first of equal ones
	}
	if _, ok := t.keyIndex[datacenter.KeyNames{}]; !ok {
		t.keyIndex[datacenter.KeyNames{}] = uint16(len(t.keys))
		t.keys = append(t.keys, datacenter.KeyNames{})
	}
	if len(t.names) > t.maxNames || len(t.keys) > form.MaxKeys {
		return t, fmt.Errorf("datacenter: %d names and %d key definitions: %w", len(t.names), len(t.keys), datacenter.ErrTooLarge)
	}
	return t, nil
}

// copied returns a copy without the inverses.
func (t *nameTable) copied() nameTable {
	c := *t
	c.names, c.keys = slices.Clone(t.names), slices.Clone(t.keys)
	c.freeNames, c.freeKeys = slices.Clone(t.freeNames), slices.Clone(t.freeKeys)
	c.index, c.keyIndex = nil, nil
	return c
}

// indexed returns a copy with the inverses.
func (t *nameTable) indexed() nameTable {
	c := t.copied()
	c.index, c.keyIndex = make(map[string]uint16, len(c.names)), make(map[datacenter.KeyNames]uint16, len(c.keys))
	free := places(c.freeNames, len(c.names))
	for i, name := range c.names {
		if !free[i] {
			c.index[name] = uint16(i + 1)
		}
	}
	free = places(c.freeKeys, len(c.keys))
	for i, k := range slices.Backward(c.keys) {
		if !free[i] {
			c.keyIndex[k] = uint16(i) // the first of equal ones
		}
	}
	return c
}

// places returns, for each place below count, whether it is in some.
func places(some []uint16, count int) []bool {
	are := make([]bool, count)
	for _, i := range some {
		are[i] = true
	}
	return are
}

// name returns the text of a name index.
func (t *nameTexts) name(i uint16) string { return t.names[i-1] }

// definition returns the names of a key definition.
func (t *nameTexts) definition(key uint16) datacenter.KeyDefinition {
	def := datacenter.KeyDefinition{}
	for _, n := range t.keys[key] {
		if n > 0 {
			def = append(def, t.name(n))
		}
	}
	return def
}

// nameIndex returns the index of a name. It adds a new name.
func (d *Draft) nameIndex(name string, u *undoList) (uint16, error) {
	if i, ok := d.index[name]; ok && name != datacenter.RootName {
		return i, nil
	}
	if err := datacenter.CheckName(name); err != nil {
		return 0, err
	}
	if d.bytes+len(name) > form.MaxNameBytes {
		return 0, fmt.Errorf("names of more than %d bytes: %w", form.MaxNameBytes, datacenter.ErrTooLarge)
	}
	if len(d.freeNames) == 0 && len(d.names) >= d.maxNames {
		return 0, fmt.Errorf("more than %d names: %w", datacenter.MaxNames, datacenter.ErrTooLarge)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i := takeFree(&d.freeNames, &d.names) + 1
	d.names[i-1] = name
	d.index[name] = i
	d.bytes += len(name)
	u.add(func() { d.dropName(i) })
	return i, nil
}

// takeFree returns a free place. If there is none, it appends one.
func takeFree[T any](free *[]uint16, table *[]T) uint16 {
	if n := len(*free); n > 0 {
		i := (*free)[n-1]
		*free = (*free)[:n-1]
		return i
	}
	var none T
	*table = append(*table, none)
	return uint16(len(*table) - 1)
}

// dropName frees the index of a new name. The caller holds mu.
func (d *Draft) dropName(i uint16) {
	name := d.names[i-1]
	delete(d.index, name)
	d.bytes -= len(name)
	d.names[i-1] = ""
	d.freeNames = append(d.freeNames, i-1)
}

// dropKey frees the index of a new key definition. The caller holds mu.
func (d *Draft) dropKey(i uint16) {
	delete(d.keyIndex, d.keys[i])
	d.keys[i] = datacenter.KeyNames{}
	d.freeKeys = append(d.freeKeys, i)
}

// keyOf returns the index of a key definition. It adds a new one.
func (d *Draft) keyOf(def datacenter.KeyDefinition, u *undoList) (uint16, error) {
	var k datacenter.KeyNames
	if len(def) > len(k) {
		return 0, fmt.Errorf("%d keys of a node, of which there may be %d: %w", len(def), len(k), datacenter.ErrTooLarge)
	}
	for i, name := range def {
		if name == datacenter.ValueName {
			return 0, fmt.Errorf("%w: %s is no key", datacenter.ErrValue, datacenter.ValueName)
		}
		var err error
		if k[i], err = d.nameIndex(name, u); err != nil {
			return 0, err
		}
	}
	if i, ok := d.keyIndex[k]; ok {
		return i, nil
	}
	if len(d.freeKeys) == 0 && len(d.keys) >= form.MaxKeys {
		return 0, fmt.Errorf("more than %d key definitions: %w", form.MaxKeys, datacenter.ErrTooLarge)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i := takeFree(&d.freeKeys, &d.keys)
	d.keys[i] = k
	d.keyIndex[k] = i
	u.add(func() { d.dropKey(i) })
	return i, nil
}

// sweepFor frees unused names and key definitions if there is no room for those of edits.
// Editors create many files that they rename later. This is safe because no edit is left to
// be undone that would use them again.
func (d *Draft) sweepFor(edits script) error {
	names, keys := 0, 0
	for e, err := range edits {
		if err != nil {
			return err
		}
		if d.index[e.Name] == 0 {
			names++
		}
		for _, k := range e.Keys {
			if d.index[k] == 0 {
				names++
			}
		}
		if len(e.Keys) > 0 {
			keys++
		}
	}
	if names <= len(d.freeNames)+d.maxNames-len(d.names) && keys <= len(d.freeKeys)+form.MaxKeys-len(d.keys) {
		return nil
	}
	usedNames, usedKeys := inUse(d.first, d.keys, d.states)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.keys) - 1; i >= len(d.first.KeyNames()); i-- {
		if k := d.keys[i]; !usedKeys[i] && k != (datacenter.KeyNames{}) {
			d.dropKey(uint16(i))
		}
	}
	for i := len(d.names); i > len(d.first.Names()); i-- {
		if name := d.names[i-1]; !usedNames[i] && int(d.index[name]) == i {
			d.dropName(uint16(i))
		}
	}
	return nil
}

// inUse reports for each name and key index whether one of nodes or the first file uses it.
// All names and key definitions of the first file count as used.
func inUse(f *datacenter.File, defs []datacenter.KeyNames, nodes iter.Seq[*nodeState]) (names, keys []bool) {
	names, keys = make([]bool, datacenter.MaxNames+1), make([]bool, len(defs))
	for i := range f.Names() {
		names[i+1] = true
	}
	for i := range f.KeyNames() {
		keys[i] = true
	}
	for n := range nodes {
		names[n.name], keys[n.key] = true, true
		for i := range n.attrs {
			if a := &n.attrs[i]; !a.dead {
				names[a.name] = true
			}
		}
		for _, key := range defs[n.key] {
			names[key] = true // 0, for no key, marks names[0], which no name has
		}
	}
	return names, keys
}

// states yields the states of all draft nodes, and those in which removed ones may come
// back.
func (d *Draft) states(yield func(*nodeState) bool) {
	for _, n := range d.nodes {
		if !yield(&n.nodeState) {
			return
		}
	}
	if d.root.differs {
		d.root.eachSaved(yield)
	}
}

// eachSaved yields the states that a draft node and those below it have in the base.
func (n *draftNode) eachSaved(yield func(*nodeState) bool) bool {
	saved := n.savedState()
	if !yield(saved) {
		return false
	}
	for i := range saved.kids {
		if k := saved.kids[i].node; k != nil && k.differs && !k.eachSaved(yield) {
			return false
		}
	}
	return true
}
