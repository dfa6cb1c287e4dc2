package edit

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A caller that keeps something made from a whole sheet, such as its text, has to know when the
// sheet changed. A change is counted when it is complete: whoever sees the count sees the sheet as
// it is then. While it is being made, a reader may see a part of it, and is told so.

// SheetChange says when a sheet, a child of the root, was last edited.
type SheetChange struct {
	Sheet Number
	// Edit is the place of the change among all changes. Later ones have higher numbers.
	Edit int64
	At   time.Time
}

// sheetChanges has the last change of each sheet.
type sheetChanges struct {
	last map[Number]SheetChange
	// now has the sheets that the edits which are being made change.
	now map[Number]struct{}
	// log has all last changes in their order, and also changes that later ones replaced.
	log  []SheetChange
	next int64
}

// Edits returns the Edit of the last change, or 0 if there was none.
func (d *Draft) Edits() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.changes.next
}

// ChangedSince returns the sheets that changed after an Edit, each once, in the order of
// their last changes. It includes removed sheets, and may include a sheet of which an edit
// was undone.
func (d *Draft) ChangedSince(edit int64) []SheetChange {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c := &d.changes
	from, _ := slices.BinarySearchFunc(c.log, edit+1, func(x SheetChange, edit int64) int { return cmp.Compare(x.Edit, edit) })
	var since []SheetChange
	for _, x := range c.log[from:] {
		if c.last[x.Sheet].Edit == x.Edit {
			since = append(since, x)
		}
	}
	return since
}

// SheetEdit returns the Edit of the last change of a sheet, and whether the sheet is being changed.
// What was read between two calls that return the same Edit, and false, is one state of the sheet.
func (d *Draft) SheetEdit(sheet Number) (last int64, changing bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	_, changing = d.changes.now[sheet]
	return d.changes.last[sheet].Edit, changing
}

// Still calls f while nobody edits. f must not edit, nor wait for somebody who may.
func (d *Draft) Still(f func() error) error {
	d.planning.Lock()
	defer d.planning.Unlock()
	return f()
}

// noted makes one edit, and records its effect. Before that it marks the sheets which the edit
// changes.
func (d *Draft) noted(e Edit, u *undoList, seen *effects) error {
	if e.Op != AddNode {
		d.changing(e.Node)
	}
	if e.Op == AddNode || e.Op == MoveNode || e.Op == RestoreNode {
		d.changing(e.Parent)
	}
	err := seen.of(&e, func() error { return d.one(e, u) })
	if e.Op == AddNode || e.Op == MoveNode || e.Op == RestoreNode {
		d.changing(e.Node) // it may be a sheet itself
	}
	return err
}

// changing marks the sheet of an entry. It ignores numbers that do not exist; the edit itself
// reports them.
func (d *Draft) changing(entry Number) {
	sheet, ok := d.sheetOf(entry)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changes.now == nil {
		d.changes.now = map[Number]struct{}{}
	}
	d.changes.now[sheet] = struct{}{}
}

// changed counts the changes of all marked sheets, also if they were undone: somebody may have
// read a part of them. The caller holds mu.
func (c *sheetChanges) changed() {
	at := time.Now()
	if c.last == nil {
		c.last = map[Number]SheetChange{}
	}
	for _, sheet := range slices.Sorted(maps.Keys(c.now)) {
		c.next++
		x := SheetChange{Sheet: sheet, Edit: c.next, At: at}
		c.last[sheet] = x
		c.log = append(c.log, x)
	}
	clear(c.now)
	const few = 64
	if len(c.log) > few+2*len(c.last) {
		c.log = slices.DeleteFunc(c.log, func(x SheetChange) bool { return c.last[x.Sheet].Edit != x.Edit })
	}
}

// sheetOf returns the sheet of an entry, which may be the entry itself. ok is false for the
// root. The caller holds editing.
func (d *Draft) sheetOf(entry Number) (sheet Number, ok bool) {
	n := d.nodes[entry]
	if n == nil {
		at, steps, _, err := d.trace(entry)
		if err != nil {
			return 0, false
		}
		if at == d.root {
			if len(steps) == 0 {
				return 0, false
			}
			return steps[0].number, true
		}
		n = at
	}
	if n == d.root {
		return 0, false
	}
	for n.parent != nil && n.parent != d.root {
		n = n.parent
	}
	return n.number, true
}
