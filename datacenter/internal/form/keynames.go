package form

import (
	"encoding/binary"
	"strings"
)

// KeyNames is a stored key definition, a DataCenterKey: name indexes, with 0 for none.
type KeyNames [4]uint16

// parseKeyNames reads a key from b, keySize bytes.
func parseKeyNames(b []byte) (k KeyNames) {
	for i := range k {
		k[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return k
}

// Append is the inverse of parseKeyNames.
func (k KeyNames) Append(b []byte) []byte {
	for _, n := range k {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}

// Slide moves the gaps of a key definition to its end. Gaps have no meaning.
func Slide(k KeyNames) (slid KeyNames) {
	i := 0
	for _, name := range k {
		if name != 0 {
			slid[i] = name
			i++
		}
	}
	return slid
}

// KeyDefinition is a set of attribute names by which clients look nodes up.
type KeyDefinition []string

// String returns the definition as novadrop's schemas spell it.
func (d KeyDefinition) String() string { return strings.Join(d, " ") }
