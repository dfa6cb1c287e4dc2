package dissect_test

import (
	"testing"

	"lorefs/protocol/dissect"
	"lorefs/protocol/prototest"
)

// BenchmarkLines makes lines of the packets of a session, on all cores.
func BenchmarkLines(b *testing.B) {
	const packets = 20_000
	r := newRecording(b, generated(b, packets), library(b, prototest.Files()), dissect.Options{})
	for b.Loop() {
		for _, err := range r.Lines(b.Context(), r.All()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(packets*float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}
