package datacenter

import (
	"bytes"
	"hash/maphash"
)

// absent is the address of a run of no elements.
var absent = Address{Segment: 0xffff, Element: 0xffff}

// packed is the layout that nodes and attributes are kept in until they are
// written: the one without padding, a third less than LayoutV6X64.
const packed = LayoutV6X86

// runStore lays out the runs of a segmented region. Runs that are equal are
// stored once.
type runStore struct {
	segmentStore
	// found finds a run by its content. A ref is the run's address, a tag its
	// count and 16 bits of its hash.
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
	// The root lies in the first segment, and is known last.
	s := segmentStore{deflate: d, size: int(packed.NodeSize()), group: 1, held: 1}
	if l == LayoutV6X64 {
		s.unpack = padNode
	}
	return runStore{segmentStore: s, seed: maphash.MakeSeed()}
}

// padAttribute appends an attribute as LayoutV6X64 has it.
func padAttribute(dst, a []byte) []byte {
	dst = append(dst, a[:8]...)
	return append(dst, 0, 0, 0, 0)
}

// padNode appends a node as LayoutV6X64 has it: padding follows each address.
func padNode(dst, n []byte) []byte {
	dst = append(dst, n[:12]...)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, n[12:16]...)
	return append(dst, 0, 0, 0, 0)
}

// add gives the address of a run, of which it keeps no more than a copy.
func (s *runStore) add(run []byte) (Address, error) {
	if len(run) == 0 {
		return absent, nil
	}
	hash := maphash.Bytes(s.seed, run)
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

// hash is the hash of a run that is in the table.
func (s *runStore) hash(of slot) uint64 {
	return maphash.Bytes(s.seed, s.from(addressOf(of.ref()))[:int(of.tag>>16)*s.size])
}

// ref is the address as one number.
func (a Address) ref() uint32 { return uint32(a.Segment)<<16 | uint32(a.Element) }

// addressOf is the inverse of ref.
func addressOf(ref uint32) Address {
	return Address{Segment: uint16(ref >> 16), Element: uint16(ref)}
}
