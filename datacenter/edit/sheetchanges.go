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

// Version is a state of a Draft or of a sheet. A rebase makes another one, too: it changes where
// entries are found.
type Version struct {
	edit, rebases int64
	changing      bool
}

// Version returns the state of a sheet, or of the whole Draft if sheet is 0.
func (d *Draft) Version(sheet Number) Version {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if sheet == 0 {
		return Version{d.changes.next, d.rebases, len(d.changes.now) > 0}
	}
	_, changing := d.changes.now[sheet]
	return Version{d.changes.last[sheet].Edit, d.rebases, changing}
}

// Is reports whether a state is still the same, and was not changing: what was read in between
// belongs to it.
func (v Version) Is(now Version) bool { return v == now && !v.changing }

// Steady calls read until the sheet, or the whole Draft if sheet is 0, is not edited meanwhile, so
// that all that was read belongs to one Version. The last time nobody can edit, so read must not
// wait for somebody who may.
func (d *Draft) Steady(sheet Number, read func() error) error {
	const tries = 3
	for range tries {
		before := d.Version(sheet)
		err := read()
		if before.Is(d.Version(sheet)) {
			return err
		}
	}
	d.planning.Lock()
	defer d.planning.Unlock()
	return read()
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
