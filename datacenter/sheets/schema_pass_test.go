package sheets

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"lorefs/datacenter/dctest"
)

// learnedNode returns a node that says a bit of everything that a schema can hold.
func learnedNode(rng *rand.Rand, depth int) *dctest.Node {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	n := &dctest.Node{Name: pick("A", "B", "C", "D")}
	for _, name := range []string{"i", "k", "x"} {
		if rng.IntN(3) > 0 {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: []any{1, 2, "text", true, float32(0.5)}[rng.IntN(5)]})
		}
	}
	if rng.IntN(6) == 0 {
		n.Keys = []string{pick("i", "k")}
	}
	if rng.IntN(8) == 0 {
		n.Attrs = append(n.Attrs, dctest.Text("words"))
	}
	for range rng.IntN(4) * min(depth, 1) {
		n.Children = append(n.Children, learnedNode(rng, depth-1))
	}
	return n
}

// TestLearnInParts checks that a schema does not depend on how many goroutines learned it, and
// is what measuring the sheets learns.
func TestLearnInParts(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 17))
		root := dctest.Root()
		for range 12 {
			sheet := learnedNode(rng, 4)
			sheet.Name = []string{"A", "S"}[rng.IntN(2)]
			root.Children = append(root.Children, sheet)
		}
		f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{Placeholders: int(seed % 3)}))
		for _, strategy := range []Strategy{Conservative, Aggressive} {
			s, err := New(f, nil, Options{Strategy: strategy})
			if err != nil {
				t.Fatal(err)
			}
			for _, family := range s.Families() {
				learned := [2][]byte{}
				for i, parts := range []int{5, 1} {
					es, err := family.learn(t.Context(), parts, 1)
					if err != nil {
						t.Fatal(err)
					}
					schema, err := family.schema(es)
					if err != nil {
						t.Fatal(err)
					}
					learned[i] = schema.AppendXSD(nil)
				}
				schema, err := family.Schema(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want := schema.AppendXSD(nil)
				for i, got := range learned {
					if !bytes.Equal(got, want) {
						t.Fatalf("seed %d, strategy %d, %d: learned\n%s\nwant\n%s", seed, strategy, i, got, want)
					}
				}
			}
		}
	}
}

// TestLearnLegal checks that files of every form have the schemas that measuring their sheets finds.
func TestLearnLegal(t *testing.T) {
	for _, x := range dctest.Legal() {
		if x.Options.Seal.Key != nil {
			continue
		}
		f := dctest.Open(t, dctest.Build(x.Doc, x.Options))
		learned, err := New(f, nil, Options{})
		if err != nil {
			continue // too deep, or no names
		}
		measured, err := New(f, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, family := range learned.Families() {
			got, gotErr := family.LearnSchema(t.Context())
			want, err := measured.Families()[i].Schema(t.Context())
			if err != nil || gotErr != nil {
				t.Fatalf("%s: %s: %v, %v", x.Name, family.Name, gotErr, err)
			}
			if got, want := got.AppendXSD(nil), want.AppendXSD(nil); !bytes.Equal(got, want) {
				t.Errorf("%s: %s: learned\n%.2000s\nwant\n%.2000s", x.Name, family.Name, got, want)
			}
		}
	}
}
