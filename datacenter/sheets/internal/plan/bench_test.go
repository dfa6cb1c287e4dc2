package plan_test

import (
	"bytes"
	"os"
	"testing"

	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/internal/plan"
	"lorefs/internal/testneeds"
)

// BenchmarkPlan plans an edit of one value, for the largest sheet of a real data center and for
// the one in the middle of the file.
func BenchmarkPlan(b *testing.B) {
	data, err := os.ReadFile(testneeds.Fixture(b, "datacenter/p100_x64.dat"))
	if err != nil {
		b.Fatal(err)
	}
	p := planOf(b, data)
	var all []sheets.Sheet
	for _, f := range p.src.Families() {
		for s := range f.Sheets(0) {
			all = append(all, s)
		}
	}
	size := func(s sheets.Sheet) int64 {
		n, err := p.src.Size(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	largest, middle := all[0], all[len(all)/2]
	for _, s := range all {
		if size(s) > size(largest) {
			largest = s
		}
	}
	for _, c := range []struct {
		name  string
		sheet sheets.Sheet
	}{{"largest", largest}, {"middle", middle}} {
		text := []byte(p.text(c.sheet))
		text = bytes.Replace(text, []byte(`name="`), []byte(`name="edited `), 1)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var made plan.Plan
			for b.Loop() {
				if made, err = p.src.Plan(b.Context(), c.sheet, "x.xml", text, plan.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(made.Edits)), "edits")
		})
	}
}
