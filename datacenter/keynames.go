package datacenter

import "encoding/binary"

// KeyNames is a stored key definition, a DataCenterKey: name indexes, with 0 for none.
type KeyNames [4]uint16

// parseKeyNames reads a key from b, keySize bytes.
func parseKeyNames(b []byte) (k KeyNames) {
	for i := range k {
		k[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return k
}

// append is the inverse of parseKeyNames.
func (k KeyNames) append(b []byte) []byte {
	for _, n := range k {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}

// slide moves the gaps of a key definition to its end. Gaps have no meaning.
func slide(k KeyNames) (slid KeyNames) {
	i := 0
	for _, name := range k {
		if name != 0 {
			slid[i] = name
			i++
		}
	}
	return slid
}

// KeyNames returns n's key definition as it is stored. It is empty if n's key index has
// none.
func (n Node) KeyNames() KeyNames {
	if int(n.raw.key) >= len(n.file.keys) {
		return KeyNames{}
	}
	return n.file.keys[n.raw.key]
}
