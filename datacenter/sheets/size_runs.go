package sheets

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
)

// runKey is a stored run of children at a place in the schema. The text of such a run is
// always the same, except for its indentation.
type runKey struct {
	elem int
	run  datacenter.Run
}

// runSize is the size of the text of a run without the indentation that its lines share, and
// the number of lines.
type runSize struct {
	bytes, lines int64
	found        findings
}

// at returns the size at a depth.
func (s runSize) at(depth int) int64 {
	return s.bytes + s.lines*int64(depth*len(indentation))
}

// minKnown is the smallest size of a run that is kept. Smaller runs are encoded as fast as
// looked up.
const minKnown = 4 << 10

// runSizes are the sizes of the long runs, sorted by their keys.
type runSizes struct{ runs []knownRun }

type knownRun struct {
	first, elem  uint32
	count        uint16
	found        findings
	bytes, lines int64
}

// newRunSizes returns the sizes of the long runs in a memo.
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

// body returns the size of the children of a node, if it is known.
func (r *runSizes) body(el *element, n datacenter.Node, depth int) (int64, bool) {
	s, ok := r.get(runKey{el.id, n.ChildRun()})
	return s.at(depth), ok
}
