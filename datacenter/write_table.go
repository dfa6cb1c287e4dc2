package datacenter

// table finds things by their hash: open addressing, in slots of 8 bytes that
// hold no pointer. Maps of what a real file has, a million runs and a million
// strings, would take thrice the memory and be what most of the time is spent
// on. Hashes must be seeded at random, or a file could be made whose things all
// come to lie together. What is found does not depend on the seed.
type table struct {
	slots []slot // a power of two, so that a hash is masked
	used  int
}

// slot is one thing. What its ref and its tag mean is up to who adds it; the tag
// spares looking at things that cannot be the one.
type slot struct {
	next uint32 // one more than ref; 0 is a slot that is free
	tag  uint32
}

func (s slot) ref() uint32 { return s.next - 1 }

// minSlots is what a table begins with.
const minSlots = 64

// reserve makes room for n things, of which there are none yet.
func (t *table) reserve(n int) {
	size := minSlots
	for !roomy(n, size) {
		size *= 2
	}
	t.slots = make([]slot, size)
}

// roomy tells whether n things may share size slots: a quarter stays free, so
// that the next free slot is never far.
func roomy(n, size int) bool { return n <= size/4*3 }

// find gives the ref of the thing of this hash and tag that is the same.
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

// add adds a thing that is not in the table, whose ref is below 1<<32-1. hashOf
// gives the hash of one that is, if the table has to grow.
func (t *table) add(hash uint64, tag, ref uint32, hashOf func(s slot) uint64) {
	if !roomy(t.used+1, len(t.slots)) {
		old := t.slots
		t.reserve(max(minSlots, len(old))) // which needs twice as many slots
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
