package diff

import (
	"fmt"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/internal/align"
	"lorefs/internal/shown"
)

// SameError means that sheets can't be matched unless both files have all sheets of their names.
type SameError struct{ Names []string }

// Error implements error.
func (e *SameError) Error() string {
	return fmt.Sprintf("equal sheets matter to what differs: %s", shown.Quote(strings.Join(e.Names, ", ")))
}

// sheets returns the sheets that are compared.
func (c *comparer) sheets(x, y datacenter.Node) (xs, ys []child, err error) {
	if xs, err = c.a.children(x, nil); err != nil {
		return nil, nil, err
	}
	if ys, err = c.b.children(y, nil); err != nil {
		return nil, nil, err
	}
	return c.standIn(xs, ys)
}

// standIn removes the sheets of which one file lacks all of the name, because they are alike or the file is a part.
// Where the second file lacks some that are alike, those of the first stand in.
func (c *comparer) standIn(xs, ys []child) (_, _ []child, err error) {
	if len(c.alike) == 0 && c.opts.Parts == (Parts{}) {
		return xs, ys, nil
	}
	var allX, allY []child
	for xs, ys := range byName(xs, ys) {
		name := ""
		if len(xs) > 0 {
			name = xs[0].node.Name()
		} else {
			name = ys[0].node.Name()
		}
		alike := c.alike[name]
		switch {
		case len(alike) == 0 && c.opts.Parts.lack(xs, ys):
			continue
		case len(alike) == 0:
		case len(xs)+len(ys) == len(alike):
			continue
		case len(xs) != len(ys)+len(alike) || alike[len(alike)-1] >= len(xs):
			return nil, nil, fmt.Errorf("BUG: %d and %d sheets %s, of which %d are not compared", len(xs), len(ys), name, len(alike))
		default:
			ys = among(ys, xs, alike)
		}
		allX, allY = append(allX, xs...), append(allY, ys...)
	}
	return allX, allY, nil
}

// among returns sheets with others in the ascending places at.
func among(sheets, others []child, at []int) []child {
	all := make([]child, len(others))
	for i := range all {
		if len(at) > 0 && at[0] == i {
			all[i], at = others[i], at[1:]
			all[i].standIn = true
			continue
		}
		all[i], sheets = sheets[0], sheets[1:]
		all[i].ordinal = i
	}
	return all
}

// settle matches the sheets of the names of which the second file lacks some. It fails for names
// of which one has a match that is not in its own place: then others need to know where the
// missing ones are.
func (c *comparer) settle(a, b *datacenter.File, xs, ys []child) error {
	c.settled = map[uint32][]int32{}
	tree := bothFiles{identity.NewFile(c.ctx), b, uint32(a.Counts().StoredNodes)}
	var moved []string
	s := settler{comparer: c, tree: tree, contents: identity.NewContents(tree)}
	for xs, ys := range byName(xs, ys) {
		if !slices.ContainsFunc(ys, func(y child) bool { return y.standIn }) {
			continue
		}
		to, err := s.name(xs, ys)
		if err != nil {
			return err
		}
		c.settled[xs[0].name] = to
		if !stay(to, ys) {
			moved = append(moved, xs[0].node.Name())
		}
	}
	if len(moved) > 0 {
		return &SameError{moved}
	}
	return nil
}

// stay reports whether no match is in another place, and each sheet that stands in has one.
func stay(to []int32, ys []child) bool {
	for i, j := range to {
		if j != align.None && int(j) != i || j == align.None && ys[i].standIn {
			return false
		}
	}
	return len(to) == len(ys)
}

// settler matches sheets of which some stand in.
type settler struct {
	*comparer
	tree     bothFiles
	contents *identity.Contents[datacenter.Node]
}

// name returns the matches of the sheets of a name, or nil if their order is unknown.
func (s *settler) name(xs, ys []child) ([]int32, error) {
	if inPlace, err := inPlace(xs, ys); err != nil || !inPlace {
		return nil, err
	}
	to := make([]int32, len(xs))
	for i := range to {
		to[i] = int32(i)
	}
	front, back, err := s.ends(xs, ys)
	if err != nil || front == len(xs) {
		return to, err
	}
	middle, err := s.middle(xs[front:len(xs)-back], ys[front:len(ys)-back])
	for i, j := range middle {
		to[front+i] = j
		if j != align.None {
			to[front+i] += int32(front)
		}
	}
	return to, err
}

// inPlace reports whether all sheets of a name would be in the same order if none were missing.
// A writer sorts sheets by the values of their keys. Where these are equal, it keeps their order,
// which only a missing sheet can show.
func inPlace(xs, ys []child) (bool, error) {
	keys := xs[0].node.Keys()
	var last []datacenter.Value
	for i, x := range xs {
		if !slices.Equal(x.node.Keys(), keys) || !slices.Equal(ys[i].node.Keys(), keys) {
			return false, nil
		}
		if len(keys) == 0 {
			continue
		}
		values, err := keyValues(x.node, keys)
		if err != nil {
			return false, err
		}
		if i > 0 {
			order := slices.CompareFunc(last, values, datacenter.Value.Compare)
			if order > 0 || order == 0 && ys[i].standIn != ys[i-1].standIn {
				return false, nil
			}
		}
		last = values
		if values, err = keyValues(ys[i].node, keys); err != nil || slices.CompareFunc(last, values, datacenter.Value.Compare) != 0 {
			return false, err
		}
	}
	return true, nil
}

