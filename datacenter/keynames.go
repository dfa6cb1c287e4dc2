package datacenter

import "encoding/binary"

// keyNames is a DataCenterKey: name indexes, 0 where there is none.
type keyNames [4]uint16

// parseKeyNames reads a key from b, keySize bytes.
func parseKeyNames(b []byte) (k keyNames) {
	for i := range k {
		k[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return k
}

// append is the inverse of parseKeyNames.
func (k keyNames) append(b []byte) []byte {
	for _, n := range k {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}
