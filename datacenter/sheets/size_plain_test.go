package sheets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
)

// oddValues are values that need care in a tag, and some that do not.
var oddValues = []any{
	0, -1, math.MinInt32, true, false, "", " ", "plain", "a b", "tab\there", "line\nbreak\r\n", "\x01", "\x7f", "\u0080\u0085",
	`"quoted" & 'so' <on>`, "a]]>b", "\u07ff\u0800\ud7ff\ue000\ufffd", "\ufffe", "\uffff", "\U0001f409", "외투", "true", "1.0",
	[]uint16{0xd800},
	[]uint16{'a', 0xdc00, 'b'},
	[]uint16{0xdbff, 0xdfff},
	[]uint16{0xdc00, 0xd800},
	float32(0), float32(math.Copysign(0, -1)), float32(1.5), float32(math.Inf(1)), float32(math.Inf(-1)),
	math.Float32frombits(0x7fc00000), math.Float32frombits(0xffc00001), float32(1e-7), float32(math.MaxFloat32),
	longText('x', 5000), longText('한', 3000), longText('&', 700),
}

func longText(r rune, n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = r
	}
	return string(text)
}

// oddNode returns a node with random attributes of odd values. plain says how many of ten values are
// ints.
func oddNode(rng *rand.Rand, depth, plain int) *dctest.Node {
	n := &dctest.Node{Name: []string{"a", "b", "c", "x y"}[min(rng.IntN(20), 3)]}
	for i := range rng.IntN(5) {
		name := fmt.Sprintf("n%d", i)
		if rng.IntN(30) == 0 {
			name += ":odd name"
		}
		v := oddValues[rng.IntN(len(oddValues))]
		if rng.IntN(10) < plain {
			v = rng.IntN(3)
		}
		n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: v})
	}
	switch rng.IntN(12) {
	case 0:
		n.Attrs = append(n.Attrs, dctest.Text([]string{"", " ", "words", "<&>", "\x02"}[rng.IntN(5)]))
	case 1:
		n.Flags = 1
	case 2:
		n.Keys = []string{"n0"}
	}
	if depth > 0 {
		for range rng.IntN(5) {
			n.Children = append(n.Children, oddNode(rng, depth-1, plain))
		}
		if len(n.Children) > 0 && rng.IntN(3) == 0 { // the same again, also elsewhere
			n.Children = append(n.Children, n.Children[0])
		}
	}
	return n
}

// TestSizesOfOddSheets checks that sheets have the sizes that were measured before.
func TestSizesOfOddSheets(t *testing.T) {
	testneeds.Seconds(t)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		root := dctest.Root()
		for range 6 {
			sheet := oddNode(rng, 3, int(seed%11))
			sheet.Name = []string{"S", "T"}[rng.IntN(2)]
			root.Children = append(root.Children, sheet)
		}
		f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{Placeholders: int(seed % 3)}))
		texts(t, newSource(t, f, nil, sheets.Options{}))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, x := range dctest.Legal() {
		if x.Name == "65,535 children" || x.Options.Seal.Key != nil {
			continue
		}
		s, err := sheets.New(dctest.Open(t, dctest.Build(x.Doc, x.Options)), nil, sheets.Options{})
		if err != nil {
			continue // too deep, or no names
		}
		if texts(t, s); t.Failed() {
			t.Fatal(x.Name)
		}
	}
}
