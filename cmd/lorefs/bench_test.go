package main

import (
	"strings"
	"testing"
)

func TestBenchRatios(t *testing.T) {
	b := benchRun{values: map[string][]float64{}}
	for row, values := range map[string][]float64{rowFloor: {400}, rowOpen: {0.6, 0.5, 0.7}, rowOpenAgain: {50_000, 60_000}, rowWalk: {7, 9, 8}} {
		for _, v := range values {
			b.add(row, v)
		}
	}
	var out strings.Builder
	if err := b.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" s          0.5    0.6     0.00125 x decrypt and inflate alone\n",
		" 125 x decrypt and inflate alone\n", " entries/s  9      8       \n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
