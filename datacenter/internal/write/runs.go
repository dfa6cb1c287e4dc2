package write

import (
	"bytes"
	"hash/maphash"

	"lorefs/datacenter/internal/form"
)

// runStore lays out the runs of a segmented region. Equal runs are stored once.
type runStore struct {
	segmentStore
	// Found finds a run by its content. A ref is the run's address. A tag is its count and
	// 16 bits of its hash.
	Found table
	seed  maphash.Seed
}

func newAttributeStore(d *deflater, l form.Layout) runStore {
	s := segmentStore{deflate: d, size: int(form.Packed.AttributeSize()), group: 1}
	if l == form.LayoutV6X64 {
		s.unpack = padAttribute
	}
	return runStore{segmentStore: s, seed: maphash.MakeSeed()}
}

func newNodeStore(d *deflater, l form.Layout) runStore {
	// The root lies in the first segment but is known last, so that segment is held back.
	s := segmentStore{deflate: d, size: int(form.Packed.NodeSize()), group: 1, held: 1}
	if l == form.LayoutV6X64 {
		s.unpack = padNode
	}
	return runStore{segmentStore: s, seed: maphash.MakeSeed()}
}

// padAttribute appends an attribute in the form of LayoutV6X64.
func padAttribute(dst, a []byte) []byte {
	dst = append(dst, a[:8]...)
	return append(dst, 0, 0, 0, 0)
}

// padNode appends a node in the form of LayoutV6X64, with padding behind each address.
func padNode(dst, n []byte) []byte {
	dst = append(dst, n[:12]...)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, n[12:16]...)
	return append(dst, 0, 0, 0, 0)
}

// add returns the address of a run. It copies the run if it has to store it.
func (s *runStore) add(run []byte) (form.Address, error) {
	if len(run) == 0 {
		return form.Absent, nil
	}
	return s.AddHashed(run, s.HashOf(run))
}

// HashOf returns the hash of a run.
func (s *runStore) HashOf(run []byte) uint64 { return maphash.Bytes(s.seed, run) }

// AddHashed is add for a run that is not empty and has this hash.
func (s *runStore) AddHashed(run []byte, hash uint64) (form.Address, error) {
	tag := uint32(len(run)/s.size)<<16 | uint32(hash>>48)
	if ref, ok := s.Found.find(hash, tag, func(ref uint32) bool {
		return bytes.HasPrefix(s.from(form.AddressOf(ref)), run)
	}); ok {
		return form.AddressOf(ref), nil
	}
	addr, err := s.place(run)
	if err == nil {
		s.Found.add(hash, tag, addr.Ref(), s.hash)
	}
	return addr, err
}

// hash returns the hash of a run that is in the table.
func (s *runStore) hash(of slot) uint64 {
	return s.HashOf(s.from(form.AddressOf(of.ref()))[:int(of.tag>>16)*s.size])
}
