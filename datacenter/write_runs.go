package datacenter

import (
	"bytes"
	"hash/maphash"
)

// absent is the address of an empty run.
var absent = Address{Segment: 0xffff, Element: 0xffff}

// packed is the layout in which nodes and attributes are kept until they are written. It
// has no padding, so it takes a third less memory than LayoutV6X64.
const packed = LayoutV6X86

// runStore lays out the runs of a segmented region. Equal runs are stored once.
type runStore struct {
	segmentStore
	// found finds a run by its content. A ref is the run's address. A tag is its count and
	// 16 bits of its hash.
	found table
	seed  maphash.Seed
}

func newAttributeStore(d *deflater, l Layout) runStore {
	s := segmentStore{deflate: d, size: int(packed.AttributeSize()), group: 1}
	if l == LayoutV6X64 {
		s.unpack = padAttribute
	}
	return runStore{segmentStore: s, seed: maphash.MakeSeed()}
}

func newNodeStore(d *deflater, l Layout) runStore {
	// The root lies in the first segment but is known last, so that segment is held back.
	s := segmentStore{deflate: d, size: int(packed.NodeSize()), group: 1, held: 1}
	if l == LayoutV6X64 {
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
func (s *runStore) add(run []byte) (Address, error) {
	if len(run) == 0 {
		return absent, nil
	}
	return s.addHashed(run, s.hashOf(run))
}

// hashOf returns the hash of a run.
func (s *runStore) hashOf(run []byte) uint64 { return maphash.Bytes(s.seed, run) }

// addHashed is add for a run that is not empty and has this hash.
func (s *runStore) addHashed(run []byte, hash uint64) (Address, error) {
	tag := uint32(len(run)/s.size)<<16 | uint32(hash>>48)
	if ref, ok := s.found.find(hash, tag, func(ref uint32) bool {
		return bytes.HasPrefix(s.from(addressOf(ref)), run)
	}); ok {
		return addressOf(ref), nil
	}
	addr, err := s.place(run)
	if err == nil {
		s.found.add(hash, tag, addr.ref(), s.hash)
	}
	return addr, err
}

// hash returns the hash of a run that is in the table.
func (s *runStore) hash(of slot) uint64 {
	return s.hashOf(s.from(addressOf(of.ref()))[:int(of.tag>>16)*s.size])
}

// ref returns the address as one number, in the order of the file.
func (a Address) ref() uint32 { return uint32(a.Segment)<<16 | uint32(a.Element) }

// addressOf is the inverse of ref.
func addressOf(ref uint32) Address {
	return Address{Segment: uint16(ref >> 16), Element: uint16(ref)}
}
