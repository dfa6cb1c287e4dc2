package dcsave

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/internal/cursor"
	"lorefs/internal/formats/datacenter/identity"
)

// A note describes the file that the edits of a journal belong to, so that the edits can be
// explained without the file. It is the note of a 'b' of package save:
//
//	note      = version:1 node …          version is 1; a reader ignores notes of other versions
//	node      = what:1 number:uvarint parent:uvarint name:string place:uvarint
//	            flags:1 keys path:string guards attributes [ hash:8 ] [ element ] [ entries:uvarint ]
//	guards    = count:uvarint ( step:uvarint n:uvarint of:uvarint group:8 self:8 before:8 after:8 ) …
//	attributes = count:uvarint ( name:string has:1 [ value ] ) …
//	element   = name:string flags:1 keys attributes children
//	children  = count:uvarint element …
//
// string, value, keys and the numbers of nodes are encoded as in a record of edits (package edit).
// what is a sum of bits:
//
//	1  there is a path; without it the string is empty, since too many nodes look the same
//	2  there is a hash; the node was removed or moved
//	4  there is an element: the node with everything below it, unless that is too large
//	8  nodes were put behind the node, which is the last of its name below its parent
//	16 there is a number of entries: the nodes and attributes of a removed or moved node
//	32 it is a sketch: the path may find several nodes, and its guards may fit none
//
// place is the number of siblings of the same name before the node. The guards belong to the places
// in the path (identity.Place). A sketch is written before an edit is acknowledged, and what is not a
// sketch a little later. The attributes are only the edited ones; has is 0 if the node in
// the file does not have the attribute. Several nodes with the same number add up; the last path
// counts, unless it is that of
// a sketch and there is another.
//
// A note describes the unedited file, so edits can't make it wrong. What an edit replaced follows
// from the note and the edits before it.
const noteVersion = 1

const (
	hasPath = 1 << iota
	hasHash
	hasElement
	isLast
	hasEntries
	isSketch
)

// Before describes a node of the file that the edits belong to.
type Before struct {
	// Number is the node's number in the file, and Parent the number of its parent. Place is the
	// number of siblings before it that have the same Name.
	Number, Parent edit.Number
	Name           string
	Place          int
	// Last means that no sibling of the same name follows. It is set only if an edit puts a node
	// behind this one.
	Last bool
	// Path is an expression for package query that finds only this node in the file: "/" for the
	// root, empty if too many nodes look the same. Guards belong to the places in it.
	// In a Sketch the path may find several nodes, and the guards may fit none.
	Path   string
	Guards []identity.Place
	Sketch bool
	Keys   datacenter.KeyDefinition
	Flags  datacenter.KeyFlags
	// Attributes are the edited attributes, by name. The value has no type if the node does not
	// have the attribute.
	Attributes map[string]datacenter.Value
	// Taken means that the node was removed or moved. Then Hash is the hash of the node with
	// everything below it (identity.Paths.Hash), and Element is its content, nil if that was too
	// large: then only the file has the content, and the Hash identifies it. Entries is the number of
	// nodes and attributes, 0 if neither is known.
	Taken   bool
	Hash    uint64
	Element *sheets.Element
	Entries int64
}

// Attribute is an edited attribute. Its value has no type if the node does not have it.
type Attribute struct {
	Name  string
	Value datacenter.Value
}

// appendBefore appends a node. attributes are its edited attributes, and element, which may be nil,
// is its encoded element.
func appendBefore(b []byte, n *Before, attributes []Attribute, element []byte) []byte {
	what := byte(0)
	if n.Path != "" {
		what |= hasPath
	}
	if n.Taken {
		what |= hasHash
	}
	if element != nil {
		what |= hasElement
	}
	if n.Last {
		what |= isLast
	}
	if n.Entries > 0 {
		what |= hasEntries
	}
	if n.Sketch {
		what |= isSketch
	}
	b = append(b, what)
	b = binary.AppendUvarint(b, uint64(n.Number))
	b = binary.AppendUvarint(b, uint64(n.Parent))
	b = edit.AppendText(b, n.Name)
	b = binary.AppendUvarint(b, uint64(n.Place))
	b = edit.AppendKeys(append(b, byte(n.Flags)), n.Keys)
	b = appendGuards(edit.AppendText(b, n.Path), n.Guards)
	b = appendAttributes(b, attributes)
	if n.Taken {
		b = binary.LittleEndian.AppendUint64(b, n.Hash)
	}
	b = append(b, element...)
	if n.Entries > 0 {
		b = binary.AppendUvarint(b, uint64(n.Entries))
	}
	return b
}

