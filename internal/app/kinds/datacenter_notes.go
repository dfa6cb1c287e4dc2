package kinds

import (
	"iter"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
	"lorefs/internal/app/save"
	"lorefs/internal/app/save/dcsave"
)

// notedEdits returns the net edits of a journal without the file on which they were made.
// What the journal does not note of the file is missing: values that were there, and paths,
// for which the numbers of nodes stand.
func notedEdits(j *save.Journal) (iter.Seq2[Edit, error], error) {
	n := noted{edits: map[notedKey]*diff.Difference{}, made: map[edit.Number]bool{}}
	if err := dcsave.EditsOf(j, func(e *dcsave.Edited) error { n.add(e); return nil }); err != nil {
		return nil, err
	}
	return func(yield func(Edit, error) bool) {
		for _, key := range n.order {
			if d := n.edits[key]; d != nil && (d.Old != d.New || d.Kind <= diff.NodeAdded || d.Kind == diff.OrderChanged) {
				if !yield(*d, nil) {
					return
				}
			}
		}
	}, nil
}

// noted collects the net edits of a journal.
type noted struct {
	edits map[notedKey]*diff.Difference
	order []notedKey
	// made are the nodes that edits added.
	made map[edit.Number]bool
}

// notedKey is what an edit is about: an attribute of a node, or else its keys, its flags, or
// the node itself.
type notedKey struct {
	node edit.Number
	name string
	kind diff.Kind
}

func (n *noted) add(e *dcsave.Edited) {
	key := notedKey{node: e.Node}
	d := diff.Difference{Path: spotPath(&e.On)}
	switch e.Op {
	case edit.SetAttribute, edit.RemoveAttribute:
		key.name, key.kind = e.Name, diff.AttributeChanged
		d.Path += attributeStep(e.Name)
		d.Old, d.New = sideOf(e.Old), sideOf(e.Value)
	case edit.SetKeys:
		key.kind = diff.KeysChanged
		d.Old, d.New = keysSide(e.OldKeys), keysSide(e.Keys)
	case edit.SetFlags:
		key.kind = diff.FlagsChanged
		d.Old, d.New = flagsSide(e.OldFlags), flagsSide(e.Flags)
	case edit.AddNode:
		n.made[e.Node], key.kind = true, diff.NodeAdded
		d.Entries = 1
	case edit.RemoveNode:
		if n.made[e.Node] {
			delete(n.edits, notedKey{node: e.Node, kind: diff.NodeAdded})
			return
		}
		n.forget(e.Node)
		key.kind = diff.NodeRemoved
		d.Entries = notedEntries(&e.On)
	case edit.MoveNode:
		key.kind = diff.OrderChanged
		d.NewPath = spotPath(&e.Into) + "/" + string(query.AppendName(nil, e.Name))
	}
	if n.made[e.Node] && e.Op != edit.AddNode {
		return // it is part of what was added
	}
	if d.Kind = key.kind; key.kind == diff.AttributeChanged {
		n.change(key, &d)
		return
	}
	n.note(key, &d)
}

// change notes an attribute.
func (n *noted) change(key notedKey, d *diff.Difference) {
	d = n.note(key, d)
	switch {
	case d.New.Type == "":
		d.Kind = diff.AttributeRemoved
	case d.Old.Type == "":
		d.Kind = diff.AttributeAdded
	default:
		d.Kind = diff.AttributeChanged
	}
}

// note adds an edit, or puts its new side in the place of an earlier one's.
func (n *noted) note(key notedKey, d *diff.Difference) *diff.Difference {
	if was := n.edits[key]; was != nil {
		was.New, was.NewPath = d.New, d.NewPath
		return was
	}
	n.edits[key] = d
	n.order = append(n.order, key)
	return d
}

// forget drops the edits of a node.
func (n *noted) forget(node edit.Number) {
	for key := range n.edits {
		if key.node == node {
			delete(n.edits, key)
		}
	}
}

// spotPath spells a spot as a path.
func spotPath(s *dcsave.Spot) string {
	path := "/#" + strconv.FormatUint(uint64(s.Number), 10)
	switch {
	case s.Base != nil && s.Base.Path == "/":
		path = ""
	case s.Base != nil && s.Base.Path != "":
		path = s.Base.Path
	}
	for _, m := range s.Made {
		path += "/" + string(query.AppendName(nil, m.Name))
	}
	return path
}

// notedEntries counts what was removed with a node, as far as it is noted.
func notedEntries(s *dcsave.Spot) uint32 {
	if s.Base == nil || s.Base.Element == nil {
		return 1
	}
	return uint32(s.Base.Element.Entries())
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
