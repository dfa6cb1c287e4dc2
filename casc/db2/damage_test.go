package db2_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"lorefs/casc/db2"
)

// words returns a magic and numbers after it.
func words(magic string, numbers ...uint32) []byte {
	b := []byte(magic)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// wdc3 returns a table of WDC3 with one field of one row, of which one number after the magic is
// another one.
func wdc3(at int, n uint32) []byte {
	numbers := []uint32{
		1, 1, 4, 1, 7, 8, 5, 5, 1, 4, 1, 0, 0, 24, 0, 0, 1, // the head
		0, 0, 140, 1, 1, 0, 4, 0, 0, 0, // the section
		0, 0x200000, 0, 0, 0, 0, 0, // the field
		42, 0, 5, // the record, and its ID behind the string
	}
	if at >= 0 {
		numbers[at] = n
	}
	b := words("WDC3", numbers...)
	return append(b[:145:145], b[148:]...) // the string has one byte
}

// TestDamage breaks what a reader relies on.
func TestDamage(t *testing.T) {
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "casc: table: offset 0x0: a table that begins with \"\", which no known format does", nil},
		{"another magic", `begins with "WDC9"`, words("WDC9", 1)},
		{"a head without end", "WDBC: offset 0x10: 4 bytes expected, 0 there", words("WDBC", 1, 1, 4)},
		{"missing records", "WDBC: offset 0x14: records: 8 bytes expected, 4 there", words("WDBC", 2, 1, 4, 0, 1)},
		{"missing strings", "WDBC: offset 0x18: strings: 9 bytes expected, 0 there", words("WDBC", 1, 1, 4, 9, 1)},
		{"many records", "4294967295 bytes expected", words("WDBC", 1<<32-1, 1, 1, 0)},
		{"an index", "IDs from 1 to 2147483647", words("WDB2", 1, 1, 4, 0, 7, 15595, 0, 1, 1<<31-1, 0, 0)},
		{"WDC5 of another version", "version 6, want 5", words("WDC5", 6)},
		{"many fields", "1000000 fields, want at most 8192", wdc3(10, 1e6)},
		{"many sections", "heads of sections: 40000040 bytes expected", wdc3(16, 1000001)},
		{"a section far away", "records: 4 bytes expected, 0 there", wdc3(19, 5000)},
		{"more records than in the head", "0x48: 1 records up to this section, want at most 0", wdc3(0, 0)},
		{"IDs of other records", "0x8c: 8 bytes of IDs for 1 records", append(wdc3(23, 8), 0, 0, 0, 0)},
		{"a field of 3 bits", "values of 3 bits, want whole bytes", wdc3(27, 29)},
		{"a packing that isn't known", "packing 9, want at most 5", wdc3(30, 9)},
		{"a field behind the record", "ends at bit 1056 of records of 4 bytes", wdc3(28, 0x200400)},
		{"an empty pallet", "row 5: value 42 of a pallet that has 0", wdc3(30, 3)},
	} {
		if err := readPlain(test.data); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	if err := readPlain(wdc3(-1, 0)); err != nil {
		t.Error(err)
	}
}

// readPlain reads a table without a definition.
func readPlain(data []byte) error {
	table, err := db2.Parse(data)
	if err != nil {
		return err
	}
	view, err := table.View(db2.Options{})
	if err != nil {
		return err
	}
	return view.Write(io.Discard, db2.CSV)
}

// TestCopiesOfCopies follows copies of copies, and leaves those out that have no row.
func TestCopiesOfCopies(t *testing.T) {
	data := words("WDB4", 1, 1, 4, 0, 7, 1, 0, 5, 9, 0, 40, 4, 42, 5 /* copies: */, 6, 5, 7, 6, 8, 9, 9, 8, 5, 5)
	table, err := db2.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	view, err := table.View(db2.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(write(t, view, db2.CSV)), "ID,Field_0\n5,42\n6,42\n7,42\n"; got != want || view.Lost != 2 {
		t.Errorf("%q and %d lost, want %q and 2", got, view.Lost, want)
	}
}

func write(t testing.TB, v *db2.View, form db2.Form) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := v.Write(&b, form); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
