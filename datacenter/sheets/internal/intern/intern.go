// Package intern keeps byte strings once each, in few large pieces of memory. With a map in its place packing
// all sheets takes 1.2 times as long.
package intern

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// Table keeps byte strings. Each belongs to a group: two strings are the same only if their
// groups are. A string is known by its place, which is never 0. Beside it lie [NoteSize] bytes
// for its user, at first zero. A table has few pointers, however many strings it keeps. The zero
// value is empty. It is for one goroutine.
type Table struct {
	seed maphash.Seed
	// slots are a hash table with open addressing, a power of two in size. A quarter stays
	// free.
	slots []slot
	kept  Arena
	len   int
	size  int
}

// slot refers to a string. Its hash saves looking at most of the others, and at all of them
// when the table grows.
type slot struct {
	at   uint32 // the place of the string; 0 means that the slot is free
	hash uint32
}

// Before each string there are its length, its group, and its note.
const (
	NoteSize = 4
	headSize = 4 + 4 + NoteSize
)

// MaxString is the length of the longest string.
const MaxString = MaxSize - headSize

const minSlots = 64

// Find returns the place of a string, if the table has it.
func (t *Table) Find(group uint32, s []byte) (at uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	at, _, ok = t.find(group, s, t.hash(group, s))
	return at, ok
}

// Add returns the place of a string, which it keeps if it is new.
func (t *Table) Add(group uint32, s []byte) (at uint32, isNew bool) {
	if t.len+1 > len(t.slots)/4*3 {
		t.grow()
	}
	hash := t.hash(group, s)
	at, free, ok := t.find(group, s, hash)
	if ok {
		return at, false
	}
	at = t.keep(group, s)
	t.slots[free] = slot{at, hash}
	t.len++
	t.size += len(s)
	return at, true
}

// At returns a string by its place.
func (t *Table) At(at uint32) []byte {
	b := t.kept.At(at - headSize/wordSize)
	n := headSize + int(binary.LittleEndian.Uint32(b))
	return b[headSize:n:n]
}

// Note returns what lies beside a string, by its place.
func (t *Table) Note(at uint32) []byte { return t.kept.At(at - NoteSize/wordSize)[:NoteSize] }

// Next returns the place of the string that was added first of those that End allows for, and where
// to ask for the one behind it: there were none when [Table.End] returned that.
func (t *Table) Next(from uint32) (at, behind uint32) {
	from, _ = t.kept.Next(from)
	at = from + headSize/wordSize
	return at, at + uint32(len(t.At(at))+wordSize-1)/wordSize
}

// End returns where Next would find the next string that is added.
func (t *Table) End() uint32 { return t.kept.End() }

// Len returns how many strings there are.
func (t *Table) Len() int { return t.len }

// Size returns how many bytes the strings have.
func (t *Table) Size() int { return t.size }

// Close frees the memory that is needed only to find strings. What was added can still be
// read by its place. Nothing may be added.
func (t *Table) Close() { t.slots = nil }

// Forget frees memory of strings that were added before the one at a place. They must not be read any
// more, and nothing may be added.
func (t *Table) Forget(at uint32) { t.kept.Forget(at) }

// Reset forgets all strings.
func (t *Table) Reset() {
	clear(t.slots)
	t.kept.Reset()
	t.len, t.size = 0, 0
}

func (t *Table) hash(group uint32, s []byte) uint32 {
	const mix = 0x9e3779b97f4a7c15 // spreads the groups
	return uint32((maphash.Bytes(t.seed, s) ^ uint64(group)*mix) >> 32)
}

// find returns the place of a string, or the free slot for it.
func (t *Table) find(group uint32, s []byte, hash uint32) (at uint32, free int, ok bool) {
	mask := len(t.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot.at == 0 {
			return 0, i, false
		}
		if slot.hash == hash && t.is(slot.at, group, s) {
			return slot.at, i, true
		}
	}
}

// is reports whether a string lies at a place.
func (t *Table) is(at, group uint32, s []byte) bool {
	b := t.kept.At(at - headSize/wordSize)
	return int(binary.LittleEndian.Uint32(b)) == len(s) && binary.LittleEndian.Uint32(b[4:]) == group &&
		bytes.Equal(b[headSize:headSize+len(s)], s)
}

// keep copies a string.
func (t *Table) keep(group uint32, s []byte) (at uint32) {
	head, b := t.kept.Add(headSize + len(s))
	binary.LittleEndian.PutUint32(b, uint32(len(s)))
	binary.LittleEndian.PutUint32(b[4:], group)
	clear(b[headSize-NoteSize : headSize])
	copy(b[headSize:], s)
	return head + headSize/wordSize
}

// grow doubles the number of slots.
func (t *Table) grow() {
	if len(t.slots) == 0 {
		t.seed = maphash.MakeSeed()
	}
	old := t.slots
	t.slots = make([]slot, max(minSlots, 2*len(old)))
	mask := len(t.slots) - 1
	for _, s := range old {
		if s.at == 0 {
			continue
		}
		i := int(s.hash) & mask
		for t.slots[i].at > 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}
