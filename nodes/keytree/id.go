package keytree

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// The ID of a link has bit 59. If the file has the node below that sheet, it has the numbers of
// both; otherwise the node is of the draft, which knows its sheet.
//
//	58-32  number of the sheet, or 0
//	31-0   number of the node
//
// The ID of a directory has its kind in bits 58-56, and below that
//
//	family      31-0   ID of the family
//	sheet       31-0   number of the sheet
//	familyKids  55-24  ID of the family    23-0  number of the name of its children
//	sheetKids   55-24  number of the sheet 23-0  the same
const (
	linkBit    = nodes.ID(1) << 59
	sheetShift = 32
	kindShift  = 56
	kindMask   = 7
	ofShift    = 24
	maxName    = 1<<ofShift - 1
)

type kind uint8

const (
	root kind = iota
	family
	sheet
	familyKids
	sheetKids
	link
)

// place says what an ID refers to.
type place struct {
	kind kind
	// of is the ID of a family, or the number of a sheet.
	of uint32
	// name is the number of a name of children, see names.number.
	name uint32
	// node is the node that a link leads to.
	node edit.Number
}

func (p place) id() nodes.ID {
	switch p.kind {
	case root:
		return nodes.Root
	case link:
		return linkBit | nodes.ID(p.of)<<sheetShift | nodes.ID(p.node)
	case familyKids, sheetKids:
		return nodes.ID(p.kind)<<kindShift | nodes.ID(p.of)<<ofShift | nodes.ID(p.name)
	default:
		return nodes.ID(p.kind)<<kindShift | nodes.ID(p.of)
	}
}

// split is the inverse of place.id. ok is false for an ID that place.id does not return.
func split(id nodes.ID) (p place, ok bool) {
	switch {
	case id == nodes.Root:
		return p, true
	case id&linkBit != 0:
		p = place{kind: link, of: uint32(id >> sheetShift & datacenter.MaxEntries), node: edit.Number(id)}
	case id>>kindShift&kindMask <= nodes.ID(sheet):
		p = place{kind: kind(id >> kindShift & kindMask), of: uint32(id)}
	default:
		p = place{kind: kind(id >> kindShift & kindMask), of: uint32(id >> ofShift), name: uint32(id & maxName)}
	}
	return p, p.kind > root && p.kind <= link && p.id() == id
}

// LinkedNode returns the number of the node that a link leads to. ok is false if the ID is not that of
// a link.
func LinkedNode(id nodes.ID) (n edit.Number, ok bool) {
	p, ok := split(id)
	return p.node, ok && p.kind == link
}
