package patch

import (
	"lorefs/datacenter"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
)

// Patch is a set of changes of a data center.
type Patch struct {
	// Name is what reports call it, such as the name of its file. It is not written.
	Name   string
	Header []Field
	Blocks []Block
	// Notes are the lines behind the last block that begin with # or !.
	Notes []string
}

// Field is a line of the header, which informs people.
type Field struct{ Name, Text string }

// Kind is what a Block does.
type Kind uint8

// The kinds.
const (
	// Change gives a node other attributes, keys or flags.
	Change Kind = iota
	// Add makes a node, with all below it.
	Add
	// Remove takes a node away, with all below it.
	Remove
)

// String is as in "change".
func (k Kind) String() string { return [...]string{"change", "add", "remove"}[k] }

// Block is a part of a patch: what it does to one node.
type Block struct {
	// Line is where it begins in what was parsed, 0 if it was made.
	Line int
	// Notes are the lines before it that begin with # or !.
	Notes []string
	Kind  Kind
	// Path leads to the node, or to the parent of one that is added.
	Path Path
	// Beside is the sibling next to which a node is added, or from which it is removed. It
	// has no Step if nothing is known of that.
	Beside Beside
	// Guards are those of the places in Path and in Beside, in their order, which may be empty, or
	// none; of an added node that nothing tells from its siblings one more, of these.
	Guards []Guard
	// Traits are of steps that find their nodes by values, in the order of the steps.
	Traits []Trait
	// Lines are those of a Change.
	Lines []Line
	// Node is what is added or removed. If the patch has only the Hash of all that it holds, which
	// are Size nodes and attributes, Node has only a name.
	Node *sheets.Element
	Hash Hash
	Size int64
}

// Entries is how many nodes and attributes are added or removed.
func (b *Block) Entries() int64 {
	if b.Hash != 0 {
		return b.Size
	}
	return b.Node.Entries()
}

// Sheet is the name of the sheet that the block is about, or "/" if it is about the root.
func (b *Block) Sheet() string {
	switch {
	case len(b.Path.Steps) > 0:
		return b.Path.Steps[0].Name
	case b.Kind == Add:
		return b.Node.Name
	}
	return "/"
}

// Path is a plain path, see [query.PlainStep]. That of the root has no steps.
type Path struct {
	Text  string
	Steps []query.PlainStep
}

// Beside says where a node is among its siblings of one name.
type Beside struct {
	// Before tells that the node comes before the sibling, else behind it.
	Before bool
	// Text is how the sibling is spelled, as a step behind the path of the parent.
	Text string
	Step query.PlainStep
}

// Guard tells whether a place is still that of its node.
type Guard struct {
	// Step is the step without its place.
	Step string
	// N is the place among Of nodes that the step leads to before the patch, from 1 on, and
	// NewN and NewOf what they are after it. N or NewN is 0 where there is no such node then.
	N, Of, NewN, NewOf int
	// Old and New are hashes of all those nodes before and after the patch, Self of the
	// node, Before and After of those beside it, all before the patch. 0 is unknown, and of
	// Before and After none.
	Old, New, Self, Before, After Hash
	// Alone says what the hashes are good for.
	Alone Alone
}

// isEmpty reports whether there is no guard: the place is taken as it is.
func (g *Guard) isEmpty() bool { return g.Of|g.NewOf == 0 }

// Hash is of what a node holds, 48 bits.
type Hash uint64

const hashMask = 1<<48 - 1

// Alone tells what finds a node again whose place is another one.
type Alone uint8

// What finds it.
const (
	// BySelf: no other node in the group held the same.
	BySelf Alone = iota
	// ByNeighbours: no other one that held the same was between the same nodes.
	ByNeighbours
	// ByGroup: only its place, in a group that is as it was.
	ByGroup
)

// What is what a Line changes.
type What uint8

// What there is.
const (
	Attribute What = iota
	Keys
	Flags
)

// Line is one change of a node: a pair of lines, of which one may be missing.
type Line struct {
	// At is where its first line is in what was parsed, 0 if it was made.
	At   int
	What What
	// Name is that of an Attribute.
	Name string
	// Old and New have no type if there is no such attribute.
	Old, New Value
}

// Value is what a Line changes to or from.
type Value struct {
	Attribute datacenter.Value
	Keys      datacenter.KeyDefinition
	Flags     datacenter.KeyFlags
}

// Parent returns the path without its last step, and the sibling that this step is, so that
// a node can be added behind it.
func (p *Path) Parent() (parent Path, sibling Beside) {
	last := p.Steps[len(p.Steps)-1]
	last.Nth, last.NthOfAll = placeOf(&last), 0
	b := Block{Path: Path{Steps: p.Steps[:len(p.Steps)-1]}, Beside: Beside{Text: "?", Step: last}}
	b.respell()
	return b.Path, b.Beside
}
