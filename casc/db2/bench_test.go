package db2_test

import (
	"io"
	"os"
	"testing"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
)

// bigVar names a large table with its definition, without .db2 and .dbd.
const bigVar = "LOREFS_BENCH_TABLE"

func BenchmarkCSV(b *testing.B) {
	name := os.Getenv(bigVar)
	if name == "" {
		b.Skipf("%s names no table", bigVar)
	}
	data, err := os.ReadFile(name + ".db2")
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(name + ".dbd")
	if err != nil {
		b.Fatal(err)
	}
	d, err := dbd.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		table, err := db2.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		view, err := table.View(db2.Options{Columns: d.Versions[0].Columns})
		if err == nil {
			err = view.Write(io.Discard, db2.CSV)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
