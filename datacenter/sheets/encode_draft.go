package sheets

import (
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
)

// draftItem is a node that was edited, or has edited nodes below it, at the time when it was
// read.
type draftItem struct {
	name  vocab.NameID
	keys  vocab.KeyID
	flags datacenter.KeyFlags
	attrs []vocab.Attribute // without __value__
	value *vocab.Attribute
	kids  []edit.Entry   // in the order of the sheet
	names []vocab.NameID // the names of kids
}

// draftItem reads a node of the draft.
func (e *encoder) draftItem(n edit.Number, name vocab.NameID) (*draftItem, error) {
	info, ok := e.draft.Node(n)
	if !ok {
		return nil, fmt.Errorf("datacenter: node %d: %w", n, edit.ErrGone)
	}
	d := &draftItem{name: name, keys: e.voc.Key(info.Keys), flags: info.Flags}
	entries, ok := e.draft.List(n, 0, vocab.MaxEntries, nil)
	if !ok {
		return nil, fmt.Errorf("datacenter: node %d: %w", n, edit.ErrGone)
	}
	if err := e.draftAttributes(d, entries); err != nil {
		return nil, err
	}
	return d, e.draftChildren(d, n)
}

// draftAttributes collects the attributes among the entries of a node, in the order in which
// they are written.
func (e *encoder) draftAttributes(d *draftItem, entries []edit.Entry) error {
	for i := range entries {
		entry := &entries[i]
		if !entry.Attribute {
			continue
		}
		a, err := vocab.OfEntry(e.file, entry, e.voc.DraftName(entry.NameIndex, entry.Name))
		if err != nil {
			return err
		}
		if entry.Name == spell.ValueName {
			d.value = &a
			continue
		}
		d.attrs = append(d.attrs, a)
	}
	slices.SortStableFunc(d.attrs, func(a, b vocab.Attribute) int { return cmp.Compare(a.Order, b.Order) })
	return nil
}

func (e *encoder) draftChildren(d *draftItem, n edit.Number) error {
	kids, ok, err := e.draft.OrderedChildren(n)
	if err == nil && !ok {
		err = fmt.Errorf("datacenter: node %d: %w", n, edit.ErrGone)
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(kids, func(a, b edit.Entry) int { return spell.Compare(a.Name, b.Name) })
	d.kids, d.names = kids, make([]vocab.NameID, len(kids))
	for i := range kids {
		d.names[i] = e.voc.DraftName(kids[i].NameIndex, kids[i].Name)
	}
	return nil
}

// draftChild returns a child of a node of the draft.
func (e *encoder) draftChild(d *draftItem, i int) (item, error) {
	entry := &d.kids[i]
	if e.draft.Touched(entry.Number) {
		child, err := e.draftItem(entry.Number, d.names[i])
		return item{draft: child, name: d.names[i]}, err
	}
	if !entry.Stored {
		return item{}, fmt.Errorf("datacenter: node %d: %w", entry.Number, edit.ErrGone)
	}
	n, err := e.file.Node(entry.Addr)
	return item{node: n, name: d.names[i]}, err
}
