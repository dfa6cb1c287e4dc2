package kinds

import (
	"iter"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
	"lorefs/internal/formats/datacenter/diff"
	"lorefs/internal/formats/datacenter/identity"
)

// patchEdits yields the changes of a patch as edits.
func patchEdits(p *patch.Patch) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for i := range p.Blocks {
			for _, d := range blockEdits(&p.Blocks[i]) {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

func blockEdits(b *patch.Block) (list []diff.Difference) {
	path := b.Path.Text
	if path == "/" {
		path = ""
	}
	switch b.Kind {
	case patch.Add:
		return []diff.Difference{{
			Kind: diff.NodeAdded, Path: path + "/" + elementStep(b.Node), Entries: uint32(b.Entries()),
		}}
	case patch.Remove:
		return []diff.Difference{{Kind: diff.NodeRemoved, Path: path, Entries: uint32(b.Entries())}}
	case patch.Change:
	}
	for i := range b.Lines {
		list = append(list, lineEdit(path, &b.Lines[i]))
	}
	return list
}

func lineEdit(path string, l *patch.Line) diff.Difference {
	switch l.What {
	case patch.Keys:
		return diff.Difference{Kind: diff.KeysChanged, Path: path, Old: keysSide(l.Old.Keys), New: keysSide(l.New.Keys)}
	case patch.Flags:
		return diff.Difference{Kind: diff.FlagsChanged, Path: path, Old: flagsSide(l.Old.Flags), New: flagsSide(l.New.Flags)}
	case patch.Attribute:
	}
	return attributeEdit(path, l.Name, l.Old.Attribute, l.New.Attribute)
}

// attributeEdit returns the edit of an attribute of the node with a path.
func attributeEdit(path, name string, before, now datacenter.Value) diff.Difference {
	d := diff.Difference{Kind: diff.AttributeChanged, Path: path + attributeStep(name), Old: sideOf(before), New: sideOf(now)}
	switch {
	case now.Type() == 0:
		d.Kind = diff.AttributeRemoved
	case before.Type() == 0:
		d.Kind = diff.AttributeAdded
	}
	return d
}

// elementStep returns the step to a node that is added, by which its parent's others may be
// found as well if it has neither keys nor an id.
func elementStep(e *sheets.Element) string {
	return string(markedStep(e.Name, e.Keys, e.Value).Append(nil))
}

// markedStep returns the step to a node with a name and keys, by its keys or its id.
func markedStep(name string, keys datacenter.KeyDefinition, value func(name string) datacenter.Value) *query.PlainStep {
	step := &query.PlainStep{Name: name}
	if len(keys) == 0 {
		keys = datacenter.KeyDefinition{"id"}
	}
	for _, key := range keys {
		if v := value(key); v.Type() != 0 && identity.Sayable(v.Type(), []byte(v.Text())) {
			step.Conditions = append(step.Conditions, query.NewPlainCondition(key, v))
		}
	}
	return step
}

// sideOf returns one side of a difference.
func sideOf(v datacenter.Value) diff.Value {
	if v.Type() == 0 {
		return diff.Value{}
	}
	return diff.Value{Type: v.Type().String(), Text: v.Text()}
}

func keysSide(keys datacenter.KeyDefinition) diff.Value {
	return diff.Value{Type: "keys", Text: keys.String()}
}

func flagsSide(flags datacenter.KeyFlags) diff.Value {
	return diff.Value{Type: "flags", Text: strconv.Itoa(int(flags))}
}

func attributeStep(name string) string { return string(query.AppendName([]byte("/@"), name)) }
