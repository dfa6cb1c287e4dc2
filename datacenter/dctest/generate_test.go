package dctest_test

import (
	"bytes"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

func TestGenerate(t *testing.T) {
	testneeds.Seconds(t)
	o := dctest.GenOptions{Seed: 1, Sheets: 300, Nodes: 120_000}
	doc := dctest.Generate(o)
	m := dctest.NewImage(doc, dctest.Options{})
	if again := dctest.NewImage(dctest.Generate(o), dctest.Options{}); !bytes.Equal(m.Data, again.Data) {
		t.Error("the same options give another data center")
	}
	for _, finding := range check(m.Data, datacenter.LayoutV6X64) {
		t.Error(finding)
	}
	counts := doc.Counts()
	r := read(m.Data, datacenter.LayoutV6X64)
	if sheets := r.node(0, 0).children(); sheets != o.Sheets {
		t.Errorf("%d sheets", sheets)
	}
	t.Logf("%d nodes, %d stored; %d attributes, %d stored; %d names, %d values, %d bytes",
		counts.Nodes, r.nodes.count(), counts.Attributes, r.attrs.count(), len(r.names.entries), len(r.values.entries), len(m.Data))
	near := func(what string, got, lo, hi float64) {
		t.Helper()
		if got < lo || got > hi {
			t.Errorf("%s: %.3f, want %v to %v", what, got, lo, hi)
		}
	}
	near("nodes", float64(counts.Nodes)/float64(o.Nodes), 0.9, 1.3)
	near("attributes of a node", float64(counts.Attributes)/float64(counts.Nodes), 2.5, 4.2)
	near("stored nodes", float64(r.nodes.count())/float64(counts.Nodes), 0.2, 0.45)
	near("stored attributes", float64(r.attrs.count())/float64(counts.Attributes), 0.17, 0.4)
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		dctest.NewImage(dctest.Generate(dctest.GenOptions{Sheets: 1215, Nodes: 604_000}), dctest.Options{})
	}
}