// keyValues returns the values of the attributes called keys. Those that a node lacks are zero.
func keyValues(n datacenter.Node, keys []string) ([]datacenter.Value, error) {
	values := make([]datacenter.Value, len(keys))
	for a, err := range n.Attributes() {
		if err != nil {
			return nil, err
		}
		if i := slices.Index(keys, a.Name()); i >= 0 {
			if values[i], err = a.Value(); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// middle is name without equal sheets at the ends.
func (s *settler) middle(xs, ys []child) ([]int32, error) {
	p := identity.Siblings[datacenter.Node]{Contents: s.contents, Nodes: nodesOf(xs)}
	q := identity.Siblings[datacenter.Node]{Contents: s.contents, Nodes: nodesOf(ys)}
	to, err := s.apart(p, q, ys)
	if err != nil {
		return nil, err
	}
	return to, s.match(p, q, to)
}

// mostEdits is how many sheets may differ for apart. It is far below the number for which
// package align finds a longest common subsequence.
const mostEdits = 200

// apart matches sheets that stand in with what they stand for, if no sheet that differs can
// have their content. Hashing these would take longer than all else. It matches none where
// that could change the other matches: where keys or ids match sheets, many differ, or sheets
// among the rest are equal.
func (s *settler) apart(p, q identity.Siblings[datacenter.Node], ys []child) ([]int32, error) {
	to := unmatched(len(ys))
	sizes := map[uint32]bool{} // of the sheets that differ: equal content has as many entries
	edits := 0
	for i, y := range ys {
		if !y.standIn {
			sizes[p.Nodes[i].Entries()], sizes[y.node.Entries()] = true, true
			edits++
		}
	}
	byID, err := s.byID(p.Nodes, q.Nodes)
	if err != nil || byID || edits == 1 || edits > mostEdits || len(keysOf(p, q)) > 0 {
		return to, err
	}
	var restP, restQ []datacenter.Node
	for i, y := range ys {
		if y.standIn && !sizes[y.node.Entries()] {
			to[i] = int32(i)
			continue
		}
		restP, restQ = append(restP, p.Nodes[i]), append(restQ, q.Nodes[i])
	}
	for _, rest := range [][]datacenter.Node{restP, restQ} {
		if all, err := distinct(rest, s.contents.Hash); err != nil || !all {
			return unmatched(len(ys)), err
		}
	}
	// Those that are left must not match by ids either.
	if byID, err = s.byID(restP, restQ); byID {
		return unmatched(len(ys)), err
	}
	return to, err
}

// byID reports whether ids match sheets.
func (s *settler) byID(p, q []datacenter.Node) (bool, error) {
	all := true
	id := func(n datacenter.Node) (uint64, error) {
		h, has, err := identity.HashValues(s.tree, n, []string{"id"})
		all = all && has
		return h, err
	}
	one, err := distinct(p, id)
	if err != nil || !one {
		return false, err
	}
	one, err = distinct(q, id)
	return one && all, err
}

// distinct reports whether all nodes have different hashes.
func distinct(nodes []datacenter.Node, hash func(datacenter.Node) (uint64, error)) (bool, error) {
	seen := make(map[uint64]bool, len(nodes))
	for _, n := range nodes {
		h, err := hash(n)
		if err != nil || seen[h] {
			return false, err
		}
		seen[h] = true
	}
	return true, nil
}

// bothFiles is the Tree of the nodes of two files.
type bothFiles struct {
	nodes *identity.File
	b     *datacenter.File
	// first is the number of b's first stored node behind those of the other file.
	first uint32
}

// Attributes implements [identity.Tree].
func (t bothFiles) Attributes(n datacenter.Node, visit func(name string, typ datacenter.Type, text []byte)) error {
	return t.nodes.Attributes(n, visit)
}

// Named visits the attributes that are called names.
func (t bothFiles) Named(n datacenter.Node, names []string, visit func(name string, typ datacenter.Type, text []byte)) error {
	return t.nodes.Named(n, names, visit)
}

// Children implements [identity.Tree].
func (t bothFiles) Children(n datacenter.Node, visit func(name string, child datacenter.Node)) error {
	return t.nodes.Children(n, visit)
}

// Run implements [identity.Tree].
func (t bothFiles) Run(n datacenter.Node) (run datacenter.Run, stored bool) {
	run = n.ChildRun()
	if run.Count > 0 && n.IsOf(t.b) {
		run.First += t.first
	}
	return run, true
}
