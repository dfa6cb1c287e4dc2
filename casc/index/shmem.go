package index

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"lorefs/casc/internal/format"
)

const shmem format.Name = "shmem"

// Shmem is the file by which programs that share an install coordinate. It is not needed
// for reading: it only says which index files its writer used.
type Shmem struct {
	// Version is 4 or 5.
	Version int
	// DataPath is the folder of the archives, as its writer saw it.
	DataPath string
	// Versions are the versions of the index files, by bucket.
	Versions [Buckets]uint32
	// Free are the unused places in the archives.
	Free []Location
}

const (
	shmemPathOff  = 8
	shmemPathSize = 0x100
	// Between the path and the versions is a pair of size and offset.
	shmemVersionsOff = shmemPathOff + shmemPathSize + 8
	shmemMinSize     = shmemVersionsOff + 4*Buckets
	// The free space: a header of 32 bytes, 1,090 lengths, and as many places.
	shmemFree       = 1
	shmemFreeHeader = 32
	shmemFreeMax    = 1090
)

// ParseShmem reads shmem of version 4 or 5. The free space is read only if it is where the
// header says.
func ParseShmem(data []byte) (*Shmem, error) {
	if len(data) < shmemMinSize {
		return nil, shmem.Bad(0, "%d bytes, expected %d at least", len(data), shmemMinSize)
	}
	s := &Shmem{Version: int(binary.LittleEndian.Uint32(data))}
	if s.Version != 4 && s.Version != 5 {
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, shmem.Bad(0, "version %d", s.Version))
	}
	head := int64(binary.LittleEndian.Uint32(data[4:]))
	if head < shmemMinSize || head > int64(len(data)) {
		return nil, shmem.Bad(4, "a header of %d bytes in a file of %d", head, len(data))
	}
	path := data[shmemPathOff : shmemPathOff+shmemPathSize]
	if end := bytes.IndexByte(path, 0); end >= 0 {
		path = path[:end]
	}
	s.DataPath = string(bytes.TrimPrefix(path, []byte(`Global\`)))
	versions := int64(shmemVersionsOff)
	if s.Version == 4 {
		versions = head - 4*Buckets
	}
	for i := range s.Versions {
		s.Versions[i] = binary.LittleEndian.Uint32(data[versions+int64(4*i):])
	}
	s.parseFree(data[head:])
	return s, nil
}

// parseFree reads the block of free space.
func (s *Shmem) parseFree(b []byte) {
	const half = shmemFreeMax * idxPlaceSize
	if len(b) < shmemFreeHeader+2*half || binary.LittleEndian.Uint32(b) != shmemFree {
		return
	}
	for i := range shmemFreeMax {
		at := shmemFreeHeader + i*idxPlaceSize
		size, place := parsePlace(b[at:]), parsePlace(b[at+half:])
		if place.Size = size.Off; place.Size != 0 {
			s.Free = append(s.Free, place)
		}
	}
}
