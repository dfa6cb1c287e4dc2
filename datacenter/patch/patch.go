package patch

import (
	"lorefs/datacenter"
	"lorefs/datacenter/query"
	"lorefs/datacenter/sheets"
)

// Patch is a set of changes of a data center.
type Patch struct {
	// Reports call it Name, such as the name of its file. It is not written.
	Name string
	// Line is where it begins in what was parsed, 0 if it was made.
	Line   int
	Header []Field
	Blocks []Block
	// Notes are the lines behind the last block that begin with # or !.
	Notes []string
}

// Field is a line of the header, which informs people.
type Field struct{ Name, Text string }

// Kind says what a Block does to a node.
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
	// Contexts are of some steps of Path, of that in Beside, and of a node that is added though nothing
	// tells it from its siblings, in this order.
	Contexts []Context
	// Lines are those of a Change.
	Lines []Line
	// Node is added or removed.
	Node *sheets.Element
}

// Entries is how many nodes and attributes are added or removed.
func (b *Block) Entries() int64 { return b.Node.Entries() }

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

// What says whether a Line changes an attribute, the keys or the flags.
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
	// Name of an Attribute.
	Name string
	// Old and New have no type if there is no such attribute.
	Old, New Value
}

// Value stands on one side of a Line.
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
