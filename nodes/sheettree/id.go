package sheettree

import (
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// An ID, but for the root's:
//
//	bits 34-32 what it is
//	bits 31-0  the number of a sheet, or of a family
//
// so that those of directories and of sheets are never the same.
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
	madeSchema // one that has no number of its family, nor for good
	madeFolder // likewise
	scratch    // what the overlay has
)

func (k kind) id(number uint32) nodes.ID { return nodes.ID(k)<<kindShift | nodes.ID(number) }

// commonID is that of DataCenter.xsd.
var commonID = common.id(0)

// split is the inverse of kind.id. ok is false for what that does not give.
func split(id nodes.ID) (k kind, number uint32, ok bool) {
	k, number = kind(id>>kindShift&7), uint32(id&numberMask)
	ok = id>>kindShift <= nodes.ID(madeFolder) && k <= madeFolder && k >= common && (k != common || number == 0)
	return k, number, ok
}

// SheetID is the ID of a sheet.
func SheetID(n edit.Number) nodes.ID { return sheet.id(uint32(n)) }

// SheetNumber is the inverse of SheetID; ok is false for what is no sheet's.
func SheetNumber(id nodes.ID) (n edit.Number, ok bool) {
	k, number, ok := split(id)
	return edit.Number(number), ok && k == sheet
}
