package datacenter_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"lorefs/datacenter"
	"lorefs/internal/testneeds"
)

// TestUnreferenced checks that a node to which no path leads is not there and is no referrer, also
// where all that it needs to be counted stands before it.
func TestUnreferenced(t *testing.T) {
	const name, root = 1, 2
	for what, nodes := range map[string][]rawNode{
		"refers to a child of another": {
			{name: root, children: 1, childElem: 1},
			{name: name, attrs: 1},
			{name: name, attrs: 1, children: 1, childElem: 1},
		},
		"refers to the root": {
			{name: root, attrs: 1},
			{name: name, attrs: 1, children: 1},
		},
		"refers to itself": {
			{name: root, attrs: 1},
			{name: name, attrs: 1, children: 1, childElem: 1},
		},
		"refers to nothing that there is": {
			{name: root, attrs: 1},
			{name: name, attrs: 1, children: 9, childElem: 9},
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := (&rawFile{keys: emptyKey()}).withNames("a", "__root__", "__value__")
			r.attrs, r.nodes = [][]rawAttr{{{name: name, code: 1}}}, [][]rawNode{nodes}
			data := r.seal(0)
			f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			last := len(nodes) - 1
			if _, err := f.Node(datacenter.Address{Element: uint16(last)}); !errors.Is(err, datacenter.ErrAddress) {
				t.Errorf("the node without a path: %v, want ErrAddress", err)
			}
			for i := range last {
				n, err := f.Node(datacenter.Address{Element: uint16(i)})
				if err != nil {
					t.Fatal(err)
				}
				if n.IsShared() || n.SharesChildren() || n.SharesAttributes() {
					t.Errorf("node %d shares something", i)
				}
				if entries := n.Entries(); i == 0 && entries != uint32(last+1) {
					t.Errorf("the root has %d entries, want %d", entries, last+1)
				}
			}
		})
	}
}

// TestCountsInOrder compares both ways of counting over random small graphs: most with children before
// their parents, as in real files, and some with anything that a file can claim.
func TestCountsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	inOrder, along, failed, graphs := 0, 0, 0, testneeds.Cases(500, 3000, 3000)
	for i := range graphs {
		r := (&rawFile{keys: emptyKey()}).withNames("a", "b", "c", "__root__", "__value__")
		r.attrs, r.nodes = [][]rawAttr{make([]rawAttr, 5), {}, make([]rawAttr, 3)}, randomGraph(rng)
		data := r.seal(0)
		ordered, difference, err := datacenter.CompareCounts(t.Context(), bytes.NewReader(data), int64(len(data)))
		switch {
		case difference != "":
			t.Fatalf("graph %d, %v: %s", i, r.nodes, difference)
		case err != nil:
			failed++
		case ordered:
			inOrder++
		default:
			along++
		}
	}
	if min(inOrder, along, failed) < graphs/15 {
		t.Errorf("%d graphs were counted in order, %d along the paths, %d not", inOrder, along, failed)
	}
}

// randomGraph returns nodes in segments. Most runs of children begin where the one before ended, so that
// paths lead to most nodes.
func randomGraph(rng *rand.Rand) [][]rawNode {
	const root, names = 4, 5                   // also higher ones than that of the root
	wild := []int{0, 0, 0, 20, 5}[rng.IntN(5)] // one node in so many, if any
	rare := func(n int) bool { return n > 0 && rng.IntN(n) == 0 }
	segments := make([][]rawNode, 1+rng.IntN(3))
	var next [3]int // the first node of a segment that is no child yet
	next[0] = 1
	for seg := range segments {
		count := rng.IntN(1 + rng.IntN(12))
		if seg == 0 {
			count++
			segments[0] = append(segments[0], rawNode{name: root}) // its children are set below
		}
		for len(segments[seg]) < count {
			n := rawNode{name: uint16(1 + rng.IntN(names)), attrs: uint16(rng.IntN(4)), attrElem: uint16(rng.IntN(3))}
			from := rng.IntN(seg + 1)
			n.childSeg, n.childElem = uint16(from), uint16(next[from])
			if left := len(segments[from]) - next[from]; left > 0 && !rare(3) {
				n.children = uint16(1 + rng.IntN(left))
				next[from] += int(n.children)
			}
			if rare(wild) {
				n = wildNode(rng)
			}
			segments[seg] = append(segments[seg], n)
		}
	}
	at := rng.IntN(len(segments))
	r := &segments[0][0]
	r.childSeg, r.childElem, r.children = uint16(at), uint16(next[at]), uint16(max(len(segments[at])-next[at], 0))
	if rare(wild) {
		*r = wildNode(rng)
	}
	return segments
}

