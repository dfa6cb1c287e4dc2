package sheettree

import (
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// All IDs but that of the root have the bits
//
//	34-32 the kind of node
//	31-0  the number of a sheet, or of a family
//
// so that no directory has the ID of a sheet.
const (
	kindShift  = 32
	numberMask = 1<<kindShift - 1
)

type kind uint8

const (
	common kind = iota + 1 // DataCenter.xsd
	folder
	schema
	sheet
	madeSchema // numbered by the tree, not by its family
	madeFolder // likewise
	scratch    // numbered by the overlay
)

func (k kind) id(number uint32) nodes.ID { return nodes.ID(k)<<kindShift | nodes.ID(number) }

// commonID is the ID of DataCenter.xsd.
var commonID = common.id(0)

// split is the inverse of kind.id. ok is false for an ID that kind.id can't return, and for
// those of the overlay.
func split(id nodes.ID) (k kind, number uint32, ok bool) {
	k, number = kind(id>>kindShift&7), uint32(id&numberMask)
	ok = id>>kindShift <= nodes.ID(madeFolder) && k <= madeFolder && k >= common && (k != common || number == 0)
	return k, number, ok
}

// SheetID returns the ID of a sheet.
func SheetID(n edit.Number) nodes.ID { return sheet.id(uint32(n)) }

// SheetNumber is the inverse of SheetID. ok is false if the ID is not that of a sheet.
func SheetNumber(id nodes.ID) (n edit.Number, ok bool) {
	k, number, ok := split(id)
	return edit.Number(number), ok && k == sheet
}
