package dckind

import (
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
)

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
