package datacenter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/klauspost/compress/flate"

	"lorefs/datacenter/internal/hash"
)

// stringStore lays out a string table. Each string is stored once.
type stringStore struct {
	segmentStore
	buckets uint32
	entries []storedString // in the order of their addresses
	// found finds a string by its units. A ref is a place in entries. A tag is the whole hash, so
	// that the table grows without reading the strings again.
	found table
	seed  maphash.Seed
	// table is the written form of the buckets and addresses, of so many entries.
	table  []byte
	tabled int
}

// storedString is a string in a stringStore.
type storedString struct {
	hash  uint32 // hash.String
	addr  Address
	value uint16 // hash.Value
}

// valueHashMask masks the 14 bits that an attribute has for the hash of a string.
const valueHashMask = 1<<14 - 1

// A table of at least largeTable strings in a bucket is compressed apart, since little repeats in it:
// hashes and addresses differ. Addresses only get Huffman codes, because a search makes them no
// smaller.
const largeTable = 32

// bucketLevel returns the level at which the buckets of a large table are compressed, if everything
// else is at some level. Below the default they only get Huffman codes. A search makes them 3 to 6 %
// smaller, but takes three times as long for a byte as anywhere else. So the default level takes a
// quick one: writing a real file takes 4 % longer by it, and would take 8 % longer by that of level 7.
func bucketLevel(level int) int {
	const quick = 4
	switch {
	case level < defaultLevel:
		return flate.HuffmanOnly
	case level == defaultLevel:
		return quick
	}
	return level
}

func newStringStore(d *deflater, buckets uint32) stringStore {
	const group = 8 // segments, which is a MiB
	return stringStore{
		segmentStore: segmentStore{deflate: d, size: charSize, group: group},
		buckets:      buckets, seed: maphash.MakeSeed(),
	}
}

// reserve makes room for n strings. The store must be empty.
func (s *stringStore) reserve(n int) {
	s.entries = make([]storedString, 0, n)
	s.found.reserve(n)
}

// add returns the address of the string with these UTF-16 units.
func (s *stringStore) add(units []byte) (Address, error) {
	i, err := s.intern(units)
	if err != nil {
		return Address{}, err
	}
	return s.entries[i].addr, nil
}

// intern returns the place in entries of the string with these UTF-16 units.
func (s *stringStore) intern(units []byte) (uint32, error) {
	return s.internHashed(units, s.hashOf(units))
}

// internHashed is intern for units that have this hash.
func (s *stringStore) internHashed(units []byte, tag uint32) (uint32, error) {
	if i, ok := s.found.find(uint64(tag), tag, func(i uint32) bool { return bytes.Equal(s.text(i), units) }); ok {
		return i, nil
	}
	e, err := hashUnits(units)
	if err != nil {
		return 0, err
	}
	if e.addr, err = s.place(units); err != nil {
		return 0, err
	}
	i := uint32(len(s.entries))
	s.entries = append(s.entries, e)
	s.found.add(uint64(tag), tag, i, func(of slot) uint64 { return uint64(of.tag) })
	return i, nil
}

// hashOf returns the hash by which a string is found.
func (s *stringStore) hashOf(units []byte) uint32 { return uint32(maphash.Bytes(s.seed, units)) }

// hashUnits returns a storedString with both hashes of a string.
func hashUnits(units []byte) (storedString, error) {
	var ofText, ofValue uint32
	nul := false
	for ; len(units) >= 2*charSize; units = units[2*charSize:] {
		first, second := binary.LittleEndian.Uint16(units), binary.LittleEndian.Uint16(units[charSize:])
		nul = nul || first == 0 || second == 0
		ofText = hash.Two(ofText, first, second)
		ofValue = hash.Two(ofValue, hash.Fold(first), hash.Fold(second))
	}
	if len(units) >= charSize {
		last := binary.LittleEndian.Uint16(units)
		nul = nul || last == 0
		ofText = hash.Unit(ofText, last)
		ofValue = hash.Unit(ofValue, hash.Fold(last))
	}
	if nul {
		return storedString{}, fmt.Errorf("datacenter: %w: a string with a NUL in it", ErrValue)
	}
	return storedString{hash: ofText, value: uint16(ofValue & valueHashMask)}, nil
}

// attribute returns an attribute, without a name, that refers to entry i.
func (s *stringStore) attribute(i uint32) StoredAttribute {
	e := &s.entries[i]
	return stringAttribute(e.addr, e.value)
}

