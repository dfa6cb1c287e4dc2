package patch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/patch"
	"lorefs/internal/testneeds"
)

func fixture(t testing.TB, name string) *datacenter.File {
	t.Helper()
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return dctest.Open(t, data)
}

// spot is a node of a file.
type spot struct {
	number, parent edit.Number
	node           datacenter.Node
}

// spots are the nodes of some sheets, or of all if none are named.
func spots(t testing.TB, f *datacenter.File, families ...string) (list []spot) {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n datacenter.Node, number, parent edit.Number)
	walk = func(n datacenter.Node, number, parent edit.Number) {
		if parent > 0 || number > 0 {
			list = append(list, spot{number, parent, n})
		}
		next := number + 1 + edit.Number(n.AttributeCount())
		for c, err := range n.Children() {
			if err != nil {
				t.Fatal(err)
			}
			if number > 0 || len(families) == 0 || slices.Contains(families, c.Name()) {
				walk(c, next, number)
			}
			next += edit.Number(c.Entries())
		}
	}
	walk(root, 0, 0)
	return list
}

// modOf makes a mod of a file: it changes values, adds nodes and removes some, in a draft.
func modOf(t testing.TB, f *datacenter.File, seed uint64, nodes []spot, values, nodesEach int) *edit.Draft {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same mod each time
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	var edits []edit.Edit
	for len(edits) < values {
		s := nodes[random.IntN(len(nodes))]
		var list []datacenter.Attribute
		for a, err := range s.node.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			if keys := s.node.Keys(); a.Name() != "id" && !slices.Contains(keys, a.Name()) {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			continue
		}
		a := list[random.IntN(len(list))]
		e := edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: a.Name()}
		switch a.Type() {
		case datacenter.Int:
			e.Value = datacenter.IntValue(a.Int() + 1_000_000 + int32(len(edits)))
		case datacenter.Float:
			e.Value = datacenter.FloatValue(a.Float() + 7)
		case datacenter.Bool:
			e.Value = datacenter.BoolValue(!a.Bool())
		default:
			if e.Value, err = datacenter.StringValue(fmt.Sprintf("modded %d", len(edits))); err != nil {
				t.Fatal(err)
			}
		}
		edits = append(edits, e)
	}
	gone := map[edit.Number]bool{}
	for i := range nodesEach {
		s := nodes[random.IntN(len(nodes))]
		n := d.NewNumber()
		edits = append(edits,
			edit.Edit{Op: edit.AddNode, Node: n, Parent: s.number, Name: s.node.Name(), Ordinal: 60_000 + uint32(i)},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "id", Value: datacenter.IntValue(70_000_000 + int32(i))},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "name", Value: datacenter.BoolValue(true)})
		if x := nodes[random.IntN(len(nodes))]; x.node.ChildCount() == 0 && !gone[x.number] {
			gone[x.number] = true
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: x.number})
		}
	}
	if err := d.Apply(t.Context(), edits...); err != nil {
		t.Fatal(err)
	}
	return d
}

// A patch of a table that most mods change is one that people can read: no hash stands in it.
func TestPricesWithoutHashes(t *testing.T) {
	testneeds.Slow(t, "reads a file whole")
	f := fixture(t, "p100_x64.dat")
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	var edits []edit.Edit
	for _, s := range spots(t, f, "ItemData") {
		price, isThere, err := s.node.Attr("buyPrice")
		if err != nil {
			t.Fatal(err)
		}
		if !isThere || len(edits) == 2000 {
			continue
		}
		text, err := price.AppendText([]byte("1"))
		if err != nil {
			t.Fatal(err)
		}
		value, err := datacenter.StringValue(string(text))
		if err != nil {
			t.Fatal(err)
		}
		edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: "buyPrice", Value: value})
	}
	if err := d.Apply(t.Context(), edits...); err != nil {
		t.Fatal(err)
	}
	p := makeDraft(t, d, "")
	if len(p.Blocks) != len(edits) || len(edits) < 2000 {
		t.Errorf("%d blocks of %d edits", len(p.Blocks), len(edits))
	}
	for i := range p.Blocks {
		for _, c := range p.Blocks[i].Contexts {
			if c.Sum != 0 {
				t.Fatalf("a hash: %s", p.Blocks[i].Append(nil))
			}
		}
	}
}

var modded = []string{"NpcData", "EquipmentData", "StrSheet_Region"}

