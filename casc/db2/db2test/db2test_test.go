package db2test_test

import (
	"bytes"
	"testing"

	"lorefs/casc/db2"
	"lorefs/casc/db2/db2test"
)

// TestTable reads what is made, with a section whose bytes are there and without.
func TestTable(t *testing.T) {
	table := db2test.Table{Layout: 7, Schema: "WOWSTATIC_1_2_3_4", Sections: []db2test.Section{
		{Rows: []db2test.Row{{3, []any{1, "one", ""}}, {2, []any{-1, "", "two"}}}},
		{Key: 9, Rows: []db2test.Row{{5, []any{5, "secret", "words"}}}},
	}}
	data, parts := table.Bytes()
	columns := []db2.Column{
		{Name: "ID", ID: true},
		{Name: "N", Bits: 32, Signed: true, Inline: true},
		{Name: "A", Type: db2.String, Inline: true},
		{Name: "B", Type: db2.String, Inline: true},
	}
	read := func(want string, hidden int) {
		t.Helper()
		parsed, err := db2.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		view, err := parsed.View(db2.Options{Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := view.Write(&b, db2.CSV); err != nil || b.String() != want || len(parsed.Hidden()) != hidden {
			t.Errorf("%q, %v, %v", b.String(), parsed.Hidden(), err)
		}
	}
	read("ID,N,A,B\n2,-1,,two\n3,1,one,\n5,5,secret,words\n", 0)
	last := parts[1]
	clear(data[last.Off : last.Off+last.Len])
	read("ID,N,A,B\n2,-1,,two\n3,1,one,\n", 1)
	if last.Off+last.Len != len(data) {
		t.Errorf("%+v of %d bytes", parts, len(data))
	}
}
