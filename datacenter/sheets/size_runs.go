package sheets

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
)

// runKey is a stored run of children in one place of the schema. The text of such
// is always the same, but for its indentation.
type runKey struct {
	elem int
	run  datacenter.Run
}

// runSize is the size of the text of a run: that of each line without indentation,
// as far as the lines are not below others of the run.
type runSize struct {
	bytes, lines int64
	found        findings
}

// at is the size at a depth.
func (s runSize) at(depth int) int64 {
	return s.bytes + s.lines*int64(depth*len(indentation))
}

// minKnown is the size from which on a run's is kept. What is smaller is made anew
// as fast as it is found.
const minKnown = 4 << 10

// runSizes are the sizes of the runs that are long, by their keys.
type runSizes struct{ runs []knownRun }

type knownRun struct {
	first, elem  uint32
	count        uint16
	found        findings
	bytes, lines int64
}

// newRunSizes takes those of a memo that are long.
func newRunSizes(memo map[runKey]runSize) *runSizes {
	r := &runSizes{}
	for key, s := range memo {
		if s.bytes >= minKnown {
			r.runs = append(r.runs, knownRun{
				first: key.run.First, elem: uint32(key.elem), count: key.run.Count, found: s.found, bytes: s.bytes, lines: s.lines,
			})
		}
	}
	slices.SortFunc(r.runs, compareRuns)
	r.runs = slices.Clip(r.runs)
	return r
}

func compareRuns(a, b knownRun) int {
	return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.elem, b.elem), cmp.Compare(a.count, b.count))
}

func (r *runSizes) get(key runKey) (runSize, bool) {
	if r == nil {
		return runSize{}, false
	}
	want := knownRun{first: key.run.First, elem: uint32(key.elem), count: key.run.Count}
	i, ok := slices.BinarySearchFunc(r.runs, want, compareRuns)
	if !ok {
		return runSize{}, false
	}
	k := &r.runs[i]
	return runSize{bytes: k.bytes, lines: k.lines, found: k.found}, true
}

// body is the size of the children of a node, if it is known.
func (r *runSizes) body(el *element, n datacenter.Node, depth int) (int64, bool) {
	s, ok := r.get(runKey{el.id, n.ChildRun()})
	return s.at(depth), ok
}
