package dctree

import (
	"context"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// apply makes edits. Those of others are told to changed.
func (e *Editable) apply(ctx context.Context, edits ...datacenter.Edit) error {
	return e.draft.ApplyPlan(ctx, e, func() ([]datacenter.Edit, error) { return edits, nil })
}

// changed takes notice of what others edited, such as a sheet as a text. What is open for
// writing stays open: of an attribute that has gone, it is a file that was removed.
func (e *Editable) changed(a *datacenter.Applied) {
	if a.By == e || len(a.Effects) == 0 {
		return
	}
	e.editing.Do(func() {
		n := notice{e: e, changes: map[nodes.Change]bool{}, spelled: map[string]string{}}
		for i := range a.Effects {
			n.take(&a.Effects[i])
		}
		n.tell()
	})
}

// notice is what others did at once. Who takes it holds editing.
type notice struct {
	e *Editable
	// changes are what whoever watches is told, spelled are names of nodes.
	changes map[nodes.Change]bool
	spelled map[string]string
}

// take lets an edit be seen.
func (n *notice) take(x *datacenter.Effect) {
	switch x.Kind {
	case datacenter.AttributeSet:
		n.set(x)
	case datacenter.AttributeGone:
		n.gone(&x.Before)
	case datacenter.NodeMade:
		n.enters(&x.After)
	case datacenter.NodeGone:
		n.leaves(&x.Before)
		n.removed(x)
	case datacenter.NodeMoved:
		before, now := &x.Before, &x.After
		if before.Parent == now.Parent && before.Name == now.Name && before.Ordinal == now.Ordinal {
			return // only its place among its siblings
		}
		n.leaves(before)
		n.enters(now)
	case datacenter.KeysSet, datacenter.FlagsSet:
	}
}

// dirOf is the ID of the node that has an entry.
func dirOf(at *datacenter.EntryAt) nodes.ID {
	switch {
	case at.Parent == 0:
		return nodes.Root
	case at.ParentAddr != datacenter.Address{}:
		return nodeID(uint32(at.Parent), at.ParentAddr)
	}
	return madeID(at.Parent, false)
}

// spell is [Editable.spell], which looks at all names there are.
func (n *notice) spell(name string) string {
	s, ok := n.spelled[name]
	if !ok {
		s = n.e.spell(name)
		n.spelled[name] = s
	}
	return s
}

// enters is for a node that is there now. An attribute of its name is spelled in another way
// from now on.
func (n *notice) enters(at *datacenter.EntryAt) {
	e, dir := n.e, dirOf(at)
	if d, ok := e.draft.Attribute(at.Parent, at.Name); ok && at.Ordinal == 0 {
		e.mu.Lock()
		e.marked[d.Number] = true
		e.mu.Unlock()
		n.changes[nodes.Change{Dir: dir}] = true
	}
	n.changes[nodes.Change{Dir: dir, Name: numbered(n.spell(at.Name), at.Ordinal)}] = true
}

// leaves is for a node that is not there any more.
func (n *notice) leaves(at *datacenter.EntryAt) {
	was := &place{Place: editing.Place{Name: numbered(n.spell(at.Name), at.Ordinal)}, dir: at.Parent}
	n.e.pinMark(was)
	n.changes[nodes.Change{Dir: dirOf(at), Name: was.Name}] = true
}

// set is for an attribute that has another value, or is new.
func (n *notice) set(x *datacenter.Effect) {
	e, d := n.e, &x.After
	if x.Before.Name == "" {
		n.changes[nodes.Change{Dir: dirOf(d)}] = true
	} else {
		n.changes[nodes.Change{ID: entryID(&x.Before.DraftEntry)}] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unhide(attributeKey{d.Parent, d.Name})
	delete(e.bare, d.Number)
	if c := e.files[entryID(&d.DraftEntry)]; c != nil && !c.Dirty() {
		c.Drop()
	}
}

// gone is for an attribute that is not there any more, unless somebody has set it again.
func (n *notice) gone(d *datacenter.EntryAt) {
	e, id := n.e, entryID(&d.DraftEntry)
	if now, ok := e.draft.Attribute(d.Parent, d.Name); ok && now.Number == d.Number {
		return
	}
	n.changes[nodes.Change{ID: id}] = true
	name := "" // any, if nobody knows any more which
	if of, ok := e.draft.Node(d.Parent); ok {
		if spelled, err := e.attributeName(d.Parent, &of, &d.DraftEntry); err == nil {
			name = spelled
		}
	}
	n.changes[nodes.Change{Dir: dirOf(d), Name: name}] = true
	if c := e.open(id); c != nil && c.attribute {
		e.lose(c, d.Value)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unhide(attributeKey{d.Parent, d.Name})
}

// removed is for what was in a node that has gone.
func (n *notice) removed(x *datacenter.Effect) {
	e := n.e
	values := map[datacenter.Number]datacenter.Value{}
	for i := range x.Values {
		values[x.Values[i].Number] = x.Values[i].Value
	}
	for _, c := range e.lostFiles() {
		e.lose(c, values[c.number])
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.removed[entryID(&x.Before.DraftEntry)] = true
	for dir := range e.dirs {
		if !e.draft.Touched(dir) {
			delete(e.dirs, dir)
		}
	}
}

// lostFiles are those in nodes that have gone.
func (e *Editable) lostFiles() (all []*content) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, c := range e.files {
		if c.name != "" && !e.draft.Touched(c.dir) {
			all = append(all, c)
		}
	}
	return all
}

// lose notes that a file is no more, which had a value in the draft, or if that has no type in
// the source.
func (e *Editable) lose(c *content, v datacenter.Value) {
	if !e.isHeld(c) {
		text := e.text(c.number, v)
		if v.Type() == 0 {
			text = e.storedText(c.id)
		}
		e.owner.HoldAs(&c.Text, []byte(text))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.attribute {
		e.gone(c)
	} else {
		e.unlink(c)
	}
}

func (e *Editable) isHeld(c *content) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return c.Held()
}

// storedText is what the source has as the value of an attribute; nothing if it can't be read.
func (e *Editable) storedText(id nodes.ID) string {
	a, err := e.attribute(id)
	if err != nil {
		return ""
	}
	text, err := a.AppendText(nil)
	if err != nil {
		return ""
	}
	return string(text) + "\n"
}

// tell tells of what was edited, which has the time of now.
func (n *notice) tell() {
	ids := make([]nodes.ID, 0, 2*len(n.changes))
	for c := range n.changes {
		for _, id := range []nodes.ID{c.ID, c.Dir} {
			if id != 0 {
				ids = append(ids, id)
			}
		}
	}
	n.e.times.Touch(ids...)
	for c := range n.changes {
		n.e.owner.Tell(c)
	}
}