func appendGuards(b []byte, guards []identity.Place) []byte {
	b = binary.AppendUvarint(b, uint64(len(guards)))
	for _, g := range guards {
		for _, v := range [...]int{g.Step, g.N, g.Of} {
			b = binary.AppendUvarint(b, uint64(v))
		}
		for _, v := range [...]uint64{g.Group, g.Self, g.Before, g.After} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	return b
}

func appendAttributes(b []byte, attributes []Attribute) []byte {
	b = binary.AppendUvarint(b, uint64(len(attributes)))
	for _, a := range attributes {
		b = appendAttribute(b, a.Name, a.Value)
	}
	return b
}

func appendAttribute(b []byte, name string, v datacenter.Value) []byte {
	b = edit.AppendText(b, name)
	if v.Type() == 0 {
		return append(b, 0)
	}
	return edit.AppendValue(append(b, 1), v)
}

// errLarge means that an element is too large for a note.
var errLarge = errors.New("too large for a note")

// appendElement appends a node of a file with everything below it. If the result would be longer
// than most bytes, the error is errLarge.
func appendElement(b []byte, n datacenter.Node, most int) ([]byte, error) {
	b = edit.AppendText(b, n.Name())
	b = edit.AppendKeys(append(b, byte(n.Flags())), n.Keys())
	b = binary.AppendUvarint(b, uint64(n.AttributeCount()))
	for a, err := range n.Attributes() {
		if err != nil {
			return b, err
		}
		v, err := a.Value()
		if err != nil {
			return b, err
		}
		if b = appendAttribute(b, a.Name(), v); len(b) > most {
			return b, errLarge
		}
	}
	var children []datacenter.Node
	for c, err := range n.Children() {
		if err != nil {
			return b, err
		}
		children = append(children, c)
	}
	b = binary.AppendUvarint(b, uint64(len(children)))
	if len(b)+len(children) > most {
		return b, errLarge
	}
	for _, c := range children {
		var err error
		if b, err = appendElement(b, c, most); err != nil {
			return b, err
		}
	}
	return b, nil
}

// noteReader decodes a note.
type noteReader struct{ edit.RecordReader }

// parseNote returns the nodes of a note, and none if the note has another version.
func parseNote(note []byte) (list []Before, err error) {
	r := noteReader{edit.RecordReader{Cursor: cursor.New(note)}}
	if r.U8() != noteVersion {
		return nil, r.Err()
	}
	for r.Left() > 0 && r.Err() == nil {
		list = append(list, r.before())
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("a note about the file that was edited: %w", err)
	}
	return list, nil
}

func (r noteReader) before() (n Before) {
	what := r.U8()
	if what >= 2*isSketch || what&hasElement != 0 && what&hasHash == 0 {
		r.Fail("unknown bits %#x of a node", what)
	}
	n.Number, n.Parent = r.Number(), r.Number()
	n.Name = r.Text()
	n.Place = r.count()
	n.Last, n.Sketch = what&isLast != 0, what&isSketch != 0
	n.Flags, n.Keys = datacenter.KeyFlags(r.U8()), r.Keys()
	n.Path, n.Guards = r.Text(), r.guards()
	if (n.Path != "") != (what&hasPath != 0) {
		r.Fail("a path that there is not")
	}
	n.Attributes = map[string]datacenter.Value{}
	for _, a := range r.attributes() {
		n.Attributes[a.Name] = a.Value
	}
	if n.Taken = what&hasHash != 0; n.Taken {
		n.Hash = r.LE64()
	}
	if what&hasElement != 0 {
		n.Element = r.element(0)
		n.Entries = n.Element.Entries()
	}
	if what&hasEntries != 0 {
		n.Entries = int64(r.Uvarint(math.MaxUint32))
	}
	return n
}

// count reads the number of items that follow, each of which has at least one byte.
func (r noteReader) count() int { return int(r.Uvarint(math.MaxInt32)) }

func (r noteReader) guards() (list []identity.Place) {
	for range r.count() {
		if r.Err() != nil {
			return nil
		}
		list = append(list, identity.Place{
			Step: r.count(), N: r.count(), Of: r.count(),
			Group: r.LE64(), Self: r.LE64(), Before: r.LE64(), After: r.LE64(),
		})
	}
	return list
}

func (r noteReader) attributes() (list []Attribute) {
	for range r.count() {
		if r.Err() != nil {
			return nil
		}
		a := Attribute{Name: r.Text()}
		switch has := r.U8(); has {
		case 0:
		case 1:
			a.Value = r.Value()
		default:
			r.Fail("%d where 0 or 1 tells whether there is a value", has)
		}
		list = append(list, a)
	}
	return list
}

func (r noteReader) element(depth int) *sheets.Element {
	e := &sheets.Element{}
	if depth > datacenter.MaxDepth {
		r.Fail("nested deeper than %d", datacenter.MaxDepth)
		return e
	}
	e.Name = r.Text()
	e.Flags, e.Keys = datacenter.KeyFlags(r.U8()), r.Keys()
	for _, a := range r.attributes() {
		e.Attributes = append(e.Attributes, sheets.ElementAttribute{Name: a.Name, Value: a.Value})
	}
	for range r.count() {
		if r.Err() != nil {
			break
		}
		e.Children = append(e.Children, r.element(depth+1))
	}
	return e
}
