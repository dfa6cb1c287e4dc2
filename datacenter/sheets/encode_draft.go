package sheets

import (
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/spell"
)

// draftItem is a node that was edited, or that has edited ones below it, as it was
// when it was looked at.
type draftItem struct {
	name  nameID
	keys  keyID
	flags datacenter.KeyFlags
	attrs []draftAttribute // without __value__
	value *draftAttribute
	kids  []datacenter.DraftEntry // in the order of the sheet
	names []nameID                // of kids
}

// draftAttribute is an attribute with a value of its own, or with the file's.
type draftAttribute struct {
	name   nameID
	order  uint16
	stored datacenter.Attribute
	value  datacenter.Value // of type 0 if it is the file's
}

// maxEntries is more than a node can have.
const maxEntries = 1 << 18

// draftItem looks at a node of the draft.
func (e *encoder) draftItem(n datacenter.Number, name nameID) (*draftItem, error) {
	info, ok := e.draft.Node(n)
	if !ok {
		return nil, fmt.Errorf("datacenter: node %d: %w", n, datacenter.ErrGone)
	}
	d := &draftItem{name: name, keys: e.voc.key(info.Keys), flags: info.Flags}
	entries, ok := e.draft.List(n, 0, maxEntries, nil)
	if !ok {
		return nil, fmt.Errorf("datacenter: node %d: %w", n, datacenter.ErrGone)
	}
	if err := e.draftAttributes(d, entries); err != nil {
		return nil, err
	}
	return d, e.draftChildren(d, n)
}

// draftAttributes takes the attributes among the entries of a node, in the order
// in which they would be written.
func (e *encoder) draftAttributes(d *draftItem, entries []datacenter.DraftEntry) error {
	for i := range entries {
		entry := &entries[i]
		if !entry.Attribute {
			continue
		}
		a := draftAttribute{name: e.voc.draftName(entry.NameIndex, entry.Name), order: entry.NameIndex, value: entry.Value}
		if a.value.Type() == 0 {
			var err error
			if a.stored, err = e.file.Attribute(entry.Addr); err != nil {
				return err
			}
		}
		if entry.Name == spell.ValueName {
			d.value = &a
			continue
		}
		d.attrs = append(d.attrs, a)
	}
	slices.SortStableFunc(d.attrs, func(a, b draftAttribute) int { return cmp.Compare(a.order, b.order) })
	return nil
}

func (e *encoder) draftChildren(d *draftItem, n datacenter.Number) error {
	kids, ok, err := e.draft.OrderedChildren(n)
	if err == nil && !ok {
		err = fmt.Errorf("datacenter: node %d: %w", n, datacenter.ErrGone)
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(kids, func(a, b datacenter.DraftEntry) int { return spell.Compare(a.Name, b.Name) })
	d.kids, d.names = kids, make([]nameID, len(kids))
	for i := range kids {
		d.names[i] = e.voc.draftName(kids[i].NameIndex, kids[i].Name)
	}
	return nil
}

// draftChild gives a child of a node of the draft.
func (e *encoder) draftChild(d *draftItem, i int) (item, error) {
	entry := &d.kids[i]
	if e.draft.Touched(entry.Number) {
		child, err := e.draftItem(entry.Number, d.names[i])
		return item{draft: child, name: d.names[i]}, err
	}
	if !entry.Stored {
		return item{}, fmt.Errorf("datacenter: node %d: %w", entry.Number, datacenter.ErrGone)
	}
	n, err := e.file.Node(entry.Addr)
	return item{node: n, name: d.names[i]}, err
}

func (a *draftAttribute) typ() datacenter.Type {
	if t := a.value.Type(); t != 0 {
		return t
	}
	return a.stored.Type()
}

func (a *draftAttribute) appendText(dst []byte) ([]byte, error) {
	if a.value.Type() != 0 {
		return append(dst, a.value.Text()...), nil
	}
	return a.stored.AppendText(dst)
}
