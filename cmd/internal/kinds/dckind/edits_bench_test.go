package dckind_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/aes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/dckind"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/cfb"
	"lorefs/internal/testneeds"
)

// BenchmarkWriteEdits lists 100,000 edits of numbers in a large file: some in each sheet, or
// all in a few; right after the edits, before the journal has paths of their nodes, and when it
// has them. It reports times also in terms of what the standard library needs to decrypt and
// inflate the file, the shorter time of before and after.
func BenchmarkWriteEdits(b *testing.B) {
	for name, perSheet := range map[string]int{"many sheets": 20, "few sheets": 10_000} {
		b.Run(name, func(b *testing.B) { benchmarkWriteEdits(b, perSheet) })
	}
}

func benchmarkWriteEdits(b *testing.B, perSheet int) {
	b.Helper()
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	fixture, path := testneeds.Fixture(b, "datacenter/p100_x64.dat"), filepath.Join(b.TempDir(), "a.dat")
	// list returns a benchmark of write. It reports the shortest time, since other programs only
	// add to it, and that of the first round, in which nothing is in memory yet.
	list := func(write func(ctx context.Context, w io.Writer) error) func(*testing.B) {
		return func(b *testing.B) {
			floor := floorOf(b, fixture)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := write(b.Context(), io.Discard); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			floor = min(floor, floorOf(b, fixture))
			b.ReportMetric(took[0].Seconds()/floor.Seconds(), "first-F")
			b.ReportMetric(slices.Min(took).Seconds()/floor.Seconds(), "F")
		}
	}
	edited(b, fixture, path, func(s *kinds.Source) {
		d, _ := dckind.Of(s)
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
		if err := dckind.Draft(s).Apply(b.Context(), edits...); err != nil {
			b.Fatal(err)
		}
		b.Run("at once", list(func(ctx context.Context, w io.Writer) error {
			return s.WriteEdits(ctx, w, kinds.EditsText, "")
		}))
	})
}

// floorOf returns the time that the standard library needs to decrypt and inflate a file.
func floorOf(b *testing.B, path string) time.Duration {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	key := datacenter.DefaultKeys()[0]
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		b.Fatal(err)
	}
	const head = 4 // the size
	plain := io.NewSectionReader(cfb.NewReader(bytes.NewReader(data), block, key.IV), head, int64(len(data))-head)
	z, err := zlib.NewReader(plain)
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
