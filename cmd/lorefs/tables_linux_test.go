package main

import (
	"path/filepath"
	"testing"

	"lorefs/internal/testneeds"
)

// TestTables has Python's csv and sqlite3 read all tables of data centers, and holds rows and values
// against the sheets.
func TestTables(t *testing.T) {
	testneeds.Program(t, "sqlite3")
	ownFolders(t)
	check := func(source string) {
		dir := t.TempDir()
		runLorefs(t, dir, "export", "-q", source, "sheets")
		runLorefs(t, dir, "export", "-q", "--format", "csv", source, "tables")
		t.Log(runTool(t, "testdata", "python3", "-B", "tables.py", filepath.Join(dir, "sheets"), filepath.Join(dir, "tables")))
	}
	check(madeSampleFile(t, "DataCenter_Final_Sample.dat"))
	t.Run("real", func(t *testing.T) {
		testneeds.Slow(t, "15 seconds of another program")
		check(testneeds.Fixture(t, smallX64))
	})
}

// TestItemNames draws 200 items of a real data center at random, and holds the names that query gives them against
// those that Python reads from the sheets.
func TestItemNames(t *testing.T) {
	testneeds.Slow(t, "reads a large file")
	ownFolders(t)
	file, dir := testneeds.Fixture(t, "datacenter/p100_x64.dat"), t.TempDir()
	runLorefs(t, dir, "export", "-q", file, "sheets", "--include", "ItemData/*", "--include", "StrSheet_Item/*")
	lines := filepath.Join(dir, "lines")
	writeText(t, lines, runTool(t, dir, "lorefs", "query", "--names", "--json", file, "/ItemData/Item"))
	t.Log(runTool(t, "testdata", "python3", "-B", "names.py", filepath.Join(dir, "sheets"), lines))
}
