package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lorefs/internal/testneeds"
)

// tableFixture is a client table that somebody else made, and what it must read as.
type tableFixture struct{ File, Dbd, Table, Build, Locale, CSV, JSON string }

// tableFixtures returns them, and the folder that they are in.
func tableFixtures(t *testing.T) (list []tableFixture, dir string) {
	t.Helper()
	manifest := testneeds.Fixture(t, "db2/manifest.json")
	text, err := os.ReadFile(manifest)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) < 120 {
		t.Fatalf("%d tables, %v", len(list), err)
	}
	return list, filepath.Dir(manifest)
}

// lines returns the JSON of a table as JSON Lines.
func (f *tableFixture) lines(list []byte) string {
	text := strings.ReplaceAll(strings.Trim(string(list), "[]\n"), "},\n", "}\n")
	if text != "" {
		text += "\n"
	}
	return text
}

// catArgs returns the arguments of cat for a table that was put into a folder.
func (f *tableFixture) catArgs(in, dir, end string) []string {
	args := []string{"-q", "cat", "--definitions", filepath.Join(dir, filepath.Dir(f.Dbd)), filepath.Join(in, f.Table+filepath.Ext(f.File)), "tables/" + f.Table + end}
	if f.Build != "" {
		args = append(args, "--build", f.Build)
	}
	if f.Locale != "" {
		args = append(args, "--locale", f.Locale)
	}
	return args
}

// TestTableFixtures prints each table.
func TestTableFixtures(t *testing.T) { //nolint:paralleltest // it catches what is printed
	list, dir := tableFixtures(t)
	for _, f := range list {
		in := t.TempDir()
		data, err := os.ReadFile(filepath.Join(dir, f.File))
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(in, f.Table+filepath.Ext(f.File)), string(data))
		want, err := os.ReadFile(filepath.Join(dir, f.CSV))
		if err != nil {
			t.Fatal(err)
		}
		if got := runHere(t, f.catArgs(in, dir, ".csv")...); got != string(want) {
			t.Errorf("%s: %.500s", f.CSV, got)
		}
		if want, err = os.ReadFile(filepath.Join(dir, f.JSON)); err != nil {
			t.Fatal(err)
		}
		if got := runHere(t, f.catArgs(in, dir, ".jsonl")...); got != f.lines(want) {
			t.Errorf("%s: %.500s", f.JSON, got)
		}
	}
}

// TestTableMutants prints damaged tables: an error or wrong rows, in little time and memory.
func TestTableMutants(t *testing.T) { //nolint:paralleltest // it catches what is printed
	list, dir := tableFixtures(t)
	random := rand.New(rand.NewPCG(3, 9))
	in := t.TempDir()
	failed := 0
	n := testneeds.Cases(150, 5000, 20000)
	for i := range n {
		f := &list[i%len(list)]
		data, err := os.ReadFile(filepath.Join(dir, f.File))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(3) {
			data[4+random.IntN(min(len(data)-4, 300))] = byte(random.Uint32())
		}
		writeText(t, filepath.Join(in, f.Table+filepath.Ext(f.File)), string(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		out := runHere(t, f.catArgs(in, dir, ".jsonl")...)
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if strings.Contains(out, "lorefs: ") {
			failed++
		}
		if memory := after.TotalAlloc - before.TotalAlloc; took > 2*time.Second || memory > 128<<20 || strings.Contains(out, "panic") {
			t.Errorf("mutant %d of %s: %v, %d bytes, %.500s", i, f.File, took, memory, out)
		}
	}
	t.Logf("%d of %d can't be read", failed, n)
}
