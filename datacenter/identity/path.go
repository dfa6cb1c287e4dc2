package identity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
)

// PathTree is a Tree of which all is known, so that its nodes have paths.
type PathTree[N any] interface {
	Tree[N]
	Keys(n N) datacenter.KeyDefinition
	Flags(n N) datacenter.KeyFlags
}

// Step leads from a node to a child with this Name, which has Place siblings of that name
// before it.
type Step struct {
	Name  string
	Place int
	// Changing are attributes that are about to change. No set with one of them is used in
	// the path, unless it is the keys or an id.
	Changing []string
}

var (
	// ErrNoNode means that steps lead to no node.
	ErrNoNode = errors.New("no such node")
	// ErrTooMany means that sheets which count as one have too many children of one name.
	ErrTooMany = errors.New("too many nodes to tell apart")
)

// Paths finds paths of the nodes of a tree: expressions for package query that find one node
// only. It is not safe for parallel use, and the tree must not change.
//
// A step uses the keys or the id of its node even if the node has no siblings, so that it
// still finds the node when others are added. A sheet is not found by its place: sheets that
// nothing distinguishes count as one, and their children are distinguished together. Only
// the path of such a sheet itself ends with a place.
type Paths[N any] struct {
	tree   PathTree[N]
	root   N
	groups map[groupKey]*group[N]
	rows   int // in all groups
	room   room
	list   []N // room for the children of some nodes
	// walked are the steps of the last path.
	walked []walked[N]
}

// maxRows is the largest number of nodes in a group, and in all groups that Paths keeps.
const maxRows = 1 << 20

// NewPaths returns a Paths for a tree below a root, whose children are the sheets.
func NewPaths[N any](tree PathTree[N], root N) *Paths[N] {
	return &Paths[N]{tree: tree, root: root, groups: map[groupKey]*group[N]{}}
}

// groupKey identifies a group: the children with a name of a stored run, or of all nodes
// that an expression finds, told apart without some attributes.
type groupKey struct {
	run                 datacenter.Run
	expr, name, without string
}

// Find returns the path of the node that steps lead to from the root. It goes on from where the last
// path and this one part.
func (p *Paths[N]) Find(steps []Step) (expr string, err error) {
	if len(steps) == 0 {
		return "", errors.New("the root has no path")
	}
	for i := range steps {
		merged := i == 0 && len(steps) > 1
		if i < len(p.walked) && p.walked[i].by(&steps[i], merged) {
			continue
		}
		p.walked = p.walked[:min(i, len(p.walked))]
		if err := p.walk(&steps[i], merged); err != nil {
			return "", err
		}
	}
	return string(p.walked[len(steps)-1].path), nil
}

// walked is a step that was followed.
type walked[N any] struct {
	name     string
	place    int
	changing []string
	// merged means that all rows will do from which nothing distinguishes that of the node.
	merged bool
	// group and row are those of the node, same the rows that the predicate of the step finds, and
	// path the path up to here.
	group *group[N]
	row   int
	path  []byte
	// rows are those of the next step's parents, of which one at a place is the node.
	rows []int32
	at   int
}

// by reports whether a step was followed.
func (w *walked[N]) by(s *Step, merged bool) bool {
	return w.place == s.Place && w.name == s.Name && w.merged == merged && slices.Equal(w.changing, s.Changing)
}

// walk follows a step from the last one that was followed.
func (p *Paths[N]) walk(step *Step, merged bool) error {
	above, at, path := parents[N]{nodes: []N{p.root}, rows: []int32{0}}, 0, []byte(nil)
	sheets := len(p.walked) == 0
	if !sheets {
		last := &p.walked[len(p.walked)-1]
		above, at, path = parents[N]{last.group.nodes, last.rows}, last.at, last.path
	}
	g, err := p.group(&above, at, path, step, sheets)
	if err != nil {
		return err
	}
	w := walked[N]{
		name: step.Name, place: step.Place, changing: slices.Clone(step.Changing), merged: merged,
		group: g, row: g.first[at] + step.Place,
	}
	predicate, same, err := g.predicate(p.tree, &p.room, w.row)
	if err != nil {
		return err
	}
	w.path = append(slices.Clip(path), '/')
	w.path = query.AppendName(w.path, step.Name)
	w.path = append(w.path, predicate...)
	w.at, _ = slices.BinarySearch(same, int32(w.row))
	w.rows = same
	if len(same) > 1 && !merged {
		w.path = appendPlace(w.path, w.at+1, len(above.rows) > 1)
		w.rows, w.at = same[w.at:w.at+1], 0
	}
	p.walked = append(p.walked, w)
	return nil
}

// appendPlace appends a place to a path: among the children of one node or, for sheets that
// count as one, among the children of all.
func appendPlace(path []byte, n int, ofAll bool) []byte {
	if ofAll {
		path = slices.Concat([]byte("("), path, []byte(")"))
	}
	path = append(path, '[')
	path = strconv.AppendInt(path, int64(n), 10)
	return append(path, ']')
}

// parents are some rows of nodes.
type parents[N any] struct {
	nodes []N
	rows  []int32
}

// group returns the children with a step's name that all parents have together, told apart
// without what is about to change. The step leads from the parent at a place among them, and path
// finds all of them.
func (p *Paths[N]) group(above *parents[N], at int, path []byte, step *Step, sheets bool) (*group[N], error) {
	key, one := groupKey{name: step.Name}, false
	if len(above.rows) == 1 {
		key.run, one = p.tree.Run(above.nodes[above.rows[0]])
	}
	if !one {
		key.run, key.expr = datacenter.Run{}, string(path)
	}
	g := p.groups[key]
	if g == nil {
		nodes, first, err := p.children(above, step.Name)
		if err == nil {
			g, err = newGroup(p.tree, &p.room, nodes, first, sheets)
		}
		if err != nil {
			return nil, err
		}
		p.keep(key, g)
	}
	if step.Place < 0 || step.Place >= g.first[at+1]-g.first[at] {
		return nil, fmt.Errorf("%w: %s, number %d of %s", ErrNoNode, step.Name, step.Place, path)
	}
	if !g.goesBy(g.first[at]+step.Place, step.Changing) {
		return g, nil
	}
	key.without = strings.Join(step.Changing, "\x00")
	other := p.groups[key]
	if other == nil {
		var err error
		if other, err = g.without(p.tree, &p.room, step.Changing); err != nil {
			return nil, err
		}
		p.keep(key, other)
	}
	return other, nil
}

// children returns the children with a name of some nodes. first has the place of the first one
// of each node, and then the number of all.
func (p *Paths[N]) children(above *parents[N], name string) (_ []N, first []int, err error) {
	nodes := p.list[:0]
	first = make([]int, 1, len(above.rows)+1)
	for _, row := range above.rows {
		if nodes, err = appendNamed[N](nodes, p.tree, above.nodes[row], name); err != nil {
			return nil, nil, err
		}
		if len(nodes) > maxRows {
			return nil, nil, fmt.Errorf("%w: more than %d called %s", ErrTooMany, maxRows, name)
		}
		first = append(first, len(nodes))
	}
	if p.list = nodes; cap(nodes) > maxRoom {
		p.list = nil
	}
	return slices.Clone(nodes), first, nil
}

// keep remembers a group, and forgets all others if they have too many rows.
func (p *Paths[N]) keep(key groupKey, g *group[N]) {
	if p.rows += len(g.nodes); p.rows > maxRows {
		clear(p.groups)
		p.rows = len(g.nodes)
	}
	p.groups[key] = g
}
