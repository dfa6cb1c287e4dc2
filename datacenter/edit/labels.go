package edit

import (
	"cmp"
	"slices"
	"sort"

	"lorefs/datacenter"
)

// labels tell which numbers of the base stand for those of a Draft, its labels. The two
// differ once the Draft has a newer base than the first file: who made something of a
// label, such as the inode of a mount, can rely on it as long as the Draft lives, while
// a file has numbers of its own, in its order.
//
//	labels    0      1 ── 40  41 ─ 50  51 ────── 90    MaxEntries+1
//	          │      │         gone      │               │ was made
//	numbers   0      1 ── 40           41 ────── 80      81
//	runs      └───────┴──────┘           └───────┘       └──┘
//
// Each run is of labels and numbers that ascend together. There are few: what nobody has
// edited is in one run with all below it. None at all means that a number is its label, as
// long as nothing was saved. A label that is in no run is of what was made since the base:
// records give it that number.
type labels struct {
	runs []labelRun
	// names are the Draft's name indexes by the base's.
	names []uint16
	// sorted tells how to find what the base has in another order than the first file:
	// nil if there is nothing.
	sorted *datacenter.SiblingOrder
}

// labelRun is a run of labels. If the labels are sorted, it is of one node of the first
// file, at home, and of all below that: what is below need not be in the same order.
type labelRun struct {
	label, number, count Number
	home                 datacenter.Address
}

// add notes a run.
func (l *labels) add(run labelRun) {
	if i := len(l.runs) - 1; l.sorted == nil && i >= 0 {
		last := &l.runs[i]
		if run.label == last.label+last.count && run.number == last.number+last.count {
			last.count += run.count
			return
		}
	}
	l.runs = append(l.runs, run)
}

// index makes the runs ready to be searched.
func (l *labels) index() {
	slices.SortFunc(l.runs, func(x, y labelRun) int { return cmp.Compare(x.label, y.label) })
}

// number is the number of a node in the base of d.
func (l *labels) number(d *Draft, label Number) (Number, error) {
	i := sort.Search(len(l.runs), func(i int) bool { return l.runs[i].label > label }) - 1
	if i < 0 || label-l.runs[i].label >= l.runs[i].count {
		return label, nil
	}
	run := &l.runs[i]
	if l.sorted == nil || run.label == label {
		return run.number + (label - run.label), nil
	}
	return l.below(d.first, run, label)
}

// below is the number of a node below the one that a run is of.
func (l *labels) below(first *datacenter.File, run *labelRun, label Number) (Number, error) {
	n, err := first.Node(run.home)
	at, number := step{home: n, number: run.label}, run.number
	for err == nil && at.number != label {
		var child step
		if child, err = childHolding(first, at, label); err != nil {
			break
		}
		var order []int
		if order, err = l.order(at.home); err != nil {
			break
		}
		number += 1 + Number(at.home.AttributeCount())
		for _, i := range order {
			if i == child.place {
				break
			}
			number += Number(first.Entries(at.home.ChildAddress(i)))
		}
		at = child
	}
	return number, err
}

// order gives the places of the children of a node of the first file, which nobody has
// edited, in the order of the base. Placeholders have none.
func (l *labels) order(home datacenter.Node) ([]int, error) {
	var children []datacenter.Node
	for c, err := range home.Children() {
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	if l.sorted != nil {
		s := *l.sorted // others may sort meanwhile
		if err := s.Sort(children); err != nil {
			return nil, err
		}
	}
	order := make([]int, len(children))
	for i, c := range children {
		order[i] = home.ChildIndex(c)
	}
	return order, nil
}
