package dctest

import (
	"fmt"
	"math/rand/v2"
)

// kind is all nodes of a path: they have the same attributes in the same order, but not all
// have as many.
type kind struct {
	name     string
	depth    int
	keys     []string
	hasText  bool
	columns  []column
	children []*kind

	runs     []subtree
	attrRuns [][]Attr
}

type column struct {
	name string
	of   valueType
	next int32
}

type valueType uint8

const (
	ofInt valueType = iota
	ofFloat
	ofString
	ofBool
)

// keyNames are the attributes of key definitions. Most nodes have the first.
var keyNames = [][]string{{"id"}, {"id"}, {"id"}, {"id"}, {"zoneId", "spawnId"}, {"zoneId", "spawnId", "phase"}, {"id", "rank"}}

func (g *generator) kind(depth int) *kind {
	k := &kind{name: g.words.element(), depth: depth, hasText: depth > 1 && g.rng.Float64() < 0.012}
	if depth > 1 && g.rng.Float64() < 0.06 {
		k.keys = keyNames[g.rng.IntN(len(keyNames))]
		for _, key := range k.keys {
			k.columns = append(k.columns, column{name: key, of: ofInt})
		}
	}
	return k
}

// childKind returns one of a kind's up to four kinds of children.
func (g *generator) childKind(k *kind) *kind {
	if i := g.rng.IntN(1 + g.rng.IntN(4)); i < len(k.children) {
		return k.children[i]
	}
	c := g.kind(k.depth + 1)
	k.children = append(k.children, c)
	return c
}

// attrs returns a run of attributes, sometimes one from before.
func (g *generator) attrs(k *kind) []Attr {
	if len(k.attrRuns) > 0 && g.rng.Float64() < 0.25 {
		return k.attrRuns[g.rng.IntN(len(k.attrRuns))]
	}
	n := max(pick(g.rng, attrCounts), len(k.keys))
	g.widen(k, n)
	run := make([]Attr, 0, n+1)
	for i := range k.columns[:n] {
		run = append(run, Attr{k.columns[i].name, g.value(&k.columns[i], i < len(k.keys))})
	}
	if k.hasText {
		run = append(run, Text(g.values.string()))
	}
	if n > 0 {
		keep(g.rng, &k.attrRuns, run)
	}
	return run
}

// widen adds columns with new names to a kind.
func (g *generator) widen(k *kind, n int) {
	for len(k.columns) < n {
		c := column{name: g.words.attribute(), of: valueType(pick(g.rng, valueTypes))}
		for i := range k.columns {
			if k.columns[i].name == c.name {
				c.name = fmt.Sprintf("%s%d", c.name, len(k.columns))
			}
		}
		k.columns = append(k.columns, c)
	}
}

func (g *generator) value(c *column, key bool) any {
	switch c.of {
	case ofFloat:
		if g.rng.Float64() < 0.89 {
			return float32(g.rng.IntN(400) - 20)
		}
		return float32(g.rng.NormFloat64() * 100)
	case ofString:
		return g.values.string()
	case ofBool:
		return g.rng.IntN(3) == 0
	}
	if key {
		c.next++
		return c.next
	}
	return int32(g.rng.ExpFloat64() * 300)
}

// share is a number, or a range of numbers, and its share of the total.
type share struct {
	part   float64
	lo, hi int
}

// The proportions of official files.
var (
	childCounts = []share{{0.386, 1, 1}, {0.44, 2, 4}, {0.097, 5, 8}, {0.074, 9, 16}, {0.003, 17, 64}}
	attrCounts  = []share{
		{0.188, 0, 0}, {0.26, 1, 1}, {0.315, 2, 4}, {0.134, 5, 8}, {0.079, 9, 13}, {0.023, 17, 24}, {0.001, 33, 58},
	}
	valueTypes = []share{
		{0.378, int(ofInt), int(ofInt)},
		{0.224, int(ofFloat), int(ofFloat)},
		{0.290, int(ofString), int(ofString)},
		{0.108, int(ofBool), int(ofBool)},
	}
	lengths = []share{
		{0.011, 1, 4}, {0.063, 5, 8}, {0.209, 9, 16}, {0.249, 17, 32}, {0.422, 33, 64}, {0.024, 65, 128}, {0.0217, 129, 1024}, {0.0003, 1025, 9000},
	}
)

func pick(rng *rand.Rand, shares []share) int {
	x := rng.Float64()
	for _, s := range shares {
		if x < s.part {
			return s.lo + rng.IntN(s.hi-s.lo+1)
		}
		x -= s.part
	}
	return shares[0].lo
}
