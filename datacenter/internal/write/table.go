package write

// table is a hash table with open addressing. Its slots have 8 bytes and no pointers. A
// real file has a million runs and a million strings. Maps of them would take three times
// the memory and most of the running time. Hashes must have a random seed: otherwise
// somebody could make a file in which everything collides. The seed does not change what is
// found.
type table struct {
	slots []slot // a power of two, so that a hash is masked
	used  int
	asked uint32 // see ask
}

// slot is one thing in the table. The meaning of ref and tag is up to the caller. A
// different tag saves looking at the thing itself.
type slot struct {
	next uint32 // one more than ref; 0 means that the slot is free
	tag  uint32
}

func (s slot) ref() uint32 { return s.next - 1 }

// minSlots is the initial number of slots.
const minSlots = 64

// reserve makes room for n things. The table must be empty.
func (t *table) reserve(n int) {
	size := minSlots
	for !roomy(n, size) {
		size *= 2
	}
	t.slots = make([]slot, size)
}

// roomy reports whether size slots have room for n things. Half of them stay free, so that
// the next free slot is always near.
func roomy(n, size int) bool { return n <= size/2 }

// find returns the ref of the thing with this hash and tag for which same returns true.
func (t *table) find(hash uint64, tag uint32, same func(ref uint32) bool) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.next == 0 {
			return 0, false
		}
		if s.tag == tag && same(s.ref()) {
			return s.ref(), true
		}
	}
}

// Ask reads where a thing with this hash would be, and does not wait for it: nothing depends on
// asked. So if it is called for some hashes, one after the other, the processor reads them all
// at once, and find has them in its cache.
func (t *table) Ask(hash uint64) {
	if len(t.slots) > 0 {
		t.asked |= t.slots[hash&uint64(len(t.slots)-1)].next
	}
}

// add adds a thing that is not in the table. ref must be below 1<<32-1. If the table grows,
// it calls hashOf for the hash of each thing in it.
func (t *table) add(hash uint64, tag, ref uint32, hashOf func(s slot) uint64) {
	if !roomy(t.used+1, len(t.slots)) {
		old := t.slots
		t.reserve(max(minSlots, len(old))) // which makes room for twice as many slots
		for _, s := range old {
			if s.next > 0 {
				t.put(hashOf(s), s)
			}
		}
	}
	t.put(hash, slot{ref + 1, tag})
	t.used++
}

func (t *table) put(hash uint64, s slot) {
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i].next > 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}
