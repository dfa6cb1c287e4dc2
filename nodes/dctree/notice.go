package dctree

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// changed reports the edits of others, such as a sheet as a text.
func (e *edits) changed(a *edit.Applied) {
	if a.By == e {
		return
	}
	n := notice{e: e, changes: map[nodes.Change]bool{}, spelled: map[string]string{}}
	for i := range a.Effects {
		n.take(&a.Effects[i])
	}
	if n.back {
		e.Back()
	}
	for c := range n.changes {
		e.Changed(c)
	}
}

// notice collects the changes by one set of edits of others.
type notice struct {
	e *edits
	// changes has what the Watcher will be told. spelled caches the spelling of node names.
	changes map[nodes.Change]bool
	spelled map[string]string
	// back says that something came back which had been removed.
	back bool
}

// take adds one edit.
func (n *notice) take(x *edit.Effect) {
	switch x.Kind {
	case edit.AttributeSet:
		n.set(x)
	case edit.AttributeGone:
		n.gone(&x.Before)
	case edit.NodeMade:
		n.enters(&x.After)
	case edit.NodeGone:
		n.leaves(&x.Before)
		n.removed(x)
	case edit.NodeMoved:
		before, now := &x.Before, &x.After
		if before.Parent == now.Parent && before.Name == now.Name && before.Ordinal == now.Ordinal {
			return // only its position among its siblings changed
		}
		n.leaves(before)
		n.enters(now)
	case edit.KeysSet, edit.FlagsSet:
	}
}

// dirOf returns the ID of the node that has an entry.
func dirOf(at *edit.EntryAt) nodes.ID {
	switch {
	case at.Parent == 0:
		return nodes.Root
	case at.ParentAddr != datacenter.Address{}:
		return nodeID(uint32(at.Parent), at.ParentAddr)
	}
	return madeID(at.Parent, false)
}

// spell is [edits.spell], which searches all names, with a cache.
func (n *notice) spell(name string) string {
	s, ok := n.spelled[name]
	if !ok {
		s = n.e.spell(name)
		n.spelled[name] = s
	}
	return s
}

// enters handles a node that is new at a place. If an attribute has the same name, its spelling
// changes.
func (n *notice) enters(at *edit.EntryAt) {
	e, dir := n.e, dirOf(at)
	n.back = true // also a node that was made and saved may have been removed before
	if e.giveWay(at.Parent, at.Name, at.Ordinal) {
		n.changes[nodes.Change{Dir: dir}] = true
	}
	n.changes[nodes.Change{Dir: dir, Name: numbered(n.spell(at.Name), at.Ordinal)}] = true
}

// leaves handles a node that has left its place.
func (n *notice) leaves(at *edit.EntryAt) {
	n.e.pinMarkBeside(at.Parent, at.Name, at.Ordinal)
	n.changes[nodes.Change{Dir: dirOf(at), Name: numbered(n.spell(at.Name), at.Ordinal)}] = true
}

// set handles an attribute that is new or has another value.
func (n *notice) set(x *edit.Effect) {
	e, d := n.e, &x.After
	e.mu.Lock()
	delete(e.bare, d.Number)
	e.mu.Unlock()
	e.Edited(entryID(&d.Entry))
	if x.Before.Name == "" {
		n.changes[nodes.Change{Dir: dirOf(d)}] = true
		n.back = true
	}
}

// gone handles an attribute that was removed. It does nothing if the attribute was set again.
func (n *notice) gone(d *edit.EntryAt) {
	e := n.e
	if now, ok := e.draft.Attribute(d.Parent, d.Name); ok && now.Number == d.Number {
		return
	}
	name := "" // any name, if the spelling is unknown by now
	if of, ok := e.draft.Node(d.Parent); ok {
		if spelled, err := e.attributeName(d.Parent, &of, &d.Entry); err == nil {
			name = spelled
		}
	}
	e.Gone(entryID(&d.Entry), nodes.File, e.before(&d.Entry))
	n.changes[nodes.Change{Dir: dirOf(d), Name: name}] = true
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.bare, d.Number)
	delete(e.marked, d.Number)
}

// before returns what the file of a removed attribute showed.
func (e *edits) before(d *edit.Entry) content {
	c := content{at: e.Tree.opts.ModTime}
	if d.Value.Type() != 0 {
		c.text = e.text(d.Number, d.Value)
	} else if a, err := e.file.Attribute(d.Addr); err == nil {
		if text, err := a.AppendText(nil); err == nil {
			c.text = string(text) + "\n"
		}
	}
	return c
}

// removed handles a node that was removed with everything in it.
func (n *notice) removed(x *edit.Effect) {
	for i := range x.Values {
		v := &x.Values[i]
		n.e.Gone(entryID(v), nodes.File, n.e.before(v))
	}
	n.e.Gone(entryID(&x.Before.Entry), nodes.Dir, nil)
}
