package query

import "lorefs/datacenter"

// maxMemos bounds the sets of steps that a run of a query has memos for.
const maxMemos = 8

// memo remembers which stored runs of children hold nothing that a set of steps
// leads to, neither in them nor below. What is found there depends on nothing
// else: predicates look downward, and positions are those within the run.
type memo struct {
	set stepSet
	// counts is, at the place of the first node of such a run, how many nodes it
	// has. Runs that begin at one place are told apart by that; the last one noted
	// is remembered.
	counts []uint16
}

// barren reports whether it is known that nothing is to be found in a run.
func (s *searcher) barren(run datacenter.Run, set stepSet) bool {
	for i := range s.memo {
		if s.memo[i].set == set {
			return s.memo[i].counts[run.First] == run.Count
		}
	}
	return false
}

// noteBarren notes that nothing is to be found in a run.
func (s *searcher) noteBarren(run datacenter.Run, set stepSet) {
	for i := range s.memo {
		if s.memo[i].set == set {
			s.memo[i].counts[run.First] = run.Count
			return
		}
	}
	if s.memos == 0 {
		return
	}
	s.memos--
	m := memo{set: set, counts: make([]uint16, s.file.Counts().StoredNodes)}
	m.counts[run.First] = run.Count
	s.memo = append(s.memo, m)
}
