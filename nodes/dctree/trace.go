package dctree

import (
	"context"

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
func (e *Editable) Trace(ctx context.Context, names []string) ([]Traced, error) {
	now, err := e.edits.traceNow(names)
	if err != nil && !isNotExist(err) {
		return nil, err
	}
	former, err := e.edits.traceFormer(ctx, names)
	if err != nil && !isNotExist(err) {
		return nil, err
	}
	if len(now) > 0 && len(former) > 0 && now[0] == former[0] {
		return now, nil
	}
	return append(now, former...), nil
}

// SheetName returns the name in the root of a sheet.
func (e *Editable) SheetName(name string, ordinal uint32) string {
	return numbered(e.edits.spell(name), ordinal)
}

func (e *edits) traceNow(names []string) ([]Traced, error) {
	at := Traced{}
	for i, name := range names {
		if err := e.draft.Open(at.Node); err != nil {
			return nil, refusal(err)
		}
		entry, err := e.lookup(at.Node, name)
		if err != nil {
			return nil, err
		}
		n, attribute, _ := number(entry.ID)
		if !attribute {
			at.Node = n
			continue
		}
		if i < len(names)-1 {
			return nil, nodes.ErrNotExist
		}
		at.Attribute, _, err = e.attributeFile(name)
		return []Traced{at}, err
	}
	return []Traced{at}, nil
}

// traceFormer is traceNow for a tree without edits.
func (t *Tree) traceFormer(ctx context.Context, names []string) ([]Traced, error) {
	dir, at := nodes.Root, Traced{}
	for i, name := range names {
		entry, err := t.Lookup(ctx, dir, name)
		if err != nil {
			return nil, err
		}
		n, addr, attribute, _ := split(entry.ID)
		if !attribute {
			dir, at.Node = entry.ID, edit.Number(n)
			continue
		}
		if i < len(names)-1 {
			return nil, nodes.ErrNotExist
		}
		a, err := t.file.Attribute(addr)
		at.Attribute = a.Name()
		return []Traced{at}, err
	}
	return []Traced{at}, nil
}
