package casctree

import "sync/atomic"

// locality remembers which files of the table are local, so that a walk which lists a file, looks
// it up and asks for its attributes searches the index for it once. It is safe for parallel use.
type locality struct {
	// updates is storage.Updates before the first search. After an update of the storage there
	// is another locality.
	updates uint64
	// words have two bits for each file: whether it was searched for, and whether it is local.
	words []atomic.Uint32
}

const (
	localityBits = 2
	perWord      = 32 / localityBits

	searched = 1
	local    = 2
)

func newLocality(updates uint64, files int) *locality {
	return &locality{updates: updates, words: make([]atomic.Uint32, (files+perWord-1)/perWord)}
}

// get returns what is known of a file. If nothing is known, it calls find.
func (l *locality) get(i int, find func() bool) bool {
	word, shift := &l.words[i/perWord], i%perWord*localityBits
	known := word.Load() >> shift
	if known&searched == 0 {
		known = searched
		if find() {
			known |= local
		}
		word.Or(known << shift)
	}
	return known&local != 0
}

// local reports whether all data of file i is local.
func (t *Tree) local(i int) bool {
	now := t.localities.Load()
	if updates := t.st.Updates(); now == nil || now.updates != updates {
		now = newLocality(updates, t.table.nFiles)
		t.localities.Store(now)
	}
	return now.get(i, func() bool { return t.isLocal(t.table.entry(i)) })
}
