package identity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
)

// PathTree is a Tree of which all is known, so that its nodes have paths.
type PathTree[N any] interface {
	Tree[N]
	Keys(n N) datacenter.KeyDefinition
	Flags(n N) datacenter.KeyFlags
}

// Step leads from a node to one of its children, which is called Name and has Place others
// of that name before it.
type Step struct {
	Name  string
	Place int
	// Changing are attributes that are about to get other values. Of the sets of
	// attributes that are no keys, none with one of them is in the path.
	Changing []string
}

// Place is a step that leads to a node by its place, since nothing else tells it from its
// siblings.
type Place struct {
	// Step is how many steps there are before it, N the place from 1 on, and Of how many
	// siblings there are.
	Step, N, Of int
	// Group, Self, Before and After are hashes of all the siblings, of the node, and of
	// those beside it, 0 if there is none. They tell whether the place is still the node's.
	Group, Self, Before, After uint64
}

// ErrNoNode means that steps lead to no node.
var ErrNoNode = errors.New("no such node")

// Paths finds paths of the nodes of a tree, as expressions for package query, each of which
// finds that node alone. It is for one goroutine, and for as long as the tree doesn't change.
//
// A step has the keys and the id of its node also where the node is alone of its name, so
// that the path goes on to find it when others come. A sheet is never told by its place:
// sheets that nothing tells apart count as one, whose children have to be told apart
// together. Only the path of such a sheet itself ends with a place.
type Paths[N any] struct {
	tree   PathTree[N]
	root   N
	groups map[groupKey]*group[N]
	rows   int // of all groups
	exact  *Contents[N]
}

// maxRows bounds the nodes in the groups that Paths remembers.
const maxRows = 1 << 20

// NewPaths makes one for a tree below a root, whose children are the sheets.
func NewPaths[N any](tree PathTree[N], root N) *Paths[N] {
	return &Paths[N]{tree: tree, root: root, groups: map[groupKey]*group[N]{}, exact: NewExactContents(tree)}
}

// groupKey says which siblings are in a group: the children of a name of a stored run, or
// those of the nodes that an expression finds.
type groupKey struct {
	run        datacenter.Run
	expr, name string
}

// Find finds the path of the node that steps lead to from the root.
func (p *Paths[N]) Find(steps []Step) (expr string, places []Place, err error) {
	if len(steps) == 0 {
		return "", nil, errors.New("the root has no path")
	}
	var path []byte
	parents, above := []N{p.root}, 0 // the node above is parents[above]
	for i := range steps {
		step := &steps[i]
		g, err := p.group(parents, string(path), step.Name, i == 0)
		if err != nil {
			return "", nil, err
		}
		if step.Place < 0 || step.Place >= g.first[above+1]-g.first[above] {
			return "", nil, fmt.Errorf("%w: %s, number %d of %s", ErrNoNode, step.Name, step.Place, path)
		}
		row := g.first[above] + step.Place
		predicate, same, err := g.predicate(p.tree, row, step.Changing)
		if err != nil {
			return "", nil, err
		}
		path = append(path, '/')
		path = query.AppendName(path, step.Name)
		path = append(path, predicate...)
		merged := i == 0 && len(steps) > 1
		if len(same) > 1 && !merged {
			place, err := p.place(g, row, same)
			if err != nil {
				return "", nil, err
			}
			place.Step = i
			places = append(places, place)
			path = appendPlace(path, place.N, len(parents) > 1)
			same = []int32{int32(row)}
		}
		parents = parents[:0:0]
		for at, other := range same {
			parents = append(parents, g.nodes[other])
			if int(other) == row {
				above = at
			}
		}
	}
	return string(path), places, nil
}

// appendPlace adds a place to a path: among the children of one node or, as of sheets that
// count as one, among all.
func appendPlace(path []byte, n int, ofAll bool) []byte {
	if ofAll {
		path = slices.Concat([]byte("("), path, []byte(")"))
	}
	path = append(path, '[')
	path = strconv.AppendInt(path, int64(n), 10)
	return append(path, ']')
}

// place describes the place of a row among those that nothing tells it from.
func (p *Paths[N]) place(g *group[N], row int, same []int32) (Place, error) {
	n, _ := slices.BinarySearch(same, int32(row))
	place := Place{N: n + 1, Of: len(same)}
	hash := func(at int) (h uint64, err error) {
		if at >= 0 && at < len(same) {
			h, err = p.exact.Hash(g.nodes[same[at]])
		}
		return h, err
	}
	var err [4]error
	place.Self, err[0] = hash(n)
	place.Before, err[1] = hash(n - 1)
	place.After, err[2] = hash(n + 1)
	place.Group, err[3] = p.groupHash(g, same)
	return place, errors.Join(err[:]...)
}

// groupHash is the hash of rows in their order. It is remembered by where the list of the
// rows is, which a group keeps.
func (p *Paths[N]) groupHash(g *group[N], same []int32) (sum uint64, err error) {
	if h, ok := g.hashes[&same[0]]; ok {
		return h, nil
	}
	sum, err = p.exact.Group(func(yield func(N) bool) {
		for _, row := range same {
			if !yield(g.nodes[row]) {
				return
			}
		}
	})
	if err == nil {
		g.hashes[&same[0]] = sum
	}
	return sum, err
}

// group gives the children of a name that some nodes have together.
func (p *Paths[N]) group(parents []N, expr, name string, sheets bool) (*group[N], error) {
	key := groupKey{expr: expr, name: name}
	if len(parents) == 1 {
		if run, ok := p.tree.Run(parents[0]); ok {
			key.run, key.expr = run, ""
		}
	}
	if g := p.groups[key]; g != nil {
		return g, nil
	}
	g := &group[N]{first: []int{0}, sheets: sheets, same: map[int32][]int32{}, hashes: map[*int32]uint64{}}
	for _, n := range parents {
		err := p.tree.Children(n, func(of string, child N) {
			if of == name {
				g.nodes = append(g.nodes, child)
			}
		})
		if err != nil {
			return nil, err
		}
		g.first = append(g.first, len(g.nodes))
	}
	if p.rows += len(g.nodes); p.rows > maxRows {
		clear(p.groups)
		p.rows = len(g.nodes)
	}
	p.groups[key] = g
	return g, g.tell(p.tree)
}
