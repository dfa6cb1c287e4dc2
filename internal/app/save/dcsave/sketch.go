package dcsave

import (
	"context"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
	"lorefs/internal/formats/datacenter/identity"
)

// sketcher describes edited nodes at once, before an edit is acknowledged, for the case that the process
// is killed before the noter has described them. It does not compare a node with its siblings, which
// takes long: its paths may find several nodes, and then nothing is done to any of them.
type sketcher struct {
	file    *datacenter.File
	locator *identity.Locator
	known   map[edit.Number]*nodeEdits
}

// maxConditions is the largest number of attributes by which a path of a sketch finds a node that has
// neither keys nor an id.
const maxConditions = 8

// sketch returns a note about the nodes of the file that a record edits and that have no note yet, nil if
// there is none.
func (d *describer) sketch(record []byte) (note []byte, err error) {
	s, more := &d.sketches, map[edit.Number]*nodeEdits{}
	add := func(n edit.Number, what nodeEdits) {
		if e := s.known[n]; n < d.entries && (e == nil || !e.has(&what)) {
			d.of(s.known, n).join(&what)
			d.of(more, n).join(&what)
		}
	}
	for e, err := range edit.ParseRecord(record) {
		if err != nil {
			return nil, err
		}
		switch e.Op {
		case edit.SetAttribute, edit.RemoveAttribute:
			add(e.Node, nodeEdits{attributes: []string{e.Name}})
		case edit.AddNode:
			add(e.Parent, nodeEdits{})
		case edit.MoveNode:
			add(e.Node, nodeEdits{taken: true})
			add(e.Parent, nodeEdits{})
		default:
			add(e.Node, nodeEdits{taken: e.Op == edit.RemoveNode})
		}
	}
	if len(more) == 0 {
		return nil, nil
	}
	if s.locator == nil {
		if s.locator, err = identity.NewLocator(s.file); err != nil {
			return nil, err
		}
	}
	numbers := make([]edit.Number, 0, len(more))
	for n := range more {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	note = []byte{noteVersion}
	for _, n := range numbers {
		if note, err = d.sketchNode(note, n, more[n]); err != nil {
			return nil, err
		}
	}
	return note, nil
}

// sketchNode appends the sketch of a node.
func (d *describer) sketchNode(note []byte, number edit.Number, what *nodeEdits) ([]byte, error) {
	way, err := d.sketches.locator.Find(uint32(number))
	if err != nil {
		return note, err
	}
	at := &way[len(way)-1]
	b := &Before{
		Number: number, Name: at.Node.Name(), Place: at.Step.Place, Path: "/", Sketch: true,
		Keys: at.Node.Keys(), Flags: at.Node.Flags(),
	}
	if len(way) > 1 {
		b.Parent = edit.Number(way[len(way)-2].Number)
		if b.Path, b.Guards, err = d.sketches.path(way); err != nil {
			return note, err
		}
	}
	attributes, err := d.attributes(at.Node, what.attributes)
	if err != nil {
		return note, err
	}
	var element []byte
	if what.taken {
		if element, err = appendElement(nil, at.Node, maxElement); err != nil {
			element = nil // errLarge: the noter finds out its hash
		} else {
			b.Taken, b.Entries = true, int64(at.Node.Entries())
			if b.Hash, err = identity.NewExactContents(identity.NewFile(context.Background())).Hash(at.Node); err != nil {
				return note, err
			}
		}
	}
	return appendBefore(note, b, attributes, element), nil
}

// path returns a path of the node that a way leads to.
func (s *sketcher) path(way []identity.Located) (string, []identity.Place, error) {
	var steps []query.PlainStep
	var guards []identity.Place
	for i := range way[1:] {
		at := &way[i+1]
		step := query.PlainStep{Name: at.Step.Name}
		var err error
		if step.Conditions, err = s.conditions(at); err != nil {
			return "", nil, err
		}
		if len(step.Conditions) == 0 && (i > 0 || len(way) == 2) {
			alone, err := isAlone(way[i].Node, at)
			if err != nil {
				return "", nil, err
			}
			if !alone {
				// Without hashes the guard fits nothing, so that no other node is changed.
				step.Nth = at.Step.Place + 1
				guards = append(guards, identity.Place{Step: i, N: step.Nth, Of: step.Nth})
			}
		}
		steps = append(steps, step)
	}
	return string(query.AppendPlain(nil, steps)), guards, nil
}

// conditions returns what finds a node among its siblings: its keys, its id, or else attributes that are
// not edited.
func (s *sketcher) conditions(at *identity.Located) ([]query.PlainCondition, error) {
	var given, others []query.PlainCondition
	keys := at.Node.Keys()
	if len(keys) == 0 {
		keys = datacenter.KeyDefinition{"id"}
	}
	edited := s.known[edit.Number(at.Number)]
	for a, err := range at.Node.Attributes() {
		if err != nil {
			return nil, err
		}
		v, err := a.Value()
		if err != nil {
			return nil, err
		}
		isGiven := slices.Contains(keys, a.Name())
		if v.Type() == datacenter.Float && !isGiven || !identity.Sayable(v.Type(), []byte(v.Text())) {
			continue
		}
		c := query.NewPlainCondition(a.Name(), v)
		if isGiven {
			given = append(given, c)
		} else if edited == nil || !slices.Contains(edited.attributes, a.Name()) {
			others = append(others, c)
		}
	}
	if len(given) == len(keys) {
		return given, nil
	}
	slices.SortFunc(others, func(a, b query.PlainCondition) int { return strings.Compare(a.Name, b.Name) })
	return others[:min(len(others), maxConditions)], nil
}

// isAlone reports whether a node has no sibling of its name.
func isAlone(parent datacenter.Node, at *identity.Located) (bool, error) {
	count := 0
	for c, err := range parent.Children() {
		if err != nil {
			return false, err
		}
		if c.Name() == at.Step.Name {
			count++
		}
		if count > 1 {
			return false, nil
		}
	}
	return true, nil
}
