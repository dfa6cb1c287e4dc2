package dctest

import "math"

// tableEdits are mistakes in one of the two string tables. A reader that finds strings by
// their addresses, and their ends by the NUL, does not notice them.
func tableEdits(name string, table func(*Image) *Table) []edit {
	edits := append(entryEdits(table), placeEdits(table)...)
	for i := range edits {
		edits[i].name = name + ": " + edits[i].name
	}
	return edits
}

// first returns the index of the string that edits break: the first of subject's
// neighbours, which share a bucket.
func first(m *Image, t *Table) int { return m.Index(t, neighbours(2, len(t.Buckets))[0]) }

func second(m *Image, t *Table) int { return m.Index(t, neighbours(2, len(t.Buckets))[1]) }

// sameBucket are bits of a hash that can be flipped without changing its bucket.
const sameBucket = 1<<20 | 1<<4

func entryEdits(table func(*Image) *Table) []edit {
	put := func(field int64, v uint32) func(*Image) {
		return func(m *Image) { m.Put32(m.EntryOffset(table(m), first(m, table(m)))+field, v) }
	}
	return []edit{
		{"wrong hash", "hash is not that of the string", AtVerify, func(m *Image) {
			at := m.EntryOffset(table(m), first(m, table(m))) + EntryHash
			m.Put32(at, m.U32(at)^sameBucket)
		}},
		{"length 0", "length is 0", AtVerify, put(EntryLength, 0)},
		{"length huge", "the string goes beyond the end of its segment", AtVerify, put(EntryLength, math.MaxUint32)},
		{"length into the slack", "the string goes beyond what is in use", AtVerify, put(EntryLength, subjectFull-10)},
		{"length less by one", "no NUL ends the string", AtVerify, func(m *Image) {
			at := m.EntryOffset(table(m), first(m, table(m))) + EntryLength
			m.Put32(at, m.U32(at)-1)
		}},
		{"index 0", "index is 0", AtVerify, put(EntryIndex, 0)},
		{"index out of range", "index is larger than the count of addresses", AtVerify, put(EntryIndex, 60000)},
		{"index negative", "index is larger than the count of addresses", AtVerify, put(EntryIndex, math.MaxUint32)},
		{"string in no segment", "the address of a string has no segment", AtVerify, put(EntryAddress, 9)},
		{"string at no element", "the address of a string has no element", AtVerify, put(EntryAddress, 60000<<16)},
	}
}

func placeEdits(table func(*Image) *Table) []edit {
	return []edit{
		{"wrong bucket", "an entry is not in the bucket of its hash", AtVerify, func(m *Image) { swapBuckets(m, table(m)) }},
		{"bucket not sorted", "the entries of a bucket are not in the order of their hashes", AtVerify, func(m *Image) {
			t := table(m)
			m.swap(m.EntryOffset(t, first(m, t)), m.EntryOffset(t, second(m, t)), EntrySize)
		}},
		{"address differs", "an entry's address is not that at its index", AtVerify, func(m *Image) {
			t := table(m)
			m.swap(t.AddressOffset(first(m, t)), t.AddressOffset(second(m, t)), AddressSize)
		}},
		{"index twice", "two entries have the same index, another index has none", AtVerify, func(m *Image) {
			t := table(m)
			m.Put32(m.EntryOffset(t, first(m, t))+EntryIndex, uint32(second(m, t)))
		}},
		{"address twice", "two entries have the same address", AtVerify, func(m *Image) {
			t := table(m)
			a := m.AddressAt(t.AddressOffset(second(m, t)))
			m.PutAddress(t.AddressOffset(first(m, t)), a)
			m.PutAddress(m.EntryOffset(t, first(m, t))+EntryAddress, a)
		}},
	}
}

// swapBuckets exchanges the entries of two buckets that have one each.
func swapBuckets(m *Image, t *Table) {
	var single []Bucket
	for _, b := range t.Buckets {
		if b.Count == 1 {
			single = append(single, b)
		}
	}
	m.swap(single[0].Entries, single[1].Entries, EntrySize)
}
