package dctree

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// All IDs but that of the root have the bits
//
//	59     1 for an attribute, 0 for a node
//	58-32  number: how many entries a walk meets before this one
//	31-0   address of the stored node or attribute, segment above element
//
// Only the root has the number 0, and its ID is nodes.Root. A node or attribute that was made
// since the file was opened has a number above those of the file, in bits 31-0, and no address;
// bits 58-32 are 0.
const (
	attributeBit = nodes.ID(1) << 59
	numberShift  = 32
	numberMask   = nodes.ID(datacenter.MaxEntries)
)

func nodeID(number uint32, addr datacenter.Address) nodes.ID {
	return nodes.ID(number)<<numberShift | nodes.ID(addr.Segment)<<16 | nodes.ID(addr.Element)
}

func attributeID(number uint32, addr datacenter.Address) nodes.ID {
	return attributeBit | nodeID(number, addr)
}

// split is the inverse of nodeID and attributeID. ok is false for an ID that neither returns.
func split(id nodes.ID) (number uint32, addr datacenter.Address, attribute, ok bool) {
	if id == nodes.Root {
		return 0, datacenter.Address{}, false, true
	}
	addr = datacenter.Address{Segment: uint16(id >> 16), Element: uint16(id)}
	number = uint32(id >> numberShift & numberMask)
	attribute = id&attributeBit != 0
	// No node but the root lies at 0:0.
	ok = id>>60 == 0 && number > 0 && (attribute || addr != datacenter.Address{})
	return number, addr, attribute, ok
}

// madeID returns the ID of a node or attribute that the file doesn't have.
func madeID(number edit.Number, attribute bool) nodes.ID {
	if attribute {
		return attributeBit | nodes.ID(number)
	}
	return nodes.ID(number)
}

// splitMade is the inverse of madeID. ok is false for an ID that madeID doesn't return.
func splitMade(id nodes.ID) (number edit.Number, attribute, ok bool) {
	number = edit.Number(id)
	ok = id&^attributeBit>>32 == 0 && number > datacenter.MaxEntries
	return number, id&attributeBit != 0, ok
}
