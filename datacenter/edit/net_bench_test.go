package edit_test

import (
	"os"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

// BenchmarkPending counts 100,000 changes, as status does after an edit. One is another edit each
// time; none is asked again.
func BenchmarkPending(b *testing.B) {
	data, err := os.ReadFile(testneeds.Fixture(b, "datacenter/p115_small_x64.dat"))
	if err != nil {
		b.Fatal(err)
	}
	f := dctest.Open(b, data)
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		b.Fatal(err)
	}
	edits := benchTargets(b, f, 100_000)
	for i := range edits {
		edits[i].Value = datacenter.IntValue(int32(i))
	}
	for _, e := range edits {
		if err := d.Apply(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("after an edit", func(b *testing.B) {
		for b.Loop() {
			if err := d.Apply(b.Context(), edits[0]); err != nil {
				b.Fatal(err)
			}
			if d.Pending() < 90_000 {
				b.Fatal(d.Pending())
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			d.Pending()
		}
	})
	b.Run("all taken back", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.Revert(b.Context(), nil, []edit.Target{{}}); err != nil || d.Pending() != 0 {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := d.Apply(b.Context(), edits...); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}
