package query_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
	"lorefs/nodes/blockcache"
)

// TestFixture checks that queries on real data find as many matches as a walk counts.
func TestFixture(t *testing.T) {
	testneeds.Slow(t, "reads a file whole")
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/p115_small_x64.dat"))
	if err != nil {
		t.Fatal(err)
	}
	f := dctest.Open(t, data)
	root := modelOf(t, f)
	all := root.below()
	value := func(n *modelNode, name string) string {
		for _, a := range n.attrs {
			if a.name == name {
				return a.text
			}
		}
		return ""
	}
	for expr, is := range map[string]func(n *modelNode) bool{
		"//*":                       func(n *modelNode) bool { return n.parent != nil },
		"//String":                  func(n *modelNode) bool { return n.name == "String" },
		"//*[@id=1001]":             func(n *modelNode) bool { return value(n, "id") == "1001" },
		"//*[String]":               func(n *modelNode) bool { return len(named(n, "String")) > 0 },
		"//String[last()]":          func(n *modelNode) bool { return n.name == "String" && n.ordinal == len(named(n.parent, "String"))-1 },
		"//*[text()]":               func(n *modelNode) bool { return value(n, "__value__") != "" },
		"/*/*[@id and not(String)]": func(n *modelNode) bool { return depth(n) == 2 && value(n, "id") != "" && len(named(n, "String")) == 0 },
	} {
		want := 0
		for _, n := range all {
			if is(n) {
				want++
			}
		}
		if got := count(t, f, expr); got != want || want == 0 {
			t.Errorf("%s: %d matches, want %d", expr, got, want)
		}
	}
	if got, want := count(t, f, "//@*"), int(f.Counts().Attributes); got != want {
		t.Errorf("%d attributes, want %d", got, want)
	}
}

// count keeps no match, because there may be millions.
func count(t testing.TB, f *datacenter.File, expr string) (n int) {
	t.Helper()
	for _, err := range compile(t, expr).Run(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func named(n *modelNode, name string) (kids []*modelNode) {
	for _, k := range n.kids {
		if k.name == name {
			kids = append(kids, k)
		}
	}
	return kids
}

func depth(n *modelNode) (depth int) {
	for ; n.parent != nil; n = n.parent {
		depth++
	}
	return depth
}

// BenchmarkQuery runs queries over the large fixture, or a generated file.
func BenchmarkQuery(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(testneeds.Root(b), "..", "shared/fixtures/datacenter/p100_x64.dat"))
	if err != nil {
		b.Logf("a generated file stands in for the fixture: %v", err)
		data = dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 1200, Nodes: 600_000}), dctest.Options{})
	}
	f, err := datacenter.Open(b.Context(), bytes.NewReader(data), int64(len(data)),
		datacenter.Options{Blocks: blockcache.New(512 << 20).View()})
	if err != nil {
		b.Fatal(err)
	}
	for _, expr := range []string{
		"//Item[@id=5001]", "/ItemData/Item[@id=5001]/@rank", "//Rare", "//*[@name='x']", "//Item", "//Skill[Property/@attackRange>100]/@id",
	} {
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				found = count(b, f, expr)
			}
			b.ReportMetric(float64(found), "matches")
		})
	}
}
