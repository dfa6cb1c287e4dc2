package main

import (
	"strings"
	"testing"
)

func TestBenchRatios(t *testing.T) {
	var b benchRun
	b.add("table", "slow", unitSeconds, []float64{400})
	b.add("table", "fast", unitSeconds, []float64{0.5})
	b.relate("slow")
	b.add("table", "slower", unitSeconds, []float64{50_000, 60_000})
	b.relate("slow")
	var out strings.Builder
	if err := b.print(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" 0.00125 x slow\n", " 125 x slow\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
