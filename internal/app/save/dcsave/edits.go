package dcsave

import (
	"maps"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/app/save"
)

// Edited is an edit that a journal holds, with what it was made on. Numbers of nodes are those
// of the file that the edits belong to, or of nodes that edits made.
type Edited struct {
	edit.Edit
	// On is where Node is, and Into where Parent is if the edit has one.
	On, Into Spot
	// Behind is the sibling in the file that a node comes behind; nil if it comes first, or
	// into a node that edits made, or if nobody knows.
	Behind *Before
	// Known tells that it is known what there was before the edit, as edits ahead of it left
	// it: the attribute in Old, which has no type if there was none, or the keys and flags.
	Known    bool
	Old      datacenter.Value
	OldKeys  datacenter.KeyDefinition
	OldFlags datacenter.KeyFlags
}

// Spot tells where a node is: a node of the file, or below one.
type Spot struct {
	// Base is the node of the file; nil if the journal doesn't say more than its Number. What
	// edits did to it, such as moving it, doesn't count here.
	Number edit.Number
	Base   *Before
	// Made leads on from there, over nodes that edits made.
	Made []Made
}

// Made is a node that an edit made.
type Made struct {
	Name string
	// Rank orders it among its siblings of that name; see [edit.Edit].
	Rank uint64
	// Edit is which edit of the journal made it, from 0 on.
	Edit int
}

// EditsOf gives the edits of a journal that are not saved, in their order, with what they were
// made on as far as that was noted. Neither the file nor its place is needed for that. What is
// net of them: the first Old of an attribute and the last Value, of each node that has not
// been removed; what was in one that was is in [Before].
func EditsOf(j *save.Journal, visit func(*Edited) error) error {
	r := newJournalReader()
	var noteErr error
	err := j.Unsaved(
		func(_ string, note []byte) {
			if err := r.note(note); err != nil && noteErr == nil {
				noteErr = err
			}
		},
		func(_ string, record []byte) error { return r.record(record, visit) },
	)
	if err == nil {
		err = noteErr
	}
	return err
}

// journalReader reads a journal.
type journalReader struct {
	// before are nodes of the file, and children the same by what is above them.
	before   map[edit.Number]*Before
	children map[childOf]*Before
	last     map[siblings]*Before
	made     map[edit.Number]*madeNode
	now      map[edit.Number]*nodeNow
	edits    int
}

func newJournalReader() *journalReader {
	return &journalReader{
		before: map[edit.Number]*Before{}, children: map[childOf]*Before{}, last: map[siblings]*Before{},
		made: map[edit.Number]*madeNode{}, now: map[edit.Number]*nodeNow{},
	}
}

// childOf is a place among the children of a node.
type childOf struct {
	parent edit.Number
	name   string
	place  int
}

// madeNode is a node that edits made.
type madeNode struct {
	Made
	parent edit.Number
}

// nodeNow is what edits so far left of a node.
type nodeNow struct {
	attributes map[string]datacenter.Value
	keys       datacenter.KeyDefinition
	flags      datacenter.KeyFlags
	// hasKeys and hasFlags tell that these are known.
	hasKeys, hasFlags bool
}

// note takes in a note.
func (r *journalReader) note(note []byte) error {
	nodes, err := parseNote(note)
	for i := range nodes {
		n := &nodes[i]
		if was := r.before[n.Number]; was != nil {
			was.add(n)
			n = was
		} else {
			r.before[n.Number] = n
			r.children[childOf{n.Parent, n.Name, n.Place}] = n
		}
		if n.Last {
			r.last[siblings{n.Parent, n.Name}] = n
		}
	}
	return err
}

// add takes in what another note says of the same node.
func (n *Before) add(more *Before) {
	maps.Copy(n.Attributes, more.Attributes)
	n.Path, n.Guards, n.Last = more.Path, more.Guards, n.Last || more.Last
	if more.Taken {
		n.Taken, n.Hash, n.Element = true, more.Hash, more.Element
	}
}

// record gives the edits of a record.
func (r *journalReader) record(record []byte, visit func(*Edited) error) error {
	for e, err := range edit.ParseRecord(record) {
		if err != nil {
			return err
		}
		if err := visit(r.edit(e)); err != nil {
			return err
		}
		r.edits++
	}
	return nil
}

// edit tells what an edit was made on, and takes in what it does.
func (r *journalReader) edit(e edit.Edit) *Edited {
	x := &Edited{Edit: e}
	if e.Op == edit.AddNode {
		r.made[e.Node] = &madeNode{Made{e.Name, e.Rank, r.edits}, e.Parent}
		r.now[e.Node] = &nodeNow{keys: e.Keys, flags: e.Flags, hasKeys: true, hasFlags: true}
	}
	x.On = r.spot(e.Node)
	if e.Op == edit.AddNode || e.Op == edit.MoveNode {
		x.Into, x.Behind = r.spot(e.Parent), r.behind(&e)
		x.Known = x.On.Base != nil
		if m := r.made[e.Node]; m != nil {
			m.Name, m.Rank, m.parent, x.Known = e.Name, e.Rank, e.Parent, true
		}
		return x
	}
	now := r.nodeNow(e.Node)
	x.OldKeys, x.OldFlags = now.keys, now.flags
	switch e.Op {
	case edit.SetAttribute, edit.RemoveAttribute:
		x.Old, x.Known = now.attributes[e.Name]
		x.Known = x.Known || r.made[e.Node] != nil
		if now.attributes == nil {
			now.attributes = map[string]datacenter.Value{}
		}
		now.attributes[e.Name] = e.Value
	case edit.SetKeys:
		x.Known, now.keys, now.hasKeys = now.hasKeys, e.Keys, true
	case edit.SetFlags:
		x.Known, now.flags, now.hasFlags = now.hasFlags, e.Flags, true
	case edit.RemoveNode:
		x.Known = r.made[e.Node] != nil || x.On.Base != nil && x.On.Base.Taken
	}
	return x
}

// nodeNow gives what edits so far left of a node.
func (r *journalReader) nodeNow(n edit.Number) *nodeNow {
	now := r.now[n]
	if now == nil {
		now = &nodeNow{}
		if b := r.before[n]; b != nil {
			*now = nodeNow{keys: b.Keys, flags: b.Flags, hasKeys: true, hasFlags: true, attributes: maps.Clone(b.Attributes)}
		}
		r.now[n] = now
	}
	return now
}

// spot tells where a node is.
func (r *journalReader) spot(n edit.Number) (s Spot) {
	for len(s.Made) <= datacenter.MaxDepth { // a journal that is made to harm has rings
		m := r.made[n]
		if m == nil {
			break
		}
		s.Made = append(s.Made, m.Made)
		n = m.parent
	}
	slices.Reverse(s.Made)
	s.Number, s.Base = n, r.before[n]
	return s
}

// behind gives the sibling that a node comes behind.
func (r *journalReader) behind(e *edit.Edit) *Before {
	place := placeBehind(e.Rank)
	if b := r.children[childOf{e.Parent, e.Name, place}]; b != nil {
		return b
	}
	if b := r.last[siblings{e.Parent, e.Name}]; b != nil && b.Place < place {
		return b
	}
	return nil
}
