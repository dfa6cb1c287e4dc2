package dctest

import (
	"math/rand/v2"

	"lorefs/datacenter"
)

// GenOptions are the options of Generate.
type GenOptions struct {
	Layout datacenter.Layout
	// Seed selects a data center: the same options make the same one.
	Seed uint64
	// Sheets is the number of sheets. The default is 100.
	Sheets int
	// Nodes is about the number of nodes, each counted once for each parent. The default is
	// 400 for each sheet, as in official files.
	Nodes int
}

// Generate makes a large data center with the proportions of official ones: depths, counts
// of children and attributes, types, lengths and repetition of strings, and how much of the
// tree is equal to other parts of it. All of its words are made up. Equal parts share their
// Attrs and Children, which must therefore not be changed.
func Generate(o GenOptions) Doc {
	if o.Sheets == 0 {
		o.Sheets = 100
	}
	if o.Nodes == 0 {
		o.Nodes = 400 * o.Sheets
	}
	rng := rand.New(rand.NewPCG(o.Seed, 2))
	g := &generator{rng: rng, words: newWords(rng), values: newValuePool(rng)}
	root := Root()
	for _, s := range g.plan(o) {
		root.Children = append(root.Children, g.sheet(s))
	}
	return Doc{Layout: o.Layout, Revision: 387463, Root: root}
}

type generator struct {
	rng    *rand.Rand
	words  *words
	values *valuePool
}

// plannedSheet is a sheet's kind and about its number of nodes.
type plannedSheet struct {
	kind  *kind
	nodes int
}

// Official files have 610 kinds in 23,500 sheets. These are the shares of the most common
// kinds in those sheets and their nodes.
var bigKinds = []struct{ sheets, nodes float64 }{
	{0.023, 0.71}, {0.375, 0.02}, {0.12, 0.02}, {0.112, 0.01}, {0.11, 0.03}, {0.05, 0.02}, {0.01, 0.05}, {0.01, 0.04},
}

// plan divides nodes among kinds, and each kind's among its sheets.
func (g *generator) plan(o GenOptions) []plannedSheet {
	var plan []plannedSheet
	nodesLeft := float64(o.Nodes)
	for _, b := range bigKinds {
		n := max(1, int(b.sheets*float64(o.Sheets)))
		if len(plan)+n > o.Sheets {
			break
		}
		nodes := b.nodes * float64(o.Nodes)
		nodesLeft -= nodes
		plan = append(plan, g.divide(n, nodes, g.kind(1))...)
	}
	small := o.Sheets - len(plan)
	for i, s := range g.divide(small, nodesLeft, nil) {
		// Few of the small kinds have more than one sheet.
		if i == 0 || g.rng.IntN(8) != 0 {
			s.kind = g.kind(1)
		} else {
			s.kind = plan[len(plan)-1].kind
		}
		plan = append(plan, s)
	}
	return plan
}

// divide makes n sheets of very different sizes: half of them are below a seventh of the
// mean.
func (g *generator) divide(n int, nodes float64, k *kind) []plannedSheet {
	plan := make([]plannedSheet, n)
	weights := make([]float64, n)
	var sum float64
	for i := range weights {
		x := g.rng.Float64()
		weights[i] = 0.01 + x*x*x*x
		sum += weights[i]
	}
	for i := range plan {
		plan[i] = plannedSheet{kind: k, nodes: max(1, int(nodes*weights[i]/sum))}
	}
	return plan
}

// sheet adds children to a sheet until it has as many nodes as planned.
func (g *generator) sheet(p plannedSheet) *Node {
	n := &Node{Name: p.kind.name, Attrs: g.attrs(p.kind)}
	for size := 1; size < p.nodes; {
		k := g.childKind(p.kind)
		c, s := g.node(k, p.nodes-size)
		n.Children = append(n.Children, c)
		size += s
		if len(n.Children) == maxRun {
			break
		}
	}
	return n
}

// subtree is a run of children, and the number of nodes in and below it.
type subtree struct {
	children []*Node
	size     int
}

// poolSize is how many runs of a kind are kept for reuse.
const poolSize = 256

// node makes a node, and returns the size of its subtree.
func (g *generator) node(k *kind, room int) (*Node, int) {
	n := &Node{Name: k.name, Keys: k.keys, Attrs: g.attrs(k)}
	if g.rng.Float64() >= branching(k.depth) {
		return n, 1
	}
	if len(k.runs) > 0 && g.rng.Float64() < 0.50 {
		run := k.runs[g.rng.IntN(len(k.runs))]
		n.Children = run.children
		return n, 1 + run.size
	}
	run := g.children(k, room)
	keep(g.rng, &k.runs, run)
	n.Children = run.children
	return n, 1 + run.size
}

// keep adds v to a pool, or replaces an element if the pool is full.
func keep[T any](rng *rand.Rand, pool *[]T, v T) {
	if len(*pool) < poolSize {
		*pool = append(*pool, v)
		return
	}
	(*pool)[rng.IntN(poolSize)] = v
}

func (g *generator) children(k *kind, room int) subtree {
	var run subtree
	for range min(pick(g.rng, childCounts), max(room, 1)) {
		c, size := g.node(g.childKind(k), room/2)
		run.children = append(run.children, c)
		run.size += size
	}
	return run
}

// branching returns the probability that a node of a depth has children, which determines
// the depths of nodes.
func branching(depth int) float64 {
	chances := [...]float64{2: 0.95, 3: 0.30, 4: 0.16, 5: 0.21, 6: 0.31, 7: 0.28, 8: 0.03}
	switch {
	case depth < len(chances):
		return chances[depth]
	case depth < 22:
		return 0.15
	}
	return 0
}
