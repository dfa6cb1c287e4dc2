package identity

import "lorefs/datacenter/internal/align"

const idName = "id"

// Siblings are the children of a node that have one name, in their order.
type Siblings[N any] struct {
	Contents *Contents[N]
	Nodes    []N
}

// Match finds out which node of q belongs to each node of p. to has the places in q of nodes
// that are already matched, or align.None; Match sets the others. Nodes without a match keep
// align.None.
//
// Nodes with equal keys match; if several have the same keys, the first matches the first.
// Without keys, nodes with an equal id match, if all nodes have an id and no two on one side
// have the same. A node that has keys or an id, but no match, stays without one. Otherwise
// these match: first a longest common subsequence of equal nodes, then equal nodes that
// moved, then nodes with equal values of the attributes that distinguish them from all that
// are left, then nodes in the same place among those that are left.
func Match[N any](p, q Siblings[N], keys []string, to []int32) error {
	m := matcher[N]{p: p, q: q, to: to}
	m.rest()
	if m.over() {
		return nil
	}
	if len(keys) > 0 {
		x, y, _, err := m.values(keys)
		if err == nil {
			m.match(align.InTurn, x, y)
		}
		return err
	}
	x, y, all, err := m.values([]string{idName})
	if err != nil {
		return err
	}
	if all && distinct(x, m.xs) && distinct(y, m.ys) {
		m.match(align.InTurn, x, y)
		return nil
	}
	if len(m.xs)+len(m.ys) == 2 && align.FillGaps(to, len(q.Nodes)) > 0 {
		return nil
	}
	if err := m.byContent(); err != nil {
		return err
	}
	if err := m.byAttributes(); err != nil {
		return err
	}
	align.FillGaps(to, len(q.Nodes))
	return nil
}

// matcher is the state of a Match. xs and ys are the places of nodes without a match. Slices
// of hashes have one for each place.
type matcher[N any] struct {
	p, q   Siblings[N]
	to     []int32
	xs, ys []int32
}

// rest collects the nodes without a match.
func (m *matcher[N]) rest() {
	m.xs, m.ys = nil, nil
	taken := make([]bool, len(m.q.Nodes))
	for i, j := range m.to {
		if j == align.None {
			m.xs = append(m.xs, int32(i))
		} else {
			taken[j] = true
		}
	}
	for j := range taken {
		if !taken[j] {
			m.ys = append(m.ys, int32(j))
		}
	}
}

// over reports whether no more nodes can match.
func (m *matcher[N]) over() bool { return len(m.xs) == 0 || len(m.ys) == 0 }

// match matches nodes that are left by their hashes.
func (m *matcher[N]) match(by func(x, y []uint64, to []int32), x, y []uint64) {
	to := make([]int32, len(m.xs))
	for i := range to {
		to[i] = align.None
	}
	by(pick(x, m.xs), pick(y, m.ys), to)
	for i, j := range to {
		if j != align.None {
			m.to[m.xs[i]] = m.ys[j]
		}
	}
	m.rest()
}

func pick[T any](all []T, places []int32) []T {
	list := make([]T, len(places))
	for i, at := range places {
		list[i] = all[at]
	}
	return list
}

// hashes returns a hash for each of some places.
func (s *Siblings[N]) hashes(places []int32, hash func(n N) (uint64, error)) ([]uint64, error) {
	list := make([]uint64, len(s.Nodes))
	for _, at := range places {
		var err error
		if list[at], err = hash(s.Nodes[at]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// values returns hashes of the attributes with some names, of the nodes that are left. all
// reports whether all nodes have all of these attributes.
func (m *matcher[N]) values(names []string) (x, y []uint64, all bool, err error) {
	all = true
	of := func(s *Siblings[N]) func(n N) (uint64, error) {
		return func(n N) (uint64, error) {
			h, has, err := HashValues(s.Contents.tree, n, names)
			all = all && has
			return h, err
		}
	}
	if x, err = m.p.hashes(m.xs, of(&m.p)); err != nil {
		return nil, nil, false, err
	}
	y, err = m.q.hashes(m.ys, of(&m.q))
	return x, y, all, err
}

// byContent matches equal nodes: first those in the same order, then those that moved. If
// the sides differ too much for that, it matches nodes that occur once on either side.
func (m *matcher[N]) byContent() error {
	x, err := m.p.hashes(m.xs, m.p.Contents.Hash)
	if err != nil {
		return err
	}
	y, err := m.q.hashes(m.ys, m.q.Contents.Hash)
	if err != nil {
		return err
	}
	few := false
	m.match(func(x, y []uint64, to []int32) {
		if few = align.Subsequence(x, y, to); !few {
			align.Unique(x, y, to)
		}
	}, x, y)
	if few {
		m.match(align.InTurn, x, y)
	}
	return nil
}

// byAttributes matches nodes by the attributes that distinguish those that are left. It
// ignores attributes whose names do not say that they identify nodes, since another value of
// these is an edit.
func (m *matcher[N]) byAttributes() error {
	if m.over() {
		return nil
	}
	xs, ys := m.xs, m.ys
	t := table{room: &room{}, count: len(xs) + len(ys), rows: &twoRows{ // for which all spellings of a value are equal
		first: &treeRows[N]{tree: m.p.Contents.tree, nodes: pick(m.p.Nodes, xs), hashOf: hashValue}, count: len(xs),
		then: &treeRows[N]{tree: m.q.Contents.tree, nodes: pick(m.q.Nodes, ys), hashOf: hashValue},
	}}
	differing, err := t.survey(nil, rankOther-1)
	if err == nil {
		err = t.fill(differing)
	}
	if err != nil {
		return err
	}
	x, y := make([]uint64, len(m.p.Nodes)), make([]uint64, len(m.q.Nodes))
	hashes := make([]uint64, t.count)
	for set := range t.sets() {
		t.hash(set, hashes)
		for row, h := range hashes {
			if h == 0 { // two nodes that lack an attribute don't match by it
				h = golden * uint64(row+1)
			}
			if row < len(xs) {
				x[xs[row]] = h
			} else {
				y[ys[row-len(xs)]] = h
			}
		}
		if m.match(align.Unique, x, y); m.over() {
			break
		}
	}
	return nil
}

func distinct(hashes []uint64, places []int32) bool {
	seen := make(map[uint64]struct{}, len(places))
	for _, at := range places {
		seen[hashes[at]] = struct{}{}
	}
	return len(seen) == len(places)
}
