package keytree

import (
	"slices"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

// Watch implements [nodes.Changing].
func (t *Tree) Watch(f func(nodes.Change)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watcher = f
}

// changed drops what edits may have made wrong, and says so.
func (t *Tree) changed(a *edit.Applied) {
	n := notice{t: t, changes: map[nodes.Change]bool{}, dropped: map[*sheets.Family]bool{}}
	for i := range a.Effects {
		n.take(&a.Effects[i])
	}
	t.mu.Lock()
	tell := t.watcher
	t.mu.Unlock()
	if tell == nil {
		return
	}
	for c := range n.changes {
		tell(c)
	}
}

// notice collects the changes by one set of edits.
type notice struct {
	t       *Tree
	changes map[nodes.Change]bool
	dropped map[*sheets.Family]bool
}

// take adds one edit.
func (n *notice) take(x *edit.Effect) {
	switch x.Kind {
	case edit.AttributeSet:
		n.attribute(&x.After)
	case edit.AttributeGone:
		n.attribute(&x.Before)
	case edit.NodeMade, edit.NodeGone, edit.NodeMoved, edit.KeysSet:
		n.node(&x.Before)
		n.node(&x.After)
	case edit.FlagsSet:
	}
}

// attribute handles an attribute that was set or removed: if its node goes by it, the node has
// another name now.
func (n *notice) attribute(at *edit.EntryAt) {
	of, parent, ok := n.t.draftNode(at.Parent)
	if !ok || of.number == 0 || !slices.Contains(goesBy(of.keys), at.Name) {
		return
	}
	n.named(&of, parent)
}

// node handles a node that came to a place, left it, or got other keys.
func (n *notice) node(at *edit.EntryAt) {
	if at.Name != "" {
		n.named(&node{number: at.Number, name: at.Name}, at.Parent)
	}
}

// named handles a node whose name here may have changed. If its parent is gone by now, or no
// sheet any more, there is another edit that says so.
func (n *notice) named(x *node, parent edit.Number) {
	if parent == 0 {
		if f := n.t.familyOf(x.name); f != nil {
			n.sheet(f, x.number)
		}
		return
	}
	s, ok := n.t.src.Sheet(parent)
	if !ok {
		return
	}
	f := n.t.src.FamilyOf(s)
	n.family(f)
	if name, ok := n.t.names.number(x.name); ok {
		n.kids(f, s.Number, name)
	}
}

// familyOf returns the family of sheets of a name. It is nil if nothing was ever called so.
func (t *Tree) familyOf(name string) *sheets.Family {
	families := t.src.Families()
	if i := slices.IndexFunc(families, func(f *sheets.Family) bool { return f.Name == name }); i >= 0 {
		return families[i]
	}
	return nil
}

// family handles a family in which something has another name now.
func (n *notice) family(f *sheets.Family) {
	if !n.dropped[f] {
		n.dropped[f] = true
		n.t.cache.drop(f)
		n.add(nodes.Root, f.File)
		n.add(place{kind: family, of: f.ID()}.id(), "")
	}
}

// sheet handles a sheet that has another name now, or is not there any more. The names of all
// nodes of its family may have changed.
func (n *notice) sheet(f *sheets.Family, s edit.Number) {
	n.family(f)
	for _, name := range n.t.cache.names(f) {
		n.kids(f, s, name)
	}
}

// kids handles a name of children of which one has another name here, or another name in tree/:
// the size of a link is looked up with its name, and its target each time. Which of the
// directories there is depends on the keys of the sheets.
func (n *notice) kids(f *sheets.Family, s edit.Number, name uint32) {
	n.add(place{kind: sheet, of: uint32(s)}.id(), "")
	n.add(place{kind: sheetKids, of: uint32(s), name: name}.id(), "")
	n.add(place{kind: familyKids, of: f.ID(), name: name}.id(), "")
}

func (n *notice) add(dir nodes.ID, name string) { n.changes[nodes.Change{Dir: dir, Name: name}] = true }
