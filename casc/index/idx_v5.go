package index

import (
	"encoding/binary"

	"lorefs/casc/internal/lookup3"
)

const (
	idxVersion5 = 5
	// idx5HeaderSize is the size of the header of version 5.
	idx5HeaderSize = 0x30
)

// parseIdx5 reads the form of the first beta, data.iXY, by description only: two sorted
// runs, each with a hash of its own.
func parseIdx5(data []byte) (*Idx, error) {
	if len(data) < idx5HeaderSize {
		return nil, IdxFormat.Bad(0, "%d bytes are no header of version 5", len(data))
	}
	header := append([]byte(nil), data[:idx5HeaderSize]...)
	want := binary.LittleEndian.Uint32(header[0x2C:])
	clear(header[0x2C:])
	if h := lookup3.Hash(header, 0); h != want {
		return nil, IdxFormat.Bad(0x2C, "the header has the hash %08x, stated is %08x", h, want)
	}
	x := &Idx{Version: idxVersion5, Bucket: int(header[2])}
	if err := checkWidths(0x18, header[0x18:0x1C]); err != nil {
		return nil, err
	}
	off := int64(idx5HeaderSize)
	for i := range 2 {
		size := int64(binary.LittleEndian.Uint32(header[0x1C+4*i:])) * idxEntrySize
		if size > int64(len(data))-off {
			return nil, IdxFormat.Bad(int64(0x1C+4*i), "%d bytes of entries at %#x in a file of %d", size, off, len(data))
		}
		run := data[off : off+size]
		if h, want := lookup3.Hash(run, 0), binary.LittleEndian.Uint32(header[0x24+4*i:]); h != want {
			return nil, IdxFormat.Bad(int64(0x24+4*i), "run %d has the hash %08x, stated is %08x", i, h, want)
		}
		if err := checkSorted(run, off); err != nil {
			return nil, err
		}
		x.runs = append(x.runs, newIdxRun(off, run))
		off += size
	}
	return x, nil
}
