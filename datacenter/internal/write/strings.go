package write

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/klauspost/compress/flate"

	"lorefs/datacenter/internal/form"
)

// stringStore lays out a string table. Each string is stored once.
type stringStore struct {
	segmentStore
	buckets uint32
	Entries []StoredString // in the order of their addresses
	// Found finds a string by its units. A ref is a place in entries. A tag is the whole hash, so
	// that the table grows without reading the strings again.
	Found table
	seed  maphash.Seed
}

// StoredString is a string in a stringStore.
type StoredString struct {
	hash  uint32 // hash.String
	Addr  form.Address
	value uint16 // hash.Value
}

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
		segmentStore: segmentStore{deflate: d, size: form.CharSize, group: group},
		buckets:      buckets, seed: maphash.MakeSeed(),
	}
}

// reserve makes room for n strings. The store must be empty.
func (s *stringStore) reserve(n int) {
	s.Entries = make([]StoredString, 0, n)
	s.Found.reserve(n)
}

// add returns the address of the string with these UTF-16 units.
func (s *stringStore) add(units []byte) (form.Address, error) {
	i, err := s.Intern(units)
	if err != nil {
		return form.Address{}, err
	}
	return s.Entries[i].Addr, nil
}

// Intern returns the place in entries of the string with these UTF-16 units.
func (s *stringStore) Intern(units []byte) (uint32, error) {
	return s.InternHashed(units, s.HashOf(units))
}

// InternHashed is intern for units that have this hash.
func (s *stringStore) InternHashed(units []byte, tag uint32) (uint32, error) {
	if i, ok := s.Found.find(uint64(tag), tag, func(i uint32) bool { return bytes.Equal(s.text(i), units) }); ok {
		return i, nil
	}
	text, value, err := form.HashUnits(units)
	if err != nil {
		return 0, err
	}
	e := StoredString{hash: text, value: value}
	if e.Addr, err = s.place(units); err != nil {
		return 0, err
	}
	i := uint32(len(s.Entries))
	s.Entries = append(s.Entries, e)
	s.Found.add(uint64(tag), tag, i, func(of slot) uint64 { return uint64(of.tag) })
	return i, nil
}

// HashOf returns the hash by which a string is found.
func (s *stringStore) HashOf(units []byte) uint32 { return uint32(maphash.Bytes(s.seed, units)) }

// Attribute returns an attribute, without a name, that refers to entry i.
func (s *stringStore) Attribute(i uint32) form.Attribute {
	e := &s.Entries[i]
	return form.StringAttribute(e.Addr, e.value)
}

// Length returns the number of characters of entry i, its NUL included. The next entry
// begins behind them.
func (s *stringStore) length(i uint32) int {
	addr := s.Entries[i].Addr
	end := len(s.segments[addr.Segment]) / form.CharSize
	if next := int(i) + 1; next < len(s.Entries) && s.Entries[next].Addr.Segment == addr.Segment {
		end = int(s.Entries[next].Addr.Element)
	}
	return end - int(addr.Element)
}

// text returns the units of entry i.
func (s *stringStore) text(i uint32) []byte {
	return s.from(s.Entries[i].Addr)[:(s.length(i)-1)*form.CharSize]
}

// at returns the units of the string at addr.
func (s *stringStore) at(addr form.Address) []byte {
	b := s.from(addr)
	return b[:form.NulAt(b)]
}

// place stores a string and its NUL. A string that is longer than a segment gets a segment
// of its own, as novadrop does it.
func (s *stringStore) place(units []byte) (form.Address, error) {
	if len(units)/form.CharSize >= form.MaxString {
		return form.Address{}, fmt.Errorf("datacenter: a string of %d characters: %w", len(units)/form.CharSize, form.ErrTooLarge)
	}
	return s.segmentStore.place(units, []byte{0, 0})
}

// entry returns the written form of entry i.
func (s *stringStore) entry(i uint32) form.StringEntry {
	e := s.Entries[i]
	return form.StringEntry{Hash: e.hash, Length: uint32(s.length(i)), Index: i + 1, Addr: e.Addr}
}

// table returns the written form of the buckets and the addresses.
func (s *stringStore) table() []byte {
	size := int(s.buckets)*4 + 4 + len(s.Entries)*(form.StringSize+form.AddressSize)
	t := make([]byte, 0, size)
	for bucket := range s.sorted() {
		t = binary.LittleEndian.AppendUint32(t, uint32(len(bucket)))
		for _, place := range bucket {
			t = s.entry(uint32(place)).Append(t)
		}
	}
	t = binary.LittleEndian.AppendUint32(t, uint32(len(s.Entries)+1))
	for _, e := range s.Entries {
		t = e.Addr.Append(t)
	}
	return t
}

// writtenTable is the written form of the buckets and addresses: blocks that are being compressed, or
// the content of a table that is compressed with what is around it.
type writtenTable struct {
	blocks  []*deflated
	content []byte
}

// writtenTable makes the written form of the buckets and the addresses. It must be called once, at the end.
func (s *stringStore) writtenTable() (t writtenTable) {
	t.content = s.table()
	if s.deflate == nil {
		return t
	}
	level := s.deflate.level
	if level <= 0 || len(s.Entries) < largeTable*int(s.buckets) {
		return t
	}
	addresses := len(t.content) - len(s.Entries)*form.AddressSize
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
	for _, e := range s.Entries {
		ends[s.bucket(e.hash)]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	all := make([]uint64, len(s.Entries))
	for i, e := range s.Entries {
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
