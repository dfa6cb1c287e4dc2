package plan

import (
	"cmp"
	"slices"
	"sync"

	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets/internal/vocab"
)

// diff adds the edits that turn x into y. Both are at the current path.
func (p *planner) diff(x oldNode, y newRef) error {
	if y.at < 0 && y.old.number == x.number {
		return nil
	}
	if err := p.check(); err != nil {
		return err
	}
	same := y.at >= 0 && p.nodes[y.at].like && p.nodes[y.at].old.number == x.number
	if err := p.diffAttributes(x, y, same); err != nil {
		return err
	}
	if !same {
		if err := p.diffKeys(x, y); err != nil {
			return err
		}
	}
	return p.diffKids(x, y)
}

// diffAttributes adds the edits of attributes. same says that only __value__ may differ.
func (p *planner) diffAttributes(x oldNode, y newRef, same bool) error {
	if same && p.sameText(x, y) {
		return nil
	}
	xs, err := p.oldAttributes(x, nil)
	if err != nil {
		return err
	}
	ys, err := p.wantedAttributes(y)
	if err != nil {
		return err
	}
	slices.SortFunc(xs, func(a, b vocab.Attribute) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(ys, func(a, b wanted) int { return cmp.Compare(a.name, b.name) })
	i := 0
	for k := range ys {
		w := &ys[k]
		for ; i < len(xs) && xs[i].Name < w.name; i++ {
			p.removeAttribute(x, xs[i].Name)
		}
		var old *vocab.Attribute
		if i < len(xs) && xs[i].Name == w.name {
			old = &xs[i]
			i++
		}
		if err := p.setAttribute(x, old, w); err != nil {
			return err
		}
	}
	for ; i < len(xs); i++ {
		p.removeAttribute(x, xs[i].Name)
	}
	return nil
}

// sameText reports whether a node of the text has the same __value__ as a node of the file.
func (p *planner) sameText(x oldNode, y newRef) bool {
	n := &p.nodes[y.at]
	old, ok, err := p.oldValue(x)
	return err == nil && ok == n.hasText && string(old) == string(p.bytes[n.textFrom:n.textTo])
}

func (p *planner) removeAttribute(x oldNode, name vocab.NameID) {
	p.remove(x, edit.Edit{Op: edit.RemoveAttribute, Node: x.number, Name: p.names.name(name)})
}

// setAttribute adds the edit that sets an attribute of x; old is its attribute now, or nil.
func (p *planner) setAttribute(x oldNode, old *vocab.Attribute, w *wanted) error {
	t := w.typ
	if old != nil {
		if same, err := p.sameValue(old, w.text, w.typ); err != nil || same {
			return err
		}
		t = cmp.Or(t, old.Type())
	}
	name := p.names.name(w.name)
	if t == 0 {
		t = p.typesHere().attribute(w.name, name)
	}
	v, err := p.value(t, w)
	if err == nil {
		p.edits = append(p.edits, edit.Edit{Op: edit.SetAttribute, Node: x.number, Name: name, Value: v})
	}
	return err
}

func (p *planner) diffKeys(x oldNode, y newRef) error {
	keys, flags, err := p.oldKeys(x)
	if err != nil {
		return err
	}
	want, has, wantFlags, err := p.wantedKeys(y)
	if err != nil {
		return err
	}
	if has && !slices.Equal(keys, want) {
		p.edits = append(p.edits, edit.Edit{Op: edit.SetKeys, Node: x.number, Keys: want})
	}
	if flags != wantFlags {
		p.edits = append(p.edits, edit.Edit{Op: edit.SetFlags, Node: x.number, Flags: wantFlags})
	}
	return nil
}

// diffKids adds the edits of the children, name by name.
func (p *planner) diffKids(x oldNode, y newRef) error {
	xs, err := p.oldKids(x, nil)
	if err != nil {
		return err
	}
	ys, err := p.wantedKids(y)
	if err != nil {
		return err
	}
	slices.SortStableFunc(xs, func(a, b oldKid) int { return cmp.Compare(a.name, b.name) })
	slices.SortStableFunc(ys, func(a, b newKid) int { return cmp.Compare(a.name, b.name) })
	removed := sync.OnceValues(func() (map[vocab.NameID][]removedKid, error) { return p.removedKids(x) })
	for len(xs)+len(ys) > 0 {
		var name vocab.NameID
		if len(ys) == 0 || len(xs) > 0 && xs[0].name < ys[0].name {
			name = xs[0].name
		} else {
			name = ys[0].name
		}
		i, k := 0, 0
		for i < len(xs) && xs[i].name == name {
			i++
		}
		for k < len(ys) && ys[k].name == name {
			k++
		}
		p.path = append(p.path, name)
		err := p.diffSiblings(siblings{parent: x, xs: xs[:i:i], ys: ys[:k], name: name, removed: removed})
		p.path = p.path[:len(p.path)-1]
		if err != nil {
			return err
		}
		xs, ys = xs[i:], ys[k:]
	}
	return nil
}

// slot is a place for a node. It has no rank if the ordinal decides.
type slot struct {
	parent  edit.Number
	ordinal uint32
	rank    uint64
}

// add adds the edits that make a node, with the last name of the path, and everything below
// it.
func (p *planner) add(at slot, y newRef, types *pathTypes) error {
	if err := p.check(); err != nil {
		return err
	}
	keys, has, flags, err := p.wantedKeys(y)
	if err != nil {
		return err
	}
	if !has {
		keys = types.keys()
	}
	name := p.names.name(p.path[len(p.path)-1])
	number := p.draft.NewNumber()
	p.edits = append(p.edits, edit.Edit{
		Op: edit.AddNode, Node: number, Parent: at.parent, Name: name, Ordinal: at.ordinal, Rank: at.rank,
		Keys: keys, Flags: flags,
	})
	attrs, err := p.wantedAttributes(y)
	if err != nil {
		return err
	}
	for i := range attrs {
		w := &attrs[i]
		name := p.names.name(w.name)
		t := w.typ
		if t == 0 {
			t = types.attribute(w.name, name)
		}
		v, err := p.value(t, w)
		if err != nil {
			return err
		}
		p.edits = append(p.edits, edit.Edit{Op: edit.SetAttribute, Node: number, Name: name, Value: v})
	}
	return p.addKids(number, y, types)
}

func (p *planner) addKids(parent edit.Number, y newRef, types *pathTypes) error {
	kids, err := p.wantedKids(y)
	if err != nil || len(kids) == 0 {
		return err
	}
	below, ordinals := map[vocab.NameID]*pathTypes{}, map[vocab.NameID]uint32{}
	for _, k := range kids {
		if below[k.name] == nil {
			below[k.name] = types.child(p, k.name)
		}
		p.path = append(p.path, k.name)
		err := p.add(slot{parent: parent, ordinal: ordinals[k.name]}, k.newRef, below[k.name])
		p.path = p.path[:len(p.path)-1]
		if err != nil {
			return err
		}
		ordinals[k.name]++
	}
	return nil
}
