package db2_test

import (
	"io"
	"testing"

	"lorefs/casc/db2"
)

// FuzzTable reads anything as a table, without a definition. Its seeds are tables of all formats.
func FuzzTable(f *testing.F) {
	f.Fuzz(func(_ *testing.T, data []byte) {
		table, err := db2.Parse(data)
		if err != nil {
			return
		}
		table.Hidden()
		view, err := table.View(db2.Options{})
		if err != nil {
			return
		}
		_ = view.Write(io.Discard, db2.CSV)
	})
}
