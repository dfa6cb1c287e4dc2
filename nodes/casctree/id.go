package casctree

import (
	"lorefs/casc/encoding"
	"lorefs/nodes"
)

// An ID has its kind in bits 62 to 56, and below:
//
//	0  fixed           a number of its own; 1 is the root
//	1  directory       its place in the table
//	2  file            its place in the table
//	3  content/ab      the byte
//	4  content file    page << 24 | row of the encoding file
//	5  configuration   its place among them
//	6  manifest        its number
//	7  its page        manifest << 40 | page
type idKind uint8

const (
	kindFixed idKind = iota
	kindDir
	kindFile
	kindContentDir
	kindContent
	kindConfig
	kindManifest
	kindPage
)

const (
	kindShift  = 56
	valueMask  = nodes.ID(1)<<kindShift - 1
	pageShift  = 40
	rowShift   = 24
	maxRow     = 1 << rowShift
	maxRowPage = 1 << (kindShift - rowShift)
)

// The fixed IDs besides the root's.
const (
	configID nodes.ID = iota + 2
	contentID
	manifestsID
	descriptionID
	pictureID
	byIDID
)

func makeID(k idKind, value int) nodes.ID { return nodes.ID(k)<<kindShift | nodes.ID(value) }

func splitID(id nodes.ID) (idKind, int) {
	return idKind(id >> kindShift), int(id & valueMask)
}

// dirID returns the ID of a directory of the table. The first one is the root.
func dirID(i int) nodes.ID {
	if i == 0 {
		return nodes.Root
	}
	return makeID(kindDir, i)
}

// rowID returns the ID of a content key. ok is false for impossible places.
func rowID(at encoding.RowNumber) (id nodes.ID, ok bool) {
	return makeID(kindContent, at.Page<<rowShift|at.Row), at.Page < maxRowPage && at.Row < maxRow
}

func rowOf(value int) encoding.RowNumber {
	return encoding.RowNumber{Page: value >> rowShift, Row: value & (maxRow - 1)}
}
