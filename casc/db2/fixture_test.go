package db2_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/internal/testneeds"
)

// fixture is a table that somebody else made, and what it must read as.
type fixture struct {
	Format, File, Dbd, Build, Locale, CSV, JSON string
}

// fixtures returns all tables, and the folder that they are in.
func fixtures(t testing.TB) (list []fixture, dir string) {
	t.Helper()
	manifest := testneeds.Fixture(t, "db2/manifest.json")
	data, err := os.ReadFile(manifest)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list, filepath.Dir(manifest)
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// open reads a table with its definition.
func (f *fixture) open(t testing.TB, dir string) *db2.View {
	t.Helper()
	table, err := db2.Parse(readFile(t, dir, f.File))
	if err != nil {
		t.Fatal(err)
	}
	d, err := dbd.Parse(readFile(t, dir, f.Dbd))
	if err != nil {
		t.Fatal(err)
	}
	build, _ := dbd.ParseBuild(f.Build)
	version, _ := d.Choose(&table.Header, build)
	if version == nil {
		t.Fatalf("no version for %+v", table.Header)
	}
	view, err := table.View(db2.Options{Columns: version.Columns, Locale: db2.LocalePlace(f.Locale)})
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// TestFixtures reads tables of all formats, byte for byte as the reference reads them.
func TestFixtures(t *testing.T) {
	list, dir := fixtures(t)
	if len(list) != 120 {
		t.Errorf("%d tables, want 120", len(list))
	}
	for _, f := range list {
		t.Run(f.CSV, func(t *testing.T) {
			view := f.open(t, dir)
			for _, want := range []struct {
				form db2.Form
				file string
			}{{db2.CSV, f.CSV}, {db2.JSON, f.JSON}} {
				if got := write(t, view, want.form); !bytes.Equal(got, readFile(t, dir, want.file)) {
					t.Errorf("%s: got\n%.2000s", want.file, got)
				}
			}
		})
	}
}

// TestLines has an object of the JSON in each line.
func TestLines(t *testing.T) {
	list, dir := fixtures(t)
	for _, f := range list {
		view := f.open(t, dir)
		lines := write(t, view, db2.JSONLines)
		whole := strings.ReplaceAll(strings.Trim(string(write(t, view, db2.JSON)), "[]\n"), "},\n", "}\n")
		if got := strings.TrimSuffix(string(lines), "\n"); got != whole {
			t.Errorf("%s: got\n%.500s, want\n%.500s", f.File, got, whole)
		}
	}
}

// TestUnnamed reads each table without a definition: as many rows, and an ID for each.
func TestUnnamed(t *testing.T) {
	list, dir := fixtures(t)
	for _, f := range list {
		if f.Format == "WDB3" || f.Format == "WDB4" {
			continue // only a definition says which field is the ID
		}
		table, err := db2.Parse(readFile(t, dir, f.File))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := table.View(db2.Options{})
		if err != nil {
			t.Errorf("%s: %v", f.File, err)
			continue
		}
		view := f.open(t, dir)
		if plain.Len() != view.Len() {
			t.Errorf("%s: %d rows, want %d", f.File, plain.Len(), view.Len())
		}
		for i := range view.Len() {
			if f.Format != "WDBC" && f.Format != "WDB2" && plain.ID(i) != view.ID(i) {
				t.Errorf("%s: row %d is %d, want %d", f.File, i, plain.ID(i), view.ID(i))
			}
		}
		write(t, plain, db2.CSV)
	}
}
