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
