package query

import "lorefs/datacenter"

// maxMemos is how many sets of steps have memos in an evaluation of a query.
const maxMemos = 8

// memo remembers which stored runs of children have no match for a set of steps, in them or
// below. That depends on nothing else: predicates look downward, and positions are those
// within the run.
type memo struct {
	set stepSet
	// counts has, at the place of the first node of such a run, its number of nodes, since
	// several runs may begin at one place. Only the last one noted is remembered.
	counts []uint16
}

// barren reports whether a run is known to have no match.
func (s *searcher) barren(run datacenter.Run, set stepSet) bool {
	for i := range s.memo {
		if s.memo[i].set == set {
			return s.memo[i].counts[run.First] == run.Count
		}
	}
	return false
}

// noteBarren notes that a run has no match.
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
