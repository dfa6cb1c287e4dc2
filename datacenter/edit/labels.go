package edit

import (
	"cmp"
	"slices"
	"sort"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/siblings"
)

// labels translate the numbers of a Draft, its labels, to numbers of the base. The two
// differ once the base is newer than the first file. A label never changes, so others, such
// as the inodes of a mount, can rely on it as long as the Draft lives. The numbers of a
// file follow the file's order.
//
//	labels    0      1 ── 40  41 ─ 50  51 ────── 90    MaxEntries+1
//	          │      │         gone      │               │ was made
//	numbers   0      1 ── 40           41 ────── 80      81
//	runs      └───────┴──────┘           └───────┘       └──┘
//
// In each run, labels and numbers ascend together. There are few runs, since an unedited
// node is in one run with its whole subtree. Before the first save there is no run at all,
// and each number is its label. A label in no run belongs to an entry that was made since
// the base: records use the label as its number.
type labels struct {
	runs []labelRun
	// names has the Draft's name indexes by the base's.
	names []uint16
	// sorted finds the children that the base has in another order than the first file. It
	// is nil if there are none.
	sorted *siblings.SiblingOrder
	// again has the labels of removed nodes that were made again since the base, by the labels that
	// they got. What is removed once more stays here, since a Snapshot may have it. The Draft's mu
	// guards it.
	again map[Number]Number
}

// labelRun is a run of labels. If the labels are sorted, it covers one node of the first
// file, at home, and its subtree. The base may have the subtree in another order.
type labelRun struct {
	label, number, count Number
	home                 datacenter.Address
}

// add adds a run.
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

// index sorts the runs for searching.
func (l *labels) index() {
	slices.SortFunc(l.runs, func(x, y labelRun) int { return cmp.Compare(x.label, y.label) })
}

// number returns the number of a node in the base of d. It is the label for a node that was
// made since.
func (l *labels) number(d *Draft, label Number) (Number, error) {
	n, ok, err := l.find(d, label)
	if err == nil && !ok {
		n = label
	}
	return n, err
}

// find is number for a node that the base may have. If it is a removed node made again, the base
// has it by the label that it had before.
func (l *labels) find(d *Draft, label Number) (n Number, ok bool, err error) {
	n, ok, err = l.own(d, label)
	if ok || err != nil {
		return n, ok, err
	}
	d.mu.RLock()
	was, again := l.again[label]
	d.mu.RUnlock()
	if !again {
		return 0, false, nil
	}
	return l.find(d, was)
}

// own is find for a node that the base has by this label.
func (l *labels) own(d *Draft, label Number) (n Number, ok bool, err error) {
	if len(l.runs) == 0 && label <= datacenter.MaxEntries {
		return label, int64(label) < entriesOf(d.first), nil
	}
	i := sort.Search(len(l.runs), func(i int) bool { return l.runs[i].label > label }) - 1
	if i < 0 || label-l.runs[i].label >= l.runs[i].count {
		return 0, false, nil
	}
	run := &l.runs[i]
	if l.sorted == nil || run.label == label {
		return run.number + (label - run.label), true, nil
	}
	n, err = l.below(d.first, run, label)
	return n, true, err
}

// below returns the number of a node below the node of a run.
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

// order returns the places of the children of an unedited node of the first file, in the
// order of the base. It leaves out placeholders.
func (l *labels) order(home datacenter.Node) ([]int, error) {
	var children []datacenter.Node
	for c, err := range home.Children() {
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	if l.sorted != nil {
		s := *l.sorted // others may sort at the same time
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
