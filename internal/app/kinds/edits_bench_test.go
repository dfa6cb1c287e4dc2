package kinds_test

import (
	"io"
	"path/filepath"
	"testing"

	"lorefs/datacenter/edit"
	"lorefs/internal/app/kinds"
	"lorefs/internal/testneeds"
)

// BenchmarkWriteEdits lists 100,000 edits of numbers in a large file: some in each sheet, or
// all in a few; at once, or when the journal has their paths. Compare it with the floor of
// BenchmarkOpen in package datacenter.
func BenchmarkWriteEdits(b *testing.B) {
	for name, perSheet := range map[string]int{"many sheets": 20, "few sheets": 10_000} {
		b.Run(name, func(b *testing.B) { benchmarkWriteEdits(b, perSheet) })
	}
}

func benchmarkWriteEdits(b *testing.B, perSheet int) {
	b.Helper()
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	fixture, path := testneeds.Fixture(b, "datacenter/p100_x64.dat"), filepath.Join(b.TempDir(), "a.dat")
	list := func(s *kinds.Source) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				if err := s.WriteEdits(b.Context(), io.Discard, kinds.EditsText, ""); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	edited(b, fixture, path, func(s *kinds.Source) {
		d, _ := s.DataCenter()
		root, err := d.File().Root()
		if err != nil {
			b.Fatal(err)
		}
		var edits []edit.Edit
		number := edit.Number(1)
		const wanted = 100_000
		for sheet, err := range root.Children() {
			if err != nil {
				b.Fatal(err)
			}
			if sheet.Entries() > 100 {
				all := ints(b, sheet, number, nil)
				for i := 0; i < len(all) && len(all) >= perSheet/2; i += 1 + len(all)/perSheet {
					edits = append(edits, all[i])
				}
			}
			if number += edit.Number(sheet.Entries()); len(edits) > wanted {
				break
			}
		}
		if err := s.Draft().Apply(b.Context(), edits...); err != nil {
			b.Fatal(err)
		}
		b.Run("at once", list(s))
	})
	// The end of the session before has written the paths to the journal.
	edited(b, fixture, path, func(s *kinds.Source) { b.Run("later", list(s)) })
}
