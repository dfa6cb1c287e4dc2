package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/db2/db2test"
	"lorefs/casc/root"
	"lorefs/cmd/internal/mounted"
	"lorefs/internal/testneeds"
)

// TestTableFixturesMounted reads each table through a mount: of folders that have all that are of one
// build and language, and of storages that have the same.
func TestTableFixturesMounted(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	type group struct{ build, locale string }
	list, from := tableFixtures(t)
	groups := map[group][]*tableFixture{}
	for i := range list {
		g := group{list[i].Build, list[i].Locale}
		groups[g] = append(groups[g], &list[i])
	}
	read := func(path ...string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for g, fixtures := range groups {
		dir := t.TempDir()
		files, manifest := write.Files{}, []string{}
		storage := write.Builder{Product: "wow", Tags: "Windows", Version: g.build}
		var in []root.File
		for i, f := range fixtures {
			name, data := fmt.Sprintf("Table%d", i), read(from, f.File)
			files["tables/"+name+filepath.Ext(f.File)] = data
			files["defs/definitions/"+name+".dbd"] = read(from, f.Dbd)
			manifest = append(manifest, fmt.Sprintf(`{"tableName":%q,"db2FileDataID":%d}`, name, 1000+i))
			in = append(in, root.File{ID: uint32(1000 + i), CKey: storage.Add(data).CKey, Locale: ^root.Locale(0), Flags: root.ContentNoNames})
		}
		files["defs/manifest.json"] = []byte("[" + strings.Join(manifest, ",") + "]")
		storage.Root(storage.Add(write.WoWRoot(3, in)))
		install, err := storage.Install()
		if err == nil {
			err = install.Write(filepath.Join(dir, "game"))
		}
		if err == nil {
			err = files.Write(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		flags := []string{"-q", "--definitions", filepath.Join(dir, "defs")}
		if g.locale != "" {
			flags = append(flags, "--locale", g.locale)
		}
		mounts := []string{mountCASC(t, filepath.Join(dir, "game"), flags...)}
		if g.build != "" {
			flags = append(flags, "--build", g.build)
		}
		mounts = append(mounts, mountCASC(t, filepath.Join(dir, "tables"), flags...))
		for i, f := range fixtures {
			for _, mnt := range mounts {
				for end, want := range map[string]string{".csv": string(read(from, f.CSV)), ".jsonl": f.lines(read(from, f.JSON))} {
					if got := read(mnt, "tables", fmt.Sprintf("Table%d%s", i, end)); string(got) != want {
						t.Errorf("%s as %s: %.300s, want %.300s", f.File, end, got, want)
					}
				}
			}
		}
	}
}

// TestTablesOfStorageMounted reads a table with an encrypted section, with its key and without.
func TestTablesOfStorageMounted(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	dir := t.TempDir()
	tableStorage(t, dir)
	definitions := []string{"-q", "--definitions", filepath.Join(dir, "defs")}
	const seen, hidden, last = "ID,Name_lang,Height\n7,seen,70\n", "8,hidden,80\n", "9,\"also, seen\",-90\n"
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{definitions, seen + last},
		{append(definitions, "--keys", filepath.Join(dir, "keys.txt")), seen + hidden + last},
	} {
		mnt := mountCASC(t, filepath.Join(dir, "game"), c.flags...)
		for range 2 {
			if got, err := os.ReadFile(filepath.Join(mnt, "tables", "Lamp.csv")); string(got) != c.want {
				t.Errorf("%v: %s, %v", c.flags, got, err)
			}
		}
		if got := runTool(t, "", "grep", "-rl", "seen", filepath.Join(mnt, "tables")); strings.Count(got, "\n") != 2 {
			t.Errorf("grep finds %s", got)
		}
	}
}

// TestTablesTwice reads a table twice through a mount: the second time, the kernel has it still, also when
// it was closed.
func TestTablesTwice(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	dir := t.TempDir()
	var rows []db2test.Row
	for i := range 20_000 {
		rows = append(rows, db2test.Row{ID: int32(i), Values: []any{i, i * i}})
	}
	data, _ := (&db2test.Table{Sections: []db2test.Section{{Rows: rows}}}).Bytes()
	writeText(t, filepath.Join(dir, "Squares.db2"), string(data))
	const size = 1_000_000 // of both files, at least
	mnt := mountCASC(t, dir, "-q")
	var status mounted.Status
	if err := json.Unmarshal([]byte(runTool(t, "", "lorefs", "status", "--json", mnt)), &status); err != nil {
		t.Fatal(err)
	}
	// answered returns how much the mount has written, above all to the kernel.
	answered := func() (n int64) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", status.PID))
		_, after, found := strings.Cut(string(text), "wchar: ")
		if _, scanErr := fmt.Sscan(after, &n); err != nil || !found || scanErr != nil {
			t.Skipf("the kernel does not count what a process writes: %v, %v", err, scanErr)
		}
		return n
	}
	var took [2]int64
	for i := range took {
		before := answered()
		runTool(t, "", "grep", "-rc", "12345", filepath.Join(mnt, "tables"))
		took[i] = answered() - before
	}
	t.Logf("%d bytes, then %d", took[0], took[1])
	if took[0] > size && took[1] > size/10 {
		t.Errorf("%d bytes are read again, after %d", took[1], took[0])
	}
}

// TestTableRecipes finds items by their names in three ways, and what a build has changed of them.
func TestTableRecipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, program := range []string{"sqlite3", "jq"} {
		testneeds.Program(t, program)
	}
	runTool(t, dir, "lorefs", "-q", "sample", "s")
	runTool(t, dir, "sh", "-c", "lorefs export -q --definitions s/table-definitions s/tables csv 'tables/Item.*' 2>&1")
	byGrep := runTool(t, dir, "sh", "-c", "grep Lantern csv/Item.csv | cut -d, -f1")
	bySQL := runTool(t, dir, "sqlite3", ":memory:", ".import --csv csv/Item.csv Item", "SELECT ID FROM Item WHERE Display_lang LIKE '%Lantern%'")
	byJQ := runTool(t, dir, "jq", `select(.Display_lang | test("Lantern")) | .ID`, "csv/Item.jsonl")
	if byGrep == "" || bySQL != byGrep || byJQ != byGrep {
		t.Errorf("grep finds %q, sqlite3 %q, jq %q", byGrep, bySQL, byJQ)
	}
	item := filepath.Join(dir, "s", "tables", "Item.db2")
	data, err := os.ReadFile(item)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(dir, "new", "Item.db2"), strings.Replace(string(data), "Lantern of Copper", "Lantern of Pewter", 1))
	got := runTool(t, dir, "sh", "-c", `lorefs diff --json --definitions s/table-definitions s/tables/Item.db2 new/Item.db2 |
		jq -r 'select(.kind == "row_changed") | .values[] | .column + ": " + .new'`)
	if got != "Display_lang: Lantern of Pewter\n" {
		t.Errorf("a build has changed %s", got)
	}
}
