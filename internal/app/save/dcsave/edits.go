package dcsave

import (
	"cmp"
	"maps"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/app/save"
)

// Edited is an edit in a journal, together with what it changed. Numbers of nodes are those of the
// file that the edits belong to, or of nodes that edits added.
type Edited struct {
	edit.Edit
	// On is the spot of Node, and Into the spot of Parent if the edit has one.
	On, Into Spot
	// Behind is the sibling in the file after which the edit puts a node. It is nil if the node
	// comes first, if an edit added the parent, or if the sibling is not known.
	Behind *Before
	// Known means that the state before the edit, with earlier edits applied, is known. The
	// attribute is in Old, which has no type if there was none; the keys and flags are in OldKeys
	// and OldFlags.
	Known    bool
	Old      datacenter.Value
	OldKeys  datacenter.KeyDefinition
	OldFlags datacenter.KeyFlags
}

// Spot says where a node is: a node of the file, and the way down from there over added nodes.
type Spot struct {
	// Number is the number of the node of the file, or of an added node whose parents form a cycle.
	// Base describes the node, and is nil if the journal does not. It ignores edits of that node, such
	// as moving it.
	Number edit.Number
	Base   *Before
	// Made are the nodes that edits added, from Base down.
	Made []Made
}

// Made is a node that an edit added.
type Made struct {
	Name string
	// Rank orders the node among siblings of its name; see [edit.Edit].
	Rank uint64
	// Edit is the number of the edit in the journal, from 0, that added the node.
	Edit int
}

// EditsOf calls visit for each unsaved edit of a journal, in their order, with what it changed as
// far as notes say. It does not need the file. It leaves out what was done to nodes that came back
// later as they were, and that they came back. To get the net change, use [NetOf]; [Before] has the
// content of removed nodes.
func EditsOf(j *save.Journal, visit func(*Edited) error) error {
	return editsOf(j.Unsaved, visit)
}

// unsaved calls note and edit as [save.Journal.Unsaved] does.
type unsaved = func(note func(file string, note []byte), edit func(file string, record []byte) error) error

func editsOf(all unsaved, visit func(*Edited) error) error {
	r := newJournalReader()
	var noteErr error
	err := all(
		func(_ string, note []byte) {
			if err := r.note(note); err != nil && noteErr == nil {
				noteErr = err
			}
		},
		func(_ string, record []byte) error { return r.record(record) },
	)
	r.restore()
	for _, e := range r.list {
		if err := visit(e); err != nil {
			return err
		}
	}
	if err == nil {
		err = noteErr
	}
	return err
}

// journalReader reads the notes and edits of a journal.
type journalReader struct {
	// before has the described nodes of the file, children the same nodes by parent, name and
	// place, and last the last nodes of a name.
	before   map[edit.Number]*Before
	children map[childOf]*Before
	last     map[siblings]*Before
	made     map[edit.Number]*madeNode
	now      map[edit.Number]*nodeNow
	edits    int
	// list has the edits, and back the nodes that the last of them bring back.
	list []*Edited
	back []edit.Number
}

func newJournalReader() *journalReader {
	return &journalReader{
		before: map[edit.Number]*Before{}, children: map[childOf]*Before{}, last: map[siblings]*Before{},
		made: map[edit.Number]*madeNode{}, now: map[edit.Number]*nodeNow{},
	}
}

// childOf is a place among the children of a node that have the same name.
type childOf struct {
	parent edit.Number
	name   string
	place  int
}

// madeNode is a node that an edit added.
type madeNode struct {
	Made
	parent edit.Number
}

// nodeNow is the state of a node after the edits so far.
type nodeNow struct {
	attributes map[string]datacenter.Value
	keys       datacenter.KeyDefinition
	flags      datacenter.KeyFlags
	// hasKeys and hasFlags mean that keys and flags are known.
	hasKeys, hasFlags bool
}

// note adds the nodes of a note.
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

// add adds the description of the same node in another note.
func (n *Before) add(more *Before) {
	maps.Copy(n.Attributes, more.Attributes)
	if n.Last = n.Last || more.Last; n.Sketch || !more.Sketch {
		n.Path, n.Guards, n.Sketch = more.Path, more.Guards, more.Sketch
	}
	if more.Taken {
		n.Taken, n.Hash, n.Entries = true, more.Hash, more.Entries
		if more.Element != nil {
			n.Element = more.Element
		}
	}
}

// record adds the edits of a record.
func (r *journalReader) record(record []byte) error {
	for e, err := range edit.ParseRecord(record) {
		if err != nil {
			return err
		}
		if e.Op == edit.RestoreNode {
			r.back = append(r.back, e.Node)
		} else {
			r.restore()
			r.list = append(r.list, r.edit(e))
		}
		r.edits++
	}
	return nil
}

// restore drops what was done to the nodes in back, and to what the file has below them.
func (r *journalReader) restore() {
	if len(r.back) == 0 {
		return
	}
	is := r.belowAny(r.back)
	r.list = slices.DeleteFunc(r.list, func(e *Edited) bool { s := r.spot(e.Node); return is(s.Number) })
	for n := range r.now {
		if s := r.spot(n); is(s.Number) {
			delete(r.now, n)
		}
	}
	r.back = nil
}

// belowAny returns whether the file has a node below one of some nodes, or it is one of them.
func (r *journalReader) belowAny(some []edit.Number) func(edit.Number) bool {
	var spans []span
	paths := map[string]bool{}
	for _, n := range some {
		s := span{n, n + 1}
		if b := r.before[n]; b != nil && b.Entries > 0 {
			s.end = n + edit.Number(b.Entries)
		} else if b != nil && b.Path != "" {
			paths[b.Path] = true
		}
		spans = append(spans, s)
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.first, y.first) })
	return func(n edit.Number) bool {
		i, found := slices.BinarySearchFunc(spans, n, func(s span, n edit.Number) int { return cmp.Compare(s.first, n) })
		if found || i > 0 && n < spans[i-1].end {
			return true
		}
		b := r.before[n]
		if b == nil || len(paths) == 0 {
			return false
		}
		for i, c := range b.Path {
			if c == '/' && paths[b.Path[:i]] {
				return true
			}
		}
		return false
	}
}

// edit returns what an edit changed, and applies the edit.
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

// nodeNow returns the state of a node after the edits so far.
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

// spot returns the spot of a node.
func (r *journalReader) spot(n edit.Number) (s Spot) {
	for len(s.Made) <= datacenter.MaxDepth { // a malicious journal may have cycles
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

// behind returns the sibling after which an edit puts a node.
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
