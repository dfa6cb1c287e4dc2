package dctree

import (
	"context"
	"slices"

	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// Traced stands at the end of a path: a node or, if Attribute is not empty, its attribute of that
// name.
type Traced struct {
	Node      edit.Number
	Attribute string
}

// Trace returns what the names of a path below the root lead to in the tree, and what they led
// to when it was opened. So it also finds what was removed or moved, by its former path. The
// result is empty if there was never anything.
func (e *Editable) Trace(ctx context.Context, names []string) (traced []Traced, err error) {
	for _, tree := range []nodes.Tree{e.edits, e.edits.Tree} {
		dir, id, err := nodes.Find(ctx, tree, names)
		if isNotExist(err) {
			continue
		}
		var t Traced
		n, attribute, _ := number(id)
		if t.Node = n; attribute && err == nil {
			t.Node, _, _ = number(dir)
			t.Attribute, _, err = e.edits.attributeFile(names[len(names)-1])
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(traced, t) {
			traced = append(traced, t)
		}
	}
	return traced, nil
}

// SheetName returns the name in the root of a sheet.
func (e *Editable) SheetName(name string, ordinal uint32) string {
	return numbered(e.edits.spell(name), ordinal)
}