func wildNode(rng *rand.Rand) rawNode {
	small := func(n int) uint16 { return uint16(rng.IntN(n)) }
	return rawNode{
		name: small(4), attrs: small(5), children: small(4),
		attrSeg: small(3), attrElem: small(4), childSeg: small(3), childElem: small(12),
	}
}

// TestCountsAtLimits counts graphs that reach the limits of depth, entries and steps, and such beyond.
func TestCountsAtLimits(t *testing.T) {
	testneeds.Alone(t)
	testneeds.Seconds(t)
	const name, root = 1, 2
	// A chain of so many levels, with the child of each node before it or behind it.
	chain := func(levels int, behind bool) []rawNode {
		nodes := []rawNode{{name: root, children: 1, childElem: uint16(levels)}}
		for i := range levels {
			nodes = append(nodes, rawNode{name: name, children: uint16(min(i, 1)), childElem: uint16(i)})
		}
		if behind {
			for i := range nodes {
				nodes[i].children, nodes[i].childElem = uint16(min(levels-i, 1)), uint16(i+1)
			}
		}
		return nodes
	}
	// Each pair of nodes has the pair before it as children, so that the root has 2^27-1 entries.
	doubled := func(attrs uint16) []rawNode {
		nodes := []rawNode{{name: root, children: 2, childElem: 51, attrs: attrs}, {name: name}, {name: name}}
		for i := range uint16(25) {
			nodes = append(nodes, rawNode{name: name, children: 2, childElem: 1 + 2*i}, rawNode{name: name, children: 2, childElem: 1 + 2*i})
		}
		return nodes
	}
	// As many nodes of 2^27-1 entries below another that the number of its entries has more than 32 bits.
	wrapped := func() []rawNode {
		nodes := doubled(0)
		first := uint16(len(nodes))
		for range 32 {
			nodes = append(nodes, rawNode{name: name, children: 2, childElem: nodes[0].childElem})
		}
		nodes[0].children, nodes[0].childElem = 1, uint16(len(nodes))
		return append(nodes, rawNode{name: name, children: 32, childElem: first, attrs: 33})
	}
	// All parents have the same children, which are placeholders.
	steps := func(parents int) []rawNode {
		nodes := []rawNode{{name: root, children: uint16(parents), childElem: 1}}
		for range parents {
			nodes = append(nodes, rawNode{name: name, children: 65535, childSeg: 1})
		}
		return nodes
	}
	for what, tt := range map[string]struct {
		nodes   []rawNode
		ok      bool
		inOrder bool
	}{
		"1024 levels":          {chain(1024, false), true, true},
		"1025 levels":          {chain(1025, false), false, false},
		"1024 levels, behind":  {chain(1024, true), true, true},
		"1025 levels, behind":  {chain(1025, true), false, false},
		"2^27-1 entries":       {doubled(0), true, true},
		"2^27 entries":         {doubled(1), false, false},
		"2^32+2 entries":       {wrapped(), false, false},
		"2^26 steps":           {steps(1024), true, true},
		"2^26 steps, and more": {steps(1025), false, false},
	} {
		t.Run(what, func(t *testing.T) {
			r := (&rawFile{keys: emptyKey()}).withNames("a", "__root__", "__value__")
			r.attrs, r.nodes = [][]rawAttr{make([]rawAttr, 33)}, [][]rawNode{tt.nodes, make([]rawNode, 65535)}
			if tt.nodes[1].children != 65535 {
				r.nodes = r.nodes[:1]
			}
			data := r.seal(0)
			inOrder, difference, err := datacenter.CompareCounts(t.Context(), bytes.NewReader(data), int64(len(data)))
			if difference != "" || (err == nil) != tt.ok || inOrder != tt.inOrder {
				t.Errorf("in order: %v, %v %s", inOrder, err, difference)
			}
		})
	}
}

// TestCountsDeepChain counts a chain of more levels than 16 bits can tell, over two segments.
func TestCountsDeepChain(t *testing.T) {
	const name, root, levels = 1, 2, 65536 + 10
	segments := make([][]rawNode, 2)
	segments[0] = []rawNode{{name: root, children: 1, childSeg: levels >> 16, childElem: levels & 0xffff}}
	for i := 1; i <= levels; i++ {
		below := rawNode{name: name}
		if i > 1 {
			below.children, below.childSeg, below.childElem = 1, uint16((i-1)>>16), uint16(i-1)
		}
		segments[i>>16] = append(segments[i>>16], below)
	}
	r := (&rawFile{keys: emptyKey(), nodes: segments}).withNames("a", "__root__", "__value__")
	data := r.seal(0)
	if _, difference, err := datacenter.CompareCounts(t.Context(), bytes.NewReader(data), int64(len(data))); err == nil || difference != "" {
		t.Errorf("%v %s", err, difference)
	}
}
