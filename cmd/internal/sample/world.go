package sample

import "math/rand/v2"

// gen makes the sheets and the packets. Its random numbers are the same every time.
type gen struct{ rng *rand.Rand }

func newGen() *gen { return &gen{rand.New(rand.NewPCG(1001, 2002))} }

// world returns the data center's 40 sheets.
func world() []*node {
	g := newGen()
	sheets := []*node{g.areaList(), g.worldMap(), g.strItem(), g.strArea(), g.itemSets(), g.shops(), g.recipes(), g.levels(), g.races(), g.weather()}
	for part := range 6 {
		sheets = append(sheets, g.items(part))
	}
	for part := range 5 {
		sheets = append(sheets, g.npcs(part))
	}
	for part := range 4 {
		sheets = append(sheets, g.skills(part))
	}
	for part := range 12 {
		sheets = append(sheets, g.quest(part))
	}
	for part := range 3 {
		sheets = append(sheets, g.spawns(part))
	}
	return sheets
}

func element(name string, a attrs, children ...*node) *node {
	return &node{Name: name, Attrs: a, Children: children}
}

// keyed returns an element that is looked up by its attribute id.
func keyed(name string, a attrs, children ...*node) *node {
	return &node{Name: name, Keys: []string{"id"}, Attrs: a, Children: children}
}

func (g *gen) pick(words []string) string { return words[g.rng.IntN(len(words))] }

// between returns a number in steps, as people choose them.
func (g *gen) between(lo, hi, step int) int { return lo + g.rng.IntN((hi-lo)/step+1)*step }

// quarter returns a number that a float holds exactly.
func (g *gen) quarter(lo, hi int) float32 { return float32(g.between(lo*4, hi*4, 1)) / 4 }