// A mod of the file in one layout does the same to that in another one.
func TestOntoAnotherLayout(t *testing.T) {
	testneeds.Slow(t, "reads files whole")
	f := fixture(t, "p115_small_x64.dat")
	d := modOf(t, f, 1, spots(t, f, modded...), 300, 20)
	p := makeDraft(t, d, "p115_small_x64.dat")
	want := saved(t, d)
	g := fixture(t, "p115_small_x86.dat")
	got, results := apply(t, g, p)
	if r := results[0]; r.Conflicts+r.Already > 0 {
		t.Errorf("%d already, %s", r.Already, conflicts(r))
	}
	after := saved(t, got)
	if text := differences(t, want, after); text != "" {
		t.Errorf("%.2000s", text)
	}
	if _, results = apply(t, after, p); len(results[0].Edits)+results[0].Conflicts > 0 {
		t.Errorf("again: %d edits, %s", len(results[0].Edits), conflicts(results[0]))
	}
	back, results := apply(t, after, reread(t, p.Reverse()))
	if r := results[0]; r.Conflicts+r.Already > 0 {
		t.Errorf("back: %d already, %s", r.Already, conflicts(r))
	}
	if text := differences(t, g, saved(t, back)); text != "" {
		t.Errorf("back: %.2000s", text)
	}
}

// A mod of one version of the game goes onto another one as far as that has the same nodes
// with the same values; the rest is told of. Taken back, it leaves what was there.
func TestOntoAnotherVersion(t *testing.T) {
	testneeds.Slow(t, "reads files whole")
	small, large := fixture(t, "p115_small_x64.dat"), fixture(t, "p100_x64.dat")
	for _, tt := range []struct{ from, to *datacenter.File }{{small, large}, {large, small}} {
		d := modOf(t, tt.from, 2, spots(t, tt.from, modded...), 500, 20)
		p := makeDraft(t, d, "")
		begin := time.Now()
		got, results := apply(t, tt.to, p)
		r := results[0]
		t.Logf("%d applied, %d already there, %d conflicts, %v", r.Applied, r.Already, r.Conflicts, time.Since(begin))
		if r.Applied == 0 || r.Applied+r.Already+r.Conflicts != len(r.Items) {
			t.Errorf("%d applied, %d already, %d conflicts of %d", r.Applied, r.Already, r.Conflicts, len(r.Items))
		}
		rejects := patch.Rejects(r)
		if rejects != nil {
			reread(t, rejects)
		}
		if _, again := apply(t, tt.to, p, p); len(again[1].Edits) > 0 || again[1].Applied > 0 {
			t.Errorf("again: %d edits", len(again[1].Edits))
		}
		// What was applied, taken back by a patch of its own, leaves nothing.
		own := makeDraft(t, got, "")
		applier := patch.NewApplier(tt.to, got)
		undo, err := applier.Plan(t.Context(), reread(t, own.Reverse()))
		if err != nil {
			t.Fatal(err)
		}
		if undo.Conflicts > 0 {
			t.Errorf("undo: %s", conflicts(undo))
		}
		if err := got.Apply(t.Context(), undo.Edits...); err != nil {
			t.Fatal(err)
		}
		left := makeDraft(t, got, "")
		if len(left.Blocks) > 0 {
			t.Errorf("left: %.2000s", left.Append(nil))
		}
	}
}

// BenchmarkApply plans a patch of 1,000 values over all of a large file.
func BenchmarkApply(b *testing.B) {
	f := fixture(b, "p100_x64.dat")
	d := modOf(b, f, 3, spots(b, f), 1000, 20)
	p := makeDraft(b, d, "")
	for b.Loop() {
		fresh, err := edit.NewDraft(f, nil)
		if err != nil {
			b.Fatal(err)
		}
		r, err := patch.NewApplier(f, fresh).Plan(context.Background(), p)
		if err != nil {
			b.Fatal(err)
		}
		if r.Conflicts > 0 {
			b.Fatal(conflicts(r))
		}
	}
}

// BenchmarkMakeDraft makes a patch of 100,000 values: of one family of sheets, as who edits
// the prices of all items, and of all sheets.
func BenchmarkMakeDraft(b *testing.B) {
	f := fixture(b, "p100_x64.dat")
	for _, families := range [][]string{{"ItemData"}, nil} {
		b.Run(strings.Join(families, ","), func(b *testing.B) {
			d := modOf(b, f, 4, spots(b, f, families...), 100_000, 0)
			for b.Loop() {
				s := d.Snapshot()
				p, err := patch.MakeDraft(b.Context(), s, "")
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(p.Blocks)), "blocks")
				s.Close()
			}
		})
	}
}

// BenchmarkPaths finds the paths of 100,000 nodes.
func BenchmarkPaths(b *testing.B) {
	f := fixture(b, "p100_x64.dat")
	for _, families := range [][]string{{"ItemData"}, {"NpcData", "SkillData"}, nil} {
		b.Run(strings.Join(families, ","), func(b *testing.B) {
			nodes := spots(b, f, families...)
			random := rand.New(rand.NewPCG(1, 1))
			var numbers []uint32
			for range 100_000 {
				numbers = append(numbers, uint32(nodes[random.IntN(len(nodes))].number))
			}
			slices.Sort(numbers)
			b.ReportMetric(float64(len(nodes)), "nodes")
			for b.Loop() {
				p, err := identity.NewFilePaths(b.Context(), f, func(uint32) []string { return nil })
				if err != nil {
					b.Fatal(err)
				}
				for _, n := range numbers {
					way, err := p.Find(n)
					if err == nil {
						_, err = p.Path(way)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
