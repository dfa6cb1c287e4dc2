package dctree

import (
	"context"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// Change makes edits of the draft that do not come from this tree, such as those that
// a sheet's text asks for. Nothing else is edited from before plan says which until
// they are made, all or none. Whoever watches the tree is told of what they change
// here. What is open for writing stays open: of an attribute that has gone, it is a
// file that was removed.
//
// plan may read the draft, but must neither apply edits nor call the tree. The draft's
// watchers are told that the edits are by somebody.
func (e *Editable) Change(ctx context.Context, by any, plan func() ([]datacenter.Edit, error)) error {
	if err := e.check(ctx); err != nil {
		return err
	}
	e.editing.Lock()
	defer e.editing.Unlock()
	edits, err := plan()
	if err != nil || len(edits) == 0 {
		return err
	}
	f := foreign{
		e: e, made: map[datacenter.Number]bool{}, changes: map[nodes.Change]bool{},
		removed: map[datacenter.Number]nodes.ID{}, spelled: map[string]string{}, gone: map[nodes.ID]bool{},
	}
	for i := range edits {
		if err := f.before(ctx, &edits[i]); err != nil {
			return err
		}
	}
	if err := f.leave(ctx); err != nil {
		f.stay()
		return err
	}
	err = e.draft.ApplyPlan(ctx, by, func() ([]datacenter.Edit, error) { return edits, nil })
	if err != nil {
		f.stay()
		return refusal(err)
	}
	f.after(edits)
	return nil
}

// foreign is the edits of one Change.
type foreign struct {
	e *Editable
	// made are new nodes: nobody can know what is in them.
	made map[datacenter.Number]bool
	// changes are what whoever watches is told.
	changes map[nodes.Change]bool
	// removed are nodes that go, with their IDs, and spelled names of nodes.
	removed map[datacenter.Number]nodes.ID
	spelled map[string]string
	// gone are attributes that are removed, by their IDs, and leaving the contents
	// of files that have to be held before they are.
	gone    map[nodes.ID]bool
	leaving []*content
}

// before looks at what an edit is about to change. What is edited becomes a draft
// node, as it would in a moment.
func (f *foreign) before(ctx context.Context, edit *datacenter.Edit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if edit.Op == datacenter.AddNode {
		f.made[edit.Node] = true
		if !f.made[edit.Parent] {
			return f.entersDir(edit)
		}
		return nil
	}
	if f.made[edit.Node] {
		return nil
	}
	if err := f.e.draft.Open(edit.Node); err != nil {
		return refusal(err)
	}
	switch edit.Op {
	case datacenter.SetAttribute, datacenter.RemoveAttribute:
		return f.attribute(edit)
	case datacenter.RemoveNode:
		f.removed[edit.Node] = f.e.dirID(edit.Node)
		f.leavesDir(edit.Node)
	case datacenter.MoveNode:
		if n, ok := f.e.draft.Node(edit.Node); ok && n.Parent == edit.Parent && n.Name == edit.Name && n.Ordinal == edit.Ordinal {
			return nil // only its place among its siblings
		}
		f.leavesDir(edit.Node)
		return f.entersDir(edit)
	}
	return nil
}

// dirID is the ID of a draft node.
func (e *Editable) dirID(number datacenter.Number) nodes.ID {
	if number == 0 {
		return nodes.Root
	}
	if n, ok := e.draft.Node(number); ok && n.Stored {
		return nodeID(uint32(number), n.Base.Address())
	}
	return madeID(number, false)
}

// spell is [Editable.spell], which looks at all names there are.
func (f *foreign) spell(name string) string {
	s, ok := f.spelled[name]
	if !ok {
		s = f.e.spell(name)
		f.spelled[name] = s
	}
	return s
}

// entersDir is for a node that is about to be there. An attribute of its name is
// spelled in another way from now on.
func (f *foreign) entersDir(edit *datacenter.Edit) error {
	e := f.e
	if err := e.draft.Open(edit.Parent); err != nil {
		return refusal(err)
	}
	if d, ok := e.draft.Attribute(edit.Parent, edit.Name); ok && edit.Ordinal == 0 {
		e.mu.Lock()
		e.marked[d.Number] = true
		e.mu.Unlock()
		f.changes[nodes.Change{Dir: e.dirID(edit.Parent)}] = true
	}
	f.changes[nodes.Change{Dir: e.dirID(edit.Parent), Name: numbered(f.spell(edit.Name), edit.Ordinal)}] = true
	return nil
}

// leavesDir is for a node that is about to go.
func (f *foreign) leavesDir(number datacenter.Number) {
	n, _ := f.e.draft.Node(number)
	dir := &place{Place: editing.Place{Name: numbered(f.spell(n.Name), n.Ordinal)}, dir: n.Parent}
	f.e.pinMark(dir)
	f.changes[nodes.Change{Dir: f.e.dirID(n.Parent), Name: dir.Name}] = true
}

// attribute is for an attribute that is about to be set or removed.
func (f *foreign) attribute(edit *datacenter.Edit) error {
	e := f.e
	dir := e.dirID(edit.Node)
	of, _ := e.draft.Node(edit.Node)
	d, ok := e.draft.Attribute(edit.Node, edit.Name)
	if !ok {
		f.changes[nodes.Change{Dir: dir}] = true
		return nil
	}
	id := entryID(&d)
	f.changes[nodes.Change{ID: id}] = true
	if edit.Op == datacenter.SetAttribute {
		return nil
	}
	name, err := e.attributeName(edit.Node, &of, &d)
	if err != nil {
		return err
	}
	f.changes[nodes.Change{Dir: dir, Name: name}] = true
	f.gone[id] = true
	return nil
}

// leave holds the contents of files that go and are open.
func (f *foreign) leave(ctx context.Context) error {
	e := f.e
	if len(f.removed) == 0 && len(f.gone) == 0 {
		return nil
	}
	e.mu.RLock()
	var going []*content
	for id, c := range e.files {
		if c.name != "" && (f.gone[id] || f.below(c.dir)) {
			going = append(going, c)
		}
	}
	e.mu.RUnlock()
	for _, c := range going {
		if err := e.owner.Hold(ctx, c.id, &c.Text); err != nil {
			return err
		}
		f.leaving = append(f.leaving, c)
	}
	return nil
}

// below tells whether a draft node is one that goes, or below one.
func (f *foreign) below(number datacenter.Number) bool {
	for number != 0 {
		if _, goes := f.removed[number]; goes {
			return true
		}
		n, ok := f.e.draft.Node(number)
		if !ok {
			return false
		}
		number = n.Parent
	}
	return false
}

// stay is the end of leave if nothing goes.
func (f *foreign) stay() {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	for _, c := range f.leaving {
		f.e.settle(c)
	}
}

// after takes notice of what was edited, and tells of it.
func (f *foreign) after(edits []datacenter.Edit) {
	e := f.e
	e.mu.Lock()
	for _, c := range f.leaving {
		if c.attribute {
			e.gone(c)
		} else {
			e.unlink(c)
		}
	}
	for i := range edits {
		f.settle(&edits[i])
	}
	for _, id := range f.removed {
		e.removed[id] = true
	}
	for dir := range e.dirs {
		if !e.draft.Touched(dir) {
			delete(e.dirs, dir)
		}
	}
	e.mu.Unlock()
	f.tell()
}

// tell tells of what was edited, which has the time of now.
func (f *foreign) tell() {
	ids := make([]nodes.ID, 0, 2*len(f.changes))
	for c := range f.changes {
		for _, id := range []nodes.ID{c.ID, c.Dir} {
			if id != 0 {
				ids = append(ids, id)
			}
		}
	}
	f.e.times.Touch(ids...)
	for c := range f.changes {
		f.e.owner.Tell(c)
	}
}

// settle lets an edit be seen. The caller holds mu.
func (f *foreign) settle(edit *datacenter.Edit) {
	e := f.e
	if f.made[edit.Node] || edit.Op != datacenter.SetAttribute && edit.Op != datacenter.RemoveAttribute {
		return
	}
	e.unhide(attributeKey{edit.Node, edit.Name})
	d, ok := e.draft.Attribute(edit.Node, edit.Name)
	if !ok {
		return
	}
	delete(e.bare, d.Number)
	if c := e.files[entryID(&d)]; c != nil && !c.Dirty() {
		c.Drop()
	}
}