// length returns the number of characters of entry i, its NUL included. The next entry
// begins behind them.
func (s *stringStore) length(i uint32) int {
	addr := s.entries[i].addr
	end := len(s.segments[addr.Segment]) / charSize
	if next := int(i) + 1; next < len(s.entries) && s.entries[next].addr.Segment == addr.Segment {
		end = int(s.entries[next].addr.Element)
	}
	return end - int(addr.Element)
}

// text returns the units of entry i.
func (s *stringStore) text(i uint32) []byte {
	return s.from(s.entries[i].addr)[:(s.length(i)-1)*charSize]
}

// at returns the units of the string at addr.
func (s *stringStore) at(addr Address) []byte {
	b := s.from(addr)
	return b[:nulAt(b)]
}

// place stores a string and its NUL. A string that is longer than a segment gets a segment
// of its own, as novadrop does it.
func (s *stringStore) place(units []byte) (Address, error) {
	if len(units)/charSize >= maxString {
		return Address{}, fmt.Errorf("datacenter: a string of %d characters: %w", len(units)/charSize, ErrTooLarge)
	}
	return s.segmentStore.place(units, []byte{0, 0})
}

// entry returns the written form of entry i.
func (s *stringStore) entry(i uint32) stringEntry {
	e := s.entries[i]
	return stringEntry{hash: e.hash, length: uint32(s.length(i)), index: i + 1, addr: e.addr}
}

// prepareTable makes the written form of the buckets and the addresses, unless that is done.
func (s *stringStore) prepareTable() {
	if s.table != nil && s.tabled == len(s.entries) {
		return
	}
	s.tabled = len(s.entries)
	size := int(s.buckets)*4 + 4 + s.tabled*(stringSize+addressSize)
	t := make([]byte, 0, size)
	for bucket := range s.sorted() {
		t = binary.LittleEndian.AppendUint32(t, uint32(len(bucket)))
		for _, place := range bucket {
			t = s.entry(uint32(place)).append(t)
		}
	}
	t = binary.LittleEndian.AppendUint32(t, uint32(len(s.entries)+1))
	for _, e := range s.entries {
		t = e.addr.append(t)
	}
	s.table = t
}

// writtenTable is the written form of the buckets and addresses: blocks that are being compressed, or
// the content of a table that is compressed with what is around it.
type writtenTable struct {
	blocks  []*deflated
	content []byte
}

// writtenTable makes the written form of the buckets and the addresses. It must be called once, at the end.
func (s *stringStore) writtenTable() (t writtenTable) {
	s.prepareTable()
	t.content, s.table = s.table, nil
	if s.deflate == nil {
		return t
	}
	level := s.deflate.level
	if level <= 0 || s.tabled < largeTable*int(s.buckets) {
		return t
	}
	addresses := len(t.content) - s.tabled*addressSize
	t.compress(s.deflate, bucketLevel(level), t.content[:addresses])
	t.compress(s.deflate, flate.HuffmanOnly, t.content[addresses:])
	t.content = nil
	return t
}

// compress begins to compress a part of the content.
func (t *writtenTable) compress(d *deflater, level int, part []byte) {
	for block := range slices.Chunk(part, deflateBlock) {
		t.blocks = append(t.blocks, d.startBytes(level, block))
	}
}

// sorted yields the strings of each bucket in turn. In each number the lower half is the
// place in entries, and the upper half is the hash. The numbers are sorted, so equal hashes
// are in the order of their places.
func (s *stringStore) sorted() iter.Seq[[]uint64] {
	// This is a counting sort by bucket: filling a bucket moves its end down to its start.
	ends := make([]int, s.buckets)
	for _, e := range s.entries {
		ends[s.bucket(e.hash)]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	all := make([]uint64, len(s.entries))
	for i, e := range s.entries {
		b := s.bucket(e.hash)
		ends[b]--
		all[ends[b]] = uint64(e.hash)<<32 | uint64(i)
	}
	return func(yield func([]uint64) bool) {
		for i, start := range ends {
			end := len(all)
			if i+1 < len(ends) {
				end = ends[i+1]
			}
			bucket := all[start:end]
			slices.Sort(bucket)
			if !yield(bucket) {
				return
			}
		}
	}
}

// bucket returns the number of the bucket for a hash.
func (s *stringStore) bucket(hash uint32) uint32 { return (hash ^ hash>>16) % s.buckets }
