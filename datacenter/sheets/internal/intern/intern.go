// Package intern keeps byte strings once each, and gives them numbers.
package intern

import (
	"bytes"
	"hash/maphash"
)

// Table keeps byte strings. Each belongs to a group: two strings are the same only if their
// groups are. It has few pointers, however many strings it keeps. The zero value is empty.
// It is for one goroutine.
//
// Add must not be called after Close, nor for a table for which Keep is called.
type Table struct {
	seed maphash.Seed
	// slots are a hash table with open addressing, a power of two in size. A quarter stays
	// free.
	slots  []slot
	kept   []place // by number
	chunks [][]byte
	size   int
	// forgotten is how many of the first chunks Forget has been through. pinned says which
	// chunks it must leave, as far as it reaches.
	forgotten uint32
	pinned    []bool
}

// slot refers to a string. Its hash saves looking at most of the others, and at all of them
// when the table grows.
type slot struct {
	next uint32 // one more than the number; 0 means that the slot is free
	hash uint32
}

// place is where a string lies.
type place struct {
	group, chunk, from, to uint32
}

const (
	minSlots  = 64
	chunkSize = 1 << 20 // a longer string gets a chunk of its own
)

// Find returns the number of a string, if the table has it.
func (t *Table) Find(group uint32, s []byte) (number uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	number, _, ok = t.find(group, s, t.hash(group, s))
	return number, ok
}

// Add returns the number of a string, which it keeps if it is new. Numbers count from 0.
func (t *Table) Add(group uint32, s []byte) (number uint32, isNew bool) {
	if len(t.kept)+1 > len(t.slots)/4*3 {
		t.grow()
	}
	hash := t.hash(group, s)
	number, free, ok := t.find(group, s, hash)
	if ok {
		return number, false
	}
	number = uint32(len(t.kept))
	t.slots[free] = slot{number + 1, hash}
	t.kept = append(t.kept, t.keep(group, s))
	return number, true
}

// Keep keeps a string, whether the table has it or not, and returns its number.
func (t *Table) Keep(group uint32, s []byte) (number uint32) {
	t.kept = append(t.kept, t.keep(group, s))
	return uint32(len(t.kept) - 1)
}

// At returns a string by its number. It must not be changed.
func (t *Table) At(number uint32) []byte {
	p := t.kept[number]
	return t.chunks[p.chunk][p.from:p.to]
}

// Group returns the group of a string.
func (t *Table) Group(number uint32) uint32 { return t.kept[number].group }

// Len returns how many strings there are.
func (t *Table) Len() int { return len(t.kept) }

// Size returns how many bytes the strings have.
func (t *Table) Size() int { return t.size }

// Close frees the memory that is needed only to find strings. What was added can still be
// read by its number.
func (t *Table) Close() { t.slots = nil }

// Pin keeps a string that has been added from being forgotten by Forget.
func (t *Table) Pin(number uint32) {
	if t.pinned == nil {
		t.pinned = make([]bool, len(t.chunks))
	}
	t.pinned[t.kept[number].chunk] = true
}

// Forget allows to free the first n strings, but for those that are pinned. They must not be
// read any more. It must be called after Close, and Pin before it.
func (t *Table) Forget(n uint32) {
	end := uint32(len(t.chunks))
	if int(n) < len(t.kept) {
		end = t.kept[n].chunk
	}
	for ; t.forgotten < end; t.forgotten++ {
		if t.pinned == nil || !t.pinned[t.forgotten] {
			t.chunks[t.forgotten] = nil
		}
	}
}

// Reset forgets all strings.
func (t *Table) Reset() {
	clear(t.slots)
	t.kept, t.chunks, t.size = t.kept[:0], nil, 0
}

func (t *Table) hash(group uint32, s []byte) uint32 {
	const mix = 0x9e3779b97f4a7c15 // spreads the groups
	return uint32((maphash.Bytes(t.seed, s) ^ uint64(group)*mix) >> 32)
}

// find returns the number of a string, or the free slot for it.
func (t *Table) find(group uint32, s []byte, hash uint32) (number uint32, free int, ok bool) {
	mask := len(t.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		at := t.slots[i]
		if at.next == 0 {
			return 0, i, false
		}
		if n := at.next - 1; at.hash == hash && t.kept[n].group == group && bytes.Equal(t.At(n), s) {
			return n, i, true
		}
	}
}

// keep copies a string.
func (t *Table) keep(group uint32, s []byte) place {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < len(s) {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkSize, len(s))))
		last++
	}
	from := len(t.chunks[last])
	t.chunks[last] = append(t.chunks[last], s...)
	t.size += len(s)
	return place{group, uint32(last), uint32(from), uint32(from + len(s))}
}

// grow doubles the number of slots.
func (t *Table) grow() {
	if len(t.slots) == 0 {
		t.seed = maphash.MakeSeed()
	}
	old := t.slots
	t.slots = make([]slot, max(minSlots, 2*len(old)))
	mask := len(t.slots) - 1
	for _, at := range old {
		if at.next == 0 {
			continue
		}
		i := int(at.hash) & mask
		for t.slots[i].next > 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = at
	}
}
