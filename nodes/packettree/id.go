package packettree

import "lorefs/nodes"

// An ID is a kind of node above bit 32, and below it the index of a packet, a definition, a
// map or a name. Kind 0 is for single nodes.
const (
	rootID        = nodes.Root
	packetsID     = nodes.ID(2)
	definitionsID = nodes.ID(3)
	mapsID        = nodes.ID(4)
	summaryID     = nodes.ID(5)
	linesID       = nodes.ID(6)
	byNameID      = nodes.ID(7)
	pictureID     = nodes.ID(8)

	kindShift = 32
)

type kind uint8

const (
	kindOnce kind = iota
	kindJSON
	kindBin
	kindDefinition
	kindMap
	kindName
)

func makeID(k kind, i int) nodes.ID { return nodes.ID(k)<<kindShift | nodes.ID(uint32(i)) }

func split(id nodes.ID) (k kind, i int) {
	i = int(uint32(id)) // less than 0 for numbers that an int of 32 bits can't hold
	if id>>kindShift > nodes.ID(kindName) || i < 0 {
		return kindOnce, 0 // 0 names nothing
	}
	return kind(id >> kindShift), i
}
