package datacenter

import "encoding/binary"

// stringEntry is a DataCenterString.
type stringEntry struct {
	hash, length, index uint32
	addr                Address
}

func parseStringEntry(b []byte) stringEntry {
	_ = b[stringSize-1]
	le := binary.LittleEndian
	return stringEntry{hash: le.Uint32(b), length: le.Uint32(b[4:]), index: le.Uint32(b[8:]), addr: parseAddress(b[12:])}
}

// append is the inverse of parseStringEntry.
func (e stringEntry) append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, e.hash)
	b = le.AppendUint32(b, e.length)
	b = le.AppendUint32(b, e.index)
	return e.addr.append(b)
}
